//! The image that installs Talos on a machine.

/// The schematic without extensions and kernel arguments: the SHA-256 of an empty customization, as the image factory
/// names it.
pub const DEFAULT_SCHEMATIC: &str = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";

/// The image factory's host.
const FACTORY: &str = "factory.talos.dev";

/// The installer of a schematic from the image factory. The plain installer would drop a machine's extensions and, under
/// secure boot, leave it unable to boot. An empty schematic means [`DEFAULT_SCHEMATIC`]; the version may have its `v`.
#[must_use]
pub fn installer_image(schematic: &str, secure_boot: bool, talos_version: &str) -> String {
    let schematic = if schematic.is_empty() { DEFAULT_SCHEMATIC } else { schematic };
    let suffix = if secure_boot { "-secureboot" } else { "" };
    let version = talos_version.strip_prefix('v').unwrap_or(talos_version);
    format!("{FACTORY}/metal-installer{suffix}/{schematic}:v{version}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_factory_s_image() {
        assert_eq!(installer_image("abc", false, "v1.13.9"), "factory.talos.dev/metal-installer/abc:v1.13.9");
        assert_eq!(
            installer_image("", true, "1.12.1"),
            format!("factory.talos.dev/metal-installer-secureboot/{DEFAULT_SCHEMATIC}:v1.12.1")
        );
    }
}
