//! The content of schematics, on which their ids hang, by the factory's own emitter.

use kontinuum::domain::machine_configuration::Schematic;
use serde_json::json;

use super::judge::Judge;
use super::random::Random;

#[test]
fn schematics_are_written_as_the_factory_s_emitter_writes_them() {
    let mut judge = Judge::start();
    let mut random = Random::new(376);
    let extensions =
        ["siderolabs/qemu-guest-agent", "siderolabs/iscsi-tools", "siderolabs/v4l-uvc-drivers", "a/1e3"];
    let arguments = [
        "console=ttyS0,115200",
        "-selinux",
        "net.ifnames=0",
        "yes",
        "1",
        "0x10",
        "a:b",
        "~",
        "talos.config=https://x/?a=b&c",
        "ip=10.0.0.1::10.0.0.2:255.255.255.0::eth0:off",
        "a=\"b\"",
        "'",
        "#x",
        "&a",
        "*",
        "-",
    ];
    let cases: Vec<(Vec<String>, Vec<String>)> = (0..200)
        .map(|_| {
            let mut chosen = random.some(3, &extensions.map(str::to_owned));
            chosen.sort();
            chosen.dedup();
            (chosen, random.some(4, &arguments.map(str::to_owned)))
        })
        .collect();
    let questions: Vec<_> = cases
        .iter()
        .map(|(extensions, arguments)| {
            json!({ "customization": {
                "extra_kernel_args": arguments,
                "system_extensions": { "official_extensions": extensions },
            } })
        })
        .collect();
    let (answers, ()) = judge.ask_all("schematic", &questions, || ());
    for ((extensions, arguments), answer) in cases.into_iter().zip(answers) {
        let ours = Schematic::new(extensions, arguments).unwrap().text();
        assert_eq!(Some(ours.as_str()), answer["result"]["text"].as_str());
    }
}
