//! Which image of the image factory a pool's machines are installed with.

use super::super::report::{chain, null_element};
use crate::domain::machine_configuration::Schematic;
use crate::plugin::{Attr, Diagnostic, Diagnostics, List, Model, Path, Visitor, optional};

/// What an image is made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Image {
    pub(super) schematic: Attr<String>,
    pub(super) system_extensions: Attr<List<String>>,
    pub(super) kernel_arguments: Attr<List<String>>,
}

impl Model for Image {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(
            optional(
                "schematic",
                "The id of the image factory's schematic that the machines are installed with. Default: that of \
                 `system_extensions` and `kernel_arguments`, computed without asking the factory, else the one that a \
                 machine was booted with. The factory builds images of schematics that it was shown once.",
            ),
            &mut self.schematic,
        );
        v.attribute(
            optional(
                "system_extensions",
                "Official system extensions of the image, as in `siderolabs/iscsi-tools`. Instead of `schematic`.",
            ),
            &mut self.system_extensions,
        );
        v.attribute(
            optional(
                "kernel_arguments",
                "Further kernel arguments of the image, as in `console=ttyS0`. Instead of `schematic`.",
            ),
            &mut self.kernel_arguments,
        );
    }
}

impl Image {
    /// The schematic's id, if one is asked for. What is unknown counts as not given.
    pub(super) fn parse(&self, wrong: &mut Diagnostics, path: &Path) -> Option<String> {
        let extensions = texts(wrong, &path.clone().attribute("system_extensions"), &self.system_extensions);
        let arguments = texts(wrong, &path.clone().attribute("kernel_arguments"), &self.kernel_arguments);
        let is_made = !extensions.is_empty() || !arguments.is_empty();
        let at = path.clone().attribute("schematic");
        let mut refuse = |summary: String, detail: &str, at: Path| {
            wrong.push(Diagnostic::error(summary, detail.to_owned()).at(at));
        };
        match self.schematic.known() {
            Some(_) if is_made => {
                let detail = "Expected either the id of a schematic, or what it is made of: system_extensions and \
                              kernel_arguments.";
                refuse(format!("{at} stands beside what it would be made of"), detail, at);
                None
            }
            Some(id) if id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit()) => Some(id.clone()),
            Some(_) => {
                let detail = "Expected the id that the image factory shows: 64 hexadecimal digits.";
                refuse(format!("{at} is not valid"), detail, at);
                None
            }
            None if is_made => match Schematic::new(extensions, arguments) {
                Ok(schematic) => Some(schematic.id()),
                Err(error) => {
                    let at = path.clone().attribute("system_extensions");
                    refuse(format!("{at} is not valid"), &format!("{}.", chain(&error)), at);
                    None
                }
            },
            None => None,
        }
    }

    /// All of it as one text, for a digest; `None` as long as any of it is unknown.
    pub(super) fn text(&self) -> Option<String> {
        let list = |list: &Attr<List<String>>| match list {
            Attr::Unknown => None,
            Attr::Null => Some(Vec::new()),
            Attr::Known(items) => items.iter().map(|item| item.known().cloned()).collect(),
        };
        if self.schematic.is_unknown() {
            return None;
        }
        let (extensions, arguments) = (list(&self.system_extensions)?, list(&self.kernel_arguments)?);
        let id = self.schematic.known().cloned().unwrap_or_default();
        Some(format!("{id} {} {}", extensions.join(","), arguments.join(",")))
    }
}

fn texts(wrong: &mut Diagnostics, path: &Path, list: &Attr<List<String>>) -> Vec<String> {
    let mut good = Vec::new();
    for (index, item) in list.known().into_iter().flatten().enumerate() {
        match item {
            Attr::Null => wrong.push(null_element(path.clone().index(index))),
            Attr::Unknown => {}
            Attr::Known(text) => good.push(text.clone()),
        }
    }
    good
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(items: &[&str]) -> Attr<List<String>> {
        Attr::Known(items.iter().map(|item| (*item).into()).collect())
    }

    fn parsed(image: &Image) -> (Option<String>, String) {
        let mut wrong = Diagnostics::new();
        let id = image.parse(&mut wrong, &Path::new("control_plane"));
        (id, wrong.to_string())
    }

    #[test]
    fn extensions_become_the_schematic_that_the_factory_would_make_of_them() {
        let image = Image { system_extensions: list(&["siderolabs/qemu-guest-agent"]), ..Image::default() };
        let id = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515";
        assert_eq!(parsed(&image), (Some(id.to_owned()), String::new()));
        assert_eq!(parsed(&Image::default()), (None, String::new()));
    }

    #[test]
    fn what_no_factory_would_build_is_refused_at_its_attribute() {
        let extension = Image { system_extensions: list(&["qemu"]), ..Image::default() };
        assert!(parsed(&extension).1.contains("control_plane.system_extensions is not valid"));
        let short = Image { schematic: "376567".into(), ..Image::default() };
        assert!(parsed(&short).1.contains("64 hexadecimal digits"));
        let both = Image { schematic: "a".repeat(64).as_str().into(), ..extension };
        assert!(parsed(&both).1.contains("beside what it would be made of"));
    }

    #[test]
    fn what_is_known_only_after_apply_is_no_mistake_and_no_text() {
        let image = Image { schematic: Attr::Unknown, ..Image::default() };
        assert_eq!((parsed(&image), image.text()), ((None, String::new()), None));
    }
}
