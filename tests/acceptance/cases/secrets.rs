//! The search for secrets itself: one that was planted is found in what a real client shows.

use libtest_mimic::{Failed, Trial};

use crate::client::Client;
use crate::rig::Rig;

/// Not a key: a label, and the words below it.
const PLANTED: &str = "-----BEGIN EC PRIVATE KEY-----\\nbm90IGEga2V5LCBidXQgaXQgbG9va3MgbGlrZSBvbmU=\\n-----END EC PRIVATE KEY-----\\n";

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        Trial::test("a_planted_private_key_is_found", planted_key),
        Trial::test("a_planted_token_of_the_state_is_found", planted_token),
    ]
}

fn planted_key() -> Result<(), Failed> {
    let rig = Rig::new(Client::OpenTofu)?;
    for value in [format!("\"{PLANTED}\""), format!("base64encode(\"{PLANTED}\")")] {
        rig.module_without_provider(&format!("output \"planted\" {{\n  value = {value}\n}}\n"))?;
        rig.plan(&[])?.expect_code(2)?;
        let found = rig.shows_no_secret().err().and_then(|failed| failed.message().map(str::to_owned));
        let found = found.ok_or("expected the planted key to be found in the plan's text")?;
        assert!(found.starts_with("the standard output of `tofu plan"), "{found}");
    }
    Ok(())
}

fn planted_token() -> Result<(), Failed> {
    let rig = Rig::new(Client::OpenTofu)?;
    rig.module_without_provider("output \"join\" {\n  value = \"token: abcdef.0123456789abcdef\"\n}\n")?;
    rig.apply(&[])?.expect_code(0)?;
    assert_eq!(rig.secrets()?.len(), 1);
    assert!(rig.shows_no_secret().is_err());
    Ok(())
}
