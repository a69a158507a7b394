//! What goes wrong: failures, bugs of the provider, stops, lost connections, and calls that are not served.

use serde_json::{Value as Json, json};
use tonic::Code;

use crate::connection::{PATIENCE, Running, THING, nothing, told};
use crate::generated::tfplugin6 as wire;
use crate::values::dynamic;

#[tokio::test]
async fn a_failed_creation_leaves_no_state() {
    let running = Running::start();
    let mut client = running.configured().await;
    let failed = client.create(&json!({ "name": "a", "mode": "fails" })).await;
    assert_eq!(failed.told, [("error", "the thing cannot be made".to_owned(), String::new())]);
    assert_eq!(failed.state, Json::Null, "a client would taint what it records, and destroy it next");
    running.end().await;
}

#[tokio::test]
async fn a_failed_update_leaves_the_prior_state_with_what_was_seen() {
    let running = Running::start();
    let mut client = running.configured().await;
    let made = client.create(&json!({ "name": "a" })).await;
    let failed = client.change(&json!({ "name": "a", "size": 5, "mode": "fails" }), &made).await;
    assert_eq!(failed.state, made.state);
    assert_eq!(failed.told[0].1, "the thing cannot be changed");

    let shown = client.change(&json!({ "name": "a", "size": 5, "mode": "fails and shows" }), &made).await;
    assert_eq!((&shown.state["uid"], &shown.state["size"]), (&json!("seen"), &json!(1)));

    // An answer with planned values would make the next plan empty: it is not sent.
    let lied = client.change(&json!({ "name": "a", "size": 5, "mode": "fails and lies" }), &made).await;
    assert_eq!(lied.state, made.state);
    assert_eq!(lied.told[0].1, "the thing half changed");
    assert_eq!(lied.told[1].1, "the provider answered a planned value although the update failed");
    running.end().await;
}

#[tokio::test]
async fn a_failure_without_an_error_is_one() {
    let running = Running::start();
    let mut client = running.configured().await;
    let failed = client.create(&json!({ "name": "a", "mode": "fails silently" })).await;
    assert_eq!(failed.told, [("error", "the provider failed without an error".to_owned(), String::new())]);
    assert_eq!(failed.state, Json::Null);
    running.end().await;
}

#[tokio::test]
async fn a_panic_is_told_as_a_bug_and_loses_no_state() {
    let running = Running::start();
    let mut client = running.configured().await;
    let crashed = client.create(&json!({ "name": "a", "mode": "panics" })).await;
    let expected = ("error", "the provider crashed in ApplyResourceChange".to_owned(), String::new());
    assert_eq!((crashed.told, crashed.state), (vec![expected.clone()], Json::Null));

    let made = client.create(&json!({ "name": "a" })).await;
    let crashed = client.change(&json!({ "name": "a", "mode": "panics" }), &made).await;
    assert_eq!((crashed.told, crashed.state), (vec![expected], made.state));
    running.end().await;
}

#[tokio::test]
async fn an_answer_that_breaks_the_protocols_rules_is_not_sent() {
    let running = Running::start();
    let mut client = running.configured().await;
    let config = json!({ "name": "a", "mode": "renames itself" });
    let planned = client.plan(&config, &Json::Null, &[]).await;
    assert_eq!(
        planned.told,
        [(
            "error",
            "the provider planned a value that the configuration does not allow".to_owned(),
            "name".to_owned()
        )]
    );
    assert_eq!(planned.state, Json::Null);

    let lied = client.create(&json!({ "name": "a", "mode": "lies" })).await;
    assert_eq!(lied.told[0].1, "the provider made something else than what was planned");
    assert_eq!(lied.told[0].2, "size");
    assert_eq!(lied.state, Json::Null);
    running.end().await;
}

#[tokio::test]
async fn a_stop_ends_what_waits_and_the_answer_still_comes() {
    let mut running = Running::start();
    let mut client = running.configured().await;
    let mut stopper = client.rpc.clone();
    let waiting = tokio::spawn(async move {
        let stopped = client.create(&json!({ "name": "a", "mode": "waits" })).await;
        (client, stopped)
    });
    assert_eq!(running.event().await, "waiting");
    stopper.stop_provider(wire::stop_provider::Request {}).await.expect("it answers");
    let (mut client, stopped) = waiting.await.expect("the client does not panic");
    assert_eq!(stopped.told, [("error", "stopped while waiting".to_owned(), String::new())]);
    assert_eq!(running.event().await, "stopped");

    let made = client.create(&json!({ "name": "a" })).await;
    assert_eq!(made.told, vec![], "what begins after the stop runs");
    running.end().await;
}

