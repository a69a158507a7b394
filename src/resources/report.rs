//! From errors to diagnostics: the one place where chains of causes are joined.

use std::error::Error;

use crate::clients::inventory::InventoryError;
use crate::plugin::{Diagnostic, Diagnostics, Path};

/// An error and its causes in one line, each told once.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let said = next.to_string();
        if !text.ends_with(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = next.source();
    }
    text
}

/// The inventory failed: `what` names the object, as in `kontinuum_instance "a"`.
pub(super) fn inventory_failed(what: &str, error: &InventoryError) -> Diagnostics {
    let detail = match error {
        InventoryError::Held { .. } => {
            "Two applies never work on the same thing at once. Nothing was changed."
        }
        InventoryError::Automation { .. } => "Nothing was changed.",
        InventoryError::NewerFile { .. } | InventoryError::NewerRecord { .. } => {
            "Nothing was changed: an older provider never writes what a newer one wrote."
        }
        InventoryError::Conflict { .. }
        | InventoryError::Body { .. }
        | InventoryError::NoHome
        | InventoryError::Folder { .. }
        | InventoryError::Storage { .. }
        | InventoryError::Thread => {
            "The inventory holds what must outlive this process, so nothing is done without it. Apply again once it \
             can be read and written."
        }
    };
    Diagnostics::error(format!("{what}: {}", chain(error)), detail)
}

/// An element of a list is null, which would silently count as not there.
pub(super) fn null_element(path: Path) -> Diagnostic {
    Diagnostic::error(
        format!("{path} is null"),
        "Expected a value. Leave the element out where there is none (`compact`).",
    )
    .at(path)
}

/// The operation was asked to end.
pub(super) fn stopped(what: &str) -> Diagnostic {
    Diagnostic::error(
        format!("{what}: stopped before it was done"),
        "The stop was asked for (Ctrl-C, or the client went away). What was done is remembered in the inventory; apply \
         again to go on from there.",
    )
}
