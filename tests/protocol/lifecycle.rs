//! A resource's life: planned, made, read, changed, replaced, imported, deleted.

use serde_json::{Value as Json, json};

use crate::connection::{Held, Running, THING, nothing, told};
use crate::generated::tfplugin6 as wire;
use crate::values::{dynamic, json};

/// A thing's whole object, all null but what is given.
pub(crate) fn thing(given: Json) -> Json {
    let mut all = json!({
        "name": null, "mode": null, "size": null, "ratio": null, "token": null, "version": null, "labels": null,
        "addresses": null, "limits": null, "parts": null, "uid": null, "region": null, "members": null,
    });
    let (Json::Object(fields), Json::Object(given)) = (&mut all, given) else { panic!("objects are given") };
    fields.extend(given);
    all
}

#[tokio::test]
async fn a_thing_is_planned_made_and_then_as_it_was_planned() {
    let running = Running::start();
    let mut client = running.configured().await;
    let config = thing(json!({
        "name": "a", "labels": { "x": "y" }, "limits": { "create": null }, "addresses": ["b", "c"],
        "parts": { "p": { "kind": "wheel", "serial": null } },
    }));
    let planned = client.plan(&config, &Json::Null, &[]).await;
    let unknown = "<unknown>";
    assert_eq!(
        planned.state,
        thing(json!({
            "name": "a", "labels": { "x": "y" }, "limits": { "create": "10m" }, "addresses": ["b", "c"],
            "parts": { "p": { "kind": "wheel", "serial": unknown } },
            "size": 1, "version": unknown, "uid": unknown, "region": unknown, "members": unknown,
        }))
    );
    assert_eq!((planned.private.as_slice(), &planned.told), (b"planned".as_slice(), &vec![]));

    let made = client.apply(&Json::Null, &planned).await;
    assert_eq!(made.told, vec![]);
    assert_eq!(made.private, b"planned and made");
    assert_eq!(
        made.state,
        thing(json!({
            "name": "a", "labels": { "x": "y" }, "limits": { "create": "10m" }, "addresses": ["b", "c"],
            "parts": { "p": { "kind": "wheel", "serial": "serial of p" } },
            "size": 1, "version": "v1", "uid": "4711", "region": "here", "members": [{ "name": "m0" }],
        }))
    );

    let read = client.read(&made).await;
    assert_eq!((&read.state, &read.private), (&made.state, &made.private), "private data is echoed");
    let again = client.plan(&config, &read.state, &read.private).await;
    assert_eq!(again, Held { replace: vec![], ..read }, "the second plan is empty");
    running.end().await;
}

#[tokio::test]
async fn a_change_in_place_keeps_what_it_is_and_recomputes_its_members() {
    let running = Running::start();
    let mut client = running.configured().await;
    let made = client.create(&json!({ "name": "a" })).await;
    let planned = client.plan(&json!({ "name": "a", "size": 2 }), &made.state, &made.private).await;
    assert_eq!(planned.replace, Vec::<String>::new());
    assert_eq!(planned.state["members"], "<unknown>");
    assert_eq!((&planned.state["uid"], &planned.state["version"]), (&json!("4711"), &json!("v1")));
    let changed = client.apply(&made.state, &planned).await;
    assert_eq!(changed.state["members"], json!([{ "name": "m0" }, { "name": "m1" }]));
    running.end().await;
}

#[tokio::test]
async fn a_new_name_or_the_things_own_wish_replaces_it() {
    let running = Running::start();
    let mut client = running.configured().await;
    let made = client.create(&json!({ "name": "a" })).await;
    let renamed = client.plan(&json!({ "name": "b" }), &made.state, &made.private).await;
    assert_eq!(renamed.replace, ["name"]);
    let moved = client.plan(&json!({ "name": "a", "mode": "moves" }), &made.state, &made.private).await;
    assert_eq!(moved.replace, ["mode"]);
    running.end().await;
}

#[tokio::test]
async fn a_deletion_is_planned_with_its_warning_and_leaves_nothing() {
    let mut running = Running::start();
    let mut client = running.configured().await;
    let made = client.create(&json!({ "name": "a" })).await;
    let planned = client.plan(&Json::Null, &made.state, &made.private).await;
    assert_eq!(planned.told, [("warning", "a thing goes".to_owned(), String::new())]);
    assert_eq!(planned.state, Json::Null);
    let gone = client.apply(&made.state, &planned).await;
    assert_eq!((gone.state, gone.told), (Json::Null, vec![]));
    assert_eq!(running.event().await, "deleted");
    running.end().await;
}

#[tokio::test]
async fn a_deletion_can_be_refused_while_planned_and_can_fail() {
    let running = Running::start();
    let mut client = running.configured().await;
    let stays = client.create(&json!({ "name": "a", "mode": "stays" })).await;
    let refused = client.plan(&Json::Null, &stays.state, &stays.private).await;
    assert_eq!(refused.told, [("error", "the thing refuses to go".to_owned(), String::new())]);

    let holds = client.create(&json!({ "name": "a", "mode": "holds on" })).await;
    let kept = client.change(&Json::Null, &holds).await;
    assert_eq!(kept.state, holds.state, "what could not be deleted stays in the state");
    assert_eq!(kept.told, [("error", "the thing cannot be deleted".to_owned(), String::new())]);
    running.end().await;
}

