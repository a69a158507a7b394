//! Talos' own library, asked over the lab's `talos-configuration`.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// A running judge. It ends with its standard input.
pub(crate) struct Judge {
    process: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Judge {
    pub(crate) fn start() -> Self {
        let program = lab().join("bin/talos-configuration");
        assert!(program.is_file(), "{} is missing: run `make lab`", program.display());
        let mut process =
            Command::new(program).arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let questions = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().unwrap());
        Self { process, questions, answers }
    }

    /// One question; the error is Talos' own text.
    pub(crate) fn ask(&mut self, operation: &str, arguments: &Value) -> Result<Value, String> {
        let mut answer = self.exchange(&json!({ "op": operation, "arguments": arguments }));
        match answer["refused"].as_str() {
            Some(refused) => Err(refused.to_owned()),
            None => Ok(answer["result"].take()),
        }
    }

    fn exchange(&mut self, question: &Value) -> Value {
        let questions = self.questions.as_mut().unwrap();
        writeln!(questions, "{question}").unwrap();
        questions.flush().unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }

    /// Many questions, answered while `meanwhile` runs; a refusal is the answer `{"refused": …}`.
    pub(crate) fn ask_all<T>(
        &mut self,
        operation: &str,
        arguments: &[Value],
        meanwhile: impl FnOnce() -> T,
    ) -> (Vec<Value>, T) {
        let Self { questions, answers, .. } = self;
        let questions = questions.as_mut().unwrap();
        thread::scope(|scope| {
            scope.spawn(move || {
                for arguments in arguments {
                    writeln!(questions, "{}", json!({ "op": operation, "arguments": arguments })).unwrap();
                }
                questions.flush().unwrap();
            });
            let reader = scope.spawn(move || {
                let lines = answers.lines().take(arguments.len());
                lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
            });
            let own = meanwhile();
            (reader.join().unwrap(), own)
        })
    }

    /// Why Talos would refuse a configuration on metal, if it would.
    pub(crate) fn refusal(&mut self, configuration: &str) -> Option<String> {
        self.ask("validate", &json!({ "configuration": STANDARD.encode(configuration) })).err()
    }

    /// Whether Talos reads the same from two texts.
    pub(crate) fn is_same(&mut self, left: &str, right: &str) -> bool {
        let arguments = json!({ "configuration": STANDARD.encode(left), "new": STANDARD.encode(right) });
        self.ask("diff", &arguments).unwrap()["unchanged"].as_bool().unwrap()
    }

    /// A configuration after patches, or why Talos refuses them.
    pub(crate) fn patched(&mut self, configuration: &str, patches: &[&str]) -> Result<String, String> {
        let arguments = json!({ "configuration": STANDARD.encode(configuration), "patches": patches });
        self.ask("patch", &arguments).map(|answer| decoded(&answer["configuration"]))
    }
}

fn decoded(bytes: &Value) -> String {
    String::from_utf8(STANDARD.decode(bytes.as_str().unwrap()).unwrap()).unwrap()
}

impl Drop for Judge {
    fn drop(&mut self) {
        drop(self.questions.take());
        let _ = self.process.wait();
    }
}

fn lab() -> PathBuf {
    env::var_os("KONTINUUM_LAB").map_or_else(
        || {
            env::var_os("XDG_CACHE_HOME")
                .map_or_else(|| PathBuf::from(env::var_os("HOME").unwrap()).join(".cache"), PathBuf::from)
                .join("kontinuum/lab")
        },
        PathBuf::from,
    )
}
