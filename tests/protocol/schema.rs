//! The example's schema as a real client prints it, word for word.

use crate::clients::schema_of_example;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/protocol/schema.json");

/// `UPDATE_GOLDEN=1` in the environment rewrites the file.
#[tokio::test]
async fn the_schema_is_what_the_models_say() {
    let came = serde_json::to_string_pretty(&schema_of_example().await).expect("JSON is written") + "\n";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(GOLDEN, &came).expect("the golden file can be written");
    }
    let expected = std::fs::read_to_string(GOLDEN).expect("the golden file is there");
    let differs = expected.lines().zip(came.lines()).enumerate().find(|(_, (old, new))| old != new);
    assert_eq!(differs, None, "UPDATE_GOLDEN=1 takes it over");
    assert_eq!(expected, came);
}
