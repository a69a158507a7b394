//! Logs as go-plugin reads them from a plugin's stderr: one JSON object a line.
//!
//! The client shows them under `TF_LOG` or `TF_LOG_PROVIDER` at their level. A line whose time has not exactly
//! six decimals is taken for raw text (hashicorp/go-plugin `log_entry.go`). A closed stderr loses lines and
//! nothing else: the work goes on when its client is gone.

use std::any::Any;
use std::fmt;
use std::io::Write as _;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// What is logged where the environment does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usual {
    /// Warnings and errors: clients throw logs away unless they are asked for.
    Warnings,
    /// All that a person who debugs wants to see.
    Everything,
}

/// Logs to stderr from now on, at the level of `TF_LOG_PROVIDER_<NAME>`, `TF_LOG_PROVIDER` or `TF_LOG`, and
/// panics too.
pub(crate) fn start(address: &str, usual: Usual) {
    let level = level(address, usual, |name| std::env::var(name).ok());
    let started = tracing_subscriber::registry().with(Lines.with_filter(targets(level))).try_init();
    if started.is_err() {
        tracing::debug!("Logs go where an earlier caller sent them");
    }
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let message = panic_message(panic.payload());
        tracing::error!(place, message, "The provider panicked: this is a bug");
    }));
}

/// What a panic says about itself.
pub(crate) fn panic_message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("the panic has no message")
}

/// As the client's own levels: the more special variable wins, an unknown word means everything.
fn level(address: &str, usual: Usual, variable: impl Fn(&str) -> Option<String>) -> LevelFilter {
    let name = address.rsplit('/').next().unwrap_or(address).to_uppercase().replace('-', "_");
    let special = format!("TF_LOG_PROVIDER_{name}");
    let set = [special.as_str(), "TF_LOG_PROVIDER", "TF_LOG"]
        .into_iter()
        .find_map(|name| variable(name).filter(|value| !value.is_empty()));
    match set.map(|value| value.to_uppercase()).as_deref() {
        None => match usual {
            Usual::Warnings => LevelFilter::WARN,
            Usual::Everything => LevelFilter::DEBUG,
        },
        Some("OFF") => LevelFilter::OFF,
        Some("ERROR") => LevelFilter::ERROR,
        Some("WARN") => LevelFilter::WARN,
        Some("INFO") => LevelFilter::INFO,
        Some("DEBUG") => LevelFilter::DEBUG,
        Some(_) => LevelFilter::TRACE,
    }
}

/// Libraries log warnings at most: below that they log what they send, and that may be secret.
fn targets(level: LevelFilter) -> Targets {
    Targets::new().with_default(level.min(LevelFilter::WARN)).with_target(env!("CARGO_CRATE_NAME"), level)
}

/// Writes events as lines.
struct Lines;

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut line = line(event, jiff::Timestamp::now());
        line.push('\n');
        // A client that is gone reads no logs.
        drop(std::io::stderr().lock().write_all(line.as_bytes()));
    }
}

fn line(event: &Event<'_>, now: jiff::Timestamp) -> String {
    let metadata = event.metadata();
    let mut fields = Fields(Map::new());
    fields.0.insert("@level".to_owned(), metadata.level().as_str().to_lowercase().into());
    fields.0.insert("@message".to_owned(), String::new().into());
    fields.0.insert("@module".to_owned(), metadata.target().into());
    fields.0.insert("@timestamp".to_owned(), format!("{now:.6}").into());
    event.record(&mut fields);
    Value::Object(fields.0).to_string()
}

struct Fields(Map<String, Value>);

impl Fields {
    fn set(&mut self, field: &Field, value: Value) {
        let name = match field.name() {
            "message" => "@message",
            name => name,
        };
        self.0.insert(name.to_owned(), value);
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value.into());
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Keeps lines instead of writing them.
    struct Kept(Arc<Mutex<Vec<String>>>);

    impl<S: Subscriber> Layer<S> for Kept {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            self.0.lock().unwrap().push(line(event, jiff::Timestamp::UNIX_EPOCH));
        }
    }

    #[test]
    fn an_event_is_a_line_with_six_decimals_and_its_fields() {
        let lines = Arc::default();
        let subscriber = tracing_subscriber::registry().with(Kept(Arc::clone(&lines)));
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(target: "t", condition = "Ready", attempt = 3, "Changed");
        });
        assert_eq!(
            lines.lock().unwrap().as_slice(),
            [
                r#"{"@level":"info","@message":"Changed","@module":"t","@timestamp":"1970-01-01T00:00:00.000000Z","condition":"Ready","attempt":3}"#
            ]
        );
    }

    #[test]
    fn the_most_special_variable_says_the_level() {
        let with = |set: &'static [(&str, &str)]| {
            level("kontinuum/example-one", Usual::Warnings, move |name| {
                set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(with(&[]), LevelFilter::WARN);
        assert_eq!(with(&[("TF_LOG", "debug")]), LevelFilter::DEBUG);
        assert_eq!(with(&[("TF_LOG", "DEBUG"), ("TF_LOG_PROVIDER", "ERROR")]), LevelFilter::ERROR);
        assert_eq!(
            with(&[("TF_LOG_PROVIDER", "ERROR"), ("TF_LOG_PROVIDER_EXAMPLE_ONE", "off")]),
            LevelFilter::OFF
        );
        assert_eq!(with(&[("TF_LOG", "JSON")]), LevelFilter::TRACE);
    }

    #[test]
    fn libraries_never_log_below_warnings() {
        let targets = targets(LevelFilter::TRACE);
        assert!(targets.would_enable("kontinuum::plugin", &tracing::Level::TRACE));
        assert!(!targets.would_enable("h2::codec", &tracing::Level::INFO));
    }
}
