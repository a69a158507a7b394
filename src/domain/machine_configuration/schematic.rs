//! What an image of the image factory is made of, and the id that the factory gives it.
//!
//! The id is a hash of the content, so that it is known without asking. The factory builds an image only once someone
//! has shown it the content: by its web page, or by posting [`Schematic::text`] to it.

use sha2::{Digest as _, Sha256};
use yaml::{Value, emit_v3};

/// Extensions and kernel arguments of an image.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schematic {
    system_extensions: Vec<String>,
    kernel_arguments: Vec<String>,
}

/// Why a schematic is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchematicError {
    /// No name of an extension.
    #[error("{0:?} is not a system extension: expected OWNER/NAME, as in siderolabs/qemu-guest-agent")]
    Extension(String),
    /// The factory would install it once.
    #[error("the system extension {0:?} stands twice")]
    Twice(String),
    /// Nothing, or several arguments in one.
    #[error("{0:?} is not a kernel argument: expected NAME or NAME=VALUE without spaces")]
    Argument(String),
}

impl Schematic {
    /// Takes names of official extensions and kernel arguments. Their order is part of the content, and so of the id.
    ///
    /// # Errors
    /// What the factory would not build.
    pub fn new(
        system_extensions: Vec<String>,
        kernel_arguments: Vec<String>,
    ) -> Result<Self, SchematicError> {
        let is_word =
            |text: &str| !text.is_empty() && !text.chars().any(|it| it.is_whitespace() || it.is_control());
        let is_extension = |name: &&String| {
            is_word(name) && name.split_once('/').is_some_and(|(owner, name)| is_word(owner) && is_word(name))
        };
        if let Some(wrong) = system_extensions.iter().find(|name| !is_extension(name)) {
            return Err(SchematicError::Extension(wrong.clone()));
        }
        let is_known = |(index, name): &(usize, &String)| system_extensions[..*index].contains(name);
        if let Some((_, name)) = system_extensions.iter().enumerate().find(is_known) {
            return Err(SchematicError::Twice(name.clone()));
        }
        if let Some(wrong) = kernel_arguments.iter().find(|argument| !is_word(argument)) {
            return Err(SchematicError::Argument(wrong.clone()));
        }
        Ok(Self { system_extensions, kernel_arguments })
    }

    /// The content as the factory writes it.
    #[must_use]
    pub fn text(&self) -> String {
        let list = |items: &[String]| Value::Sequence(items.iter().map(Value::string).collect());
        let mut customization = Vec::new();
        if !self.kernel_arguments.is_empty() {
            customization.push(("extraKernelArgs", list(&self.kernel_arguments)));
        }
        if !self.system_extensions.is_empty() {
            let official = Value::mapping([("officialExtensions", list(&self.system_extensions))]);
            customization.push(("systemExtensions", official));
        }
        emit_v3(&Value::mapping([("customization", Value::mapping(customization))]), 4)
    }

    /// The id: the SHA-256 digest of the content in hexadecimal.
    #[must_use]
    pub fn id(&self) -> String {
        Sha256::digest(self.text().as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;
    use crate::domain::machine_configuration::DEFAULT_SCHEMATIC;

    fn schematic(extensions: &[&str], arguments: &[&str]) -> Result<Schematic, SchematicError> {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Schematic::new(owned(extensions), owned(arguments))
    }

    #[test]
    fn has_the_ids_that_the_factory_gives() {
        assert_eq!(Schematic::default().id(), DEFAULT_SCHEMATIC);
        for (extensions, id) in [
            (
                &["siderolabs/qemu-guest-agent"][..],
                "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515",
            ),
            (
                &["siderolabs/iscsi-tools", "siderolabs/util-linux-tools"],
                "613e1592b2da41ae5e265e8789429f22e121aab91cb4deb6bc3c0b6262961245",
            ),
        ] {
            assert_eq!(schematic(extensions, &[]).unwrap().id(), id, "{extensions:?}");
        }
    }

    #[test]
    fn what_the_factory_would_not_build_is_refused() {
        for name in ["", "qemu-guest-agent", "/x", "siderolabs/", "siderolabs/a b"] {
            assert_eq!(schematic(&[name], &[]), Err(SchematicError::Extension(name.to_owned())));
        }
        assert_eq!(schematic(&["a/b", "a/b"], &[]), Err(SchematicError::Twice("a/b".to_owned())));
        for argument in ["", "a b", "a\n"] {
            assert_eq!(schematic(&[], &[argument]), Err(SchematicError::Argument(argument.to_owned())));
        }
    }
}