#[tokio::test]
async fn a_lost_connection_stops_its_own_work_and_no_other() {
    let mut running = Running::start();
    let mut lost = running.configured().await;
    let mut other = running.configured().await;
    let waiting = tokio::spawn(async move { lost.create(&json!({ "name": "a", "mode": "waits" })).await });
    assert_eq!(running.event().await, "waiting");
    // The only handle of the connection goes with the task.
    waiting.abort();
    assert_eq!(running.event().await, "stopped");
    assert_eq!(other.create(&json!({ "name": "a" })).await.told, vec![]);
    running.end().await;
}

#[tokio::test]
async fn a_server_that_ends_stops_its_work_and_waits_for_it() {
    let mut running = Running::start();
    let mut client = running.configured().await;
    let waiting = tokio::spawn(async move { client.create(&json!({ "name": "a", "mode": "waits" })).await });
    assert_eq!(running.event().await, "waiting");
    let folder = running.socket.parent().expect("a socket is in a folder").to_path_buf();
    running.end().await;
    let stopped = tokio::time::timeout(PATIENCE, waiting).await.expect("in time").expect("no panic");
    assert_eq!(stopped.told[0].1, "stopped while waiting", "the answer is sent before the end");
    assert!(!folder.exists(), "nothing is left behind");
}

#[tokio::test]
async fn six_megabytes_go_there_and_back() {
    let running = Running::start();
    let mut client = running.configured().await;
    let config = json!({ "name": "a", "labels": { "big": "x".repeat(6 << 20) } });
    let made = client.create(&config).await;
    assert_eq!(made.told, vec![]);
    assert_eq!(made.state["labels"]["big"].as_str().map(str::len), Some(6 << 20));
    running.end().await;
}

#[tokio::test]
async fn what_is_not_served_is_unimplemented_and_what_is_empty_is_empty() {
    let running = Running::start();
    let mut rpc = running.connect().await.rpc;
    let functions = rpc.get_functions(wire::get_functions::Request {}).await.expect("it answers");
    assert!(functions.into_inner().functions.is_empty());
    let identities = rpc.get_resource_identity_schemas(wire::get_resource_identity_schemas::Request {}).await;
    assert!(identities.expect("it answers").into_inner().identity_schemas.is_empty());
    let moved = rpc.move_resource_state(wire::move_resource_state::Request::default()).await;
    assert_eq!(moved.map_err(|status| status.code()).err(), Some(Code::Unimplemented));
    let called = rpc.call_function(wire::call_function::Request::default()).await;
    assert_eq!(called.map_err(|status| status.code()).err(), Some(Code::Unimplemented));
    running.end().await;
}

#[tokio::test]
async fn nonsense_from_a_client_is_an_error_and_no_end() {
    let running = Running::start();
    let mut client = running.configured().await;
    let unknown = wire::validate_resource_config::Request {
        type_name: "example_nothing".to_owned(),
        config: dynamic(&json!({})),
        ..Default::default()
    };
    let answer = client.rpc.validate_resource_config(unknown).await.expect("it answers").into_inner();
    assert_eq!(told(answer.diagnostics)[0].1, "this provider has no resource example_nothing");

    let garbage = wire::validate_resource_config::Request {
        type_name: THING.to_owned(),
        config: Some(wire::DynamicValue { msgpack: b"\xa5ab".to_vec(), json: Vec::new() }),
        ..Default::default()
    };
    let answer = client.rpc.validate_resource_config(garbage).await.expect("it answers").into_inner();
    assert_eq!(told(answer.diagnostics)[0].1, "a value from the client cannot be read");

    let nothing_to_do = client.apply(&Json::Null, &nothing()).await;
    assert_eq!(nothing_to_do.told[0].1, "nothing to apply");
    running.end().await;
}
