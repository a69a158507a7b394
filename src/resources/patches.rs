//! The `config_patches` attributes: patches of Talos machine configurations.

use crate::domain::machine_configuration::Patch;
use crate::plugin::{Attr, Diagnostic, Diagnostics, List, Path};

use super::report::{chain, null_element};

/// Reads the patches below `parent` as strictly as Talos does; how they meet the configuration is judged with it.
pub(super) fn parse(parent: &Path, patches: &Attr<List<String>>, wrong: &mut Diagnostics) -> Vec<String> {
    let mut good = Vec::new();
    for (index, patch) in patches.known().into_iter().flatten().enumerate() {
        let at = parent.clone().attribute("config_patches").index(index);
        if patch.is_null() {
            wrong.push(null_element(at));
            continue;
        }
        let Some(text) = patch.known() else { continue };
        match Patch::parse(text) {
            Ok(_) => good.push(text.clone()),
            Err(error) => wrong.push(
                Diagnostic::error(
                    format!("{at} can't be applied"),
                    format!("{}. Expected a patch of a Talos machine configuration.", chain(&error)),
                )
                .at(at),
            ),
        }
    }
    good
}
