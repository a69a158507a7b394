//! `values.schema.json`: what a chart demands of its values. A schema never fetches anything.

use std::fmt;

use jsonschema::{Retrieve, Uri};
use serde_json::Value as Json;

use super::tree::{Table, Tree, table_to_json};
use crate::chart::Chart;
use crate::render::Error;

/// How the values break the schemas, a chart and its violations at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violations(String);

impl fmt::Display for Violations {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Checks the coalesced values against the schemas of the chart and its sub-charts.
pub(crate) fn validate(chart: &Chart, values: &Table) -> Result<(), Error> {
    let mut text = String::new();
    collect(chart, values, &mut text);
    if text.is_empty() { Ok(()) } else { Err(Error::Schema(Violations(text))) }
}

fn collect(chart: &Chart, values: &Table, text: &mut String) {
    if let Some(schema) = &chart.schema {
        let violations = check(schema, values);
        if !violations.is_empty() {
            text.push_str(&format!("{}:\n{violations}", chart.metadata.name));
        }
    }
    for subchart in &chart.dependencies {
        if let Some(Tree::Map(values)) = values.get(&subchart.metadata.name) {
            collect(subchart, values, text);
        }
    }
}

/// The violations of one schema, a line each.
fn check(schema: &[u8], values: &Table) -> String {
    let schema: Json = match serde_json::from_slice(schema) {
        Ok(schema) => schema,
        Err(error) => return format!("the schema is not JSON: {error}\n"),
    };
    let validator = match jsonschema::options().with_retriever(NoNetwork).build(&schema) {
        Ok(validator) => validator,
        Err(error) => return format!("the schema cannot be used: {error}\n"),
    };
    let line =
        |error: jsonschema::ValidationError<'_>| format!("- at '{}': {error}\n", error.instance_path());
    validator.iter_errors(&table_to_json(values)).map(line).collect()
}

/// References outside the schema: URNs that nobody knows allow everything, as in Helm; nothing else is fetched.
struct NoNetwork;

impl Retrieve for NoNetwork {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Json, Box<dyn std::error::Error + Send + Sync>> {
        if uri.scheme().as_str() == "urn" {
            return Ok(Json::Bool(true));
        }
        Err(format!("the schema refers to {uri}, and schemas are not fetched").into())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::Values;

    fn violations(schema: &str, values: &str) -> String {
        let files = [("Chart.yaml", "name: c\nversion: 1.0.0"), ("values.schema.json", schema)];
        let files: BTreeMap<_, _> =
            files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect();
        let chart = Chart::from_files(files).unwrap();
        match validate(&chart, &Values::from_yaml(values).unwrap().0) {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn violations_name_the_chart_and_the_path() {
        let text =
            violations(r#"{"properties": {"a": {"properties": {"b": {"type": "integer"}}}}}"#, "a: {b: x}");
        assert!(text.contains("c:\n- at '/a/b': "), "{text}");
    }

    #[test]
    fn whole_floats_are_integers() {
        assert_eq!(violations(r#"{"properties": {"a": {"type": "integer"}}}"#, "a: 3"), "");
    }

    #[test]
    fn nothing_is_fetched() {
        let text = violations(r#"{"$ref": "https://example.com/x.json"}"#, "a: 3");
        assert!(text.contains("schemas are not fetched"), "{text}");
        assert_eq!(violations(r#"{"properties": {"a": {"$ref": "urn:x:y"}}}"#, "a: 3"), "");
    }

    #[test]
    fn a_schema_that_is_no_json_is_an_error() {
        assert!(violations("{", "a: 3").contains("not JSON"));
    }
}