#[tokio::test]
async fn a_thing_that_is_gone_leaves_the_state_and_one_that_hides_does_not() {
    let running = Running::start();
    let mut client = running.configured().await;
    let vanished = client.create(&json!({ "name": "a", "mode": "vanishes" })).await;
    assert_eq!(client.read(&vanished).await.state, Json::Null);

    let hidden = client.create(&json!({ "name": "a", "mode": "unreachable" })).await;
    let read = client.read(&hidden).await;
    assert_eq!((&read.state, read.told.len()), (&hidden.state, 1));

    let unreadable = client.create(&json!({ "name": "a", "mode": "unreadable" })).await;
    let read = client.read(&unreadable).await;
    assert_eq!((&read.state, &read.private), (&unreadable.state, &unreadable.private));
    assert_eq!(read.told, [("error", "the thing cannot be read".to_owned(), String::new())]);
    running.end().await;
}

#[tokio::test]
async fn an_import_makes_a_state_or_says_why_not() {
    let running = Running::start();
    let mut client = running.configured().await;
    let mut import = async |id: &str| {
        let request = wire::import_resource_state::Request {
            type_name: THING.to_owned(),
            id: id.to_owned(),
            ..Default::default()
        };
        client.rpc.import_resource_state(request).await.expect("it answers").into_inner()
    };
    let mut found = import("old").await;
    assert_eq!(found.diagnostics, vec![]);
    let one = found.imported_resources.pop().expect("one was found");
    assert_eq!((one.type_name.as_str(), one.private.as_slice()), (THING, b"imported".as_slice()));
    assert_eq!(json(one.state)["name"], "old");

    let none = import("nothing").await;
    assert!(none.imported_resources.is_empty());
    assert_eq!(told(none.diagnostics), [("error", "there is no such thing".to_owned(), String::new())]);
    running.end().await;
}

#[tokio::test]
async fn a_stored_state_is_brought_into_todays_form() {
    let running = Running::start();
    let mut client = running.connect().await;
    let mut upgrade = async |version: i64, state: Json| {
        let request = wire::upgrade_resource_state::Request {
            type_name: THING.to_owned(),
            version,
            raw_state: Some(wire::RawState { json: state.to_string().into(), ..Default::default() }),
        };
        let answer = client.rpc.upgrade_resource_state(request).await.expect("it answers").into_inner();
        (json(answer.upgraded_state), told(answer.diagnostics))
    };
    // What was removed from the schema goes, what is new is null, and 0.1 is not its nearest double.
    let today = upgrade(1, json!({ "name": "a", "removed": 1, "ratio": 0.1, "size": 3 })).await;
    assert_eq!(today, (thing(json!({ "name": "a", "ratio": "0.1", "size": 3 })), vec![]));
    let old = upgrade(0, json!({ "title": "a" })).await;
    assert_eq!(old, (thing(json!({ "name": "a" })), vec![]));
    let (state, told) = upgrade(0, json!({})).await;
    assert_eq!(state, Json::Null);
    assert_eq!(told[0].1, "the state has no title");
    let (_, told) = upgrade(1, json!({ "name": ["a"] })).await;
    assert_eq!(told, [("error", "name has the wrong type".to_owned(), "name".to_owned())]);
    running.end().await;
}

#[tokio::test]
async fn a_configuration_is_judged_with_its_place() {
    let running = Running::start();
    let mut client = running.connect().await;
    let mut validate = async |config: Json| {
        let request = wire::validate_resource_config::Request {
            type_name: THING.to_owned(),
            config: dynamic(&config),
            ..Default::default()
        };
        told(client.rpc.validate_resource_config(request).await.expect("it answers").into_inner().diagnostics)
    };
    assert_eq!(validate(json!({ "name": "<unknown>" })).await, vec![]);
    assert_eq!(
        validate(json!({ "name": "" })).await,
        [("error", "a thing needs a name".to_owned(), "name".to_owned())]
    );
    assert_eq!(validate(json!({ "name": "a", "mode": "odd" })).await[0].0, "warning");
    running.end().await;
}

#[tokio::test]
async fn a_data_source_reads_with_its_defaults_and_its_provider() {
    let running = Running::start();
    let mut client = running.connect().await;
    assert_eq!(client.configure(json!({ "region": "there" })).await, vec![]);
    let request = wire::read_data_source::Request {
        type_name: "example_echo".to_owned(),
        config: dynamic(&json!({ "text": "hello" })),
        ..Default::default()
    };
    let answer = client.rpc.read_data_source(request).await.expect("it answers").into_inner();
    assert_eq!(answer.diagnostics, vec![]);
    assert_eq!(
        json(answer.state),
        json!({ "text": "hello", "times": 2, "lines": ["hello from there", "hello from there"] })
    );

    let request = wire::validate_data_resource_config::Request {
        type_name: "example_echo".to_owned(),
        config: dynamic(&json!({ "text": "hello", "times": 0 })),
    };
    let answer = client.rpc.validate_data_resource_config(request).await.expect("it answers").into_inner();
    assert_eq!(told(answer.diagnostics)[0].2, "times");
    running.end().await;
}

#[tokio::test]
async fn two_connections_have_two_configurations() {
    let running = Running::start();
    let (mut one, mut other) = (running.connect().await, running.connect().await);
    assert_eq!(one.configure(json!({ "region": "one" })).await, vec![]);
    assert_eq!(other.configure(json!({ "region": "<unknown>" })).await, vec![]);
    assert_eq!(one.create(&json!({ "name": "a" })).await.state["region"], "one");
    assert_eq!(other.create(&json!({ "name": "a" })).await.state["region"], "known later");
    running.end().await;
}

#[tokio::test]
async fn what_needs_the_provider_says_so_when_it_is_not_configured() {
    let running = Running::start();
    let mut client = running.connect().await;
    let refused = client.configure(json!({ "fail": true })).await;
    assert_eq!(refused, [("error", "the example refuses".to_owned(), "fail".to_owned())]);
    let made = client.create(&json!({ "name": "a" })).await;
    assert_eq!(made.told, [("error", "the provider is not configured".to_owned(), String::new())]);
    assert_eq!(made.state, nothing().state);
    running.end().await;
}
