//! Where the inventory's file is.

use std::path::PathBuf;

use super::InventoryError;

/// What is known of the process' surroundings; read once, at the edge, so that the choice is a pure function.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `KONTINUUM_INVENTORY`.
    pub inventory: Option<String>,
    /// `XDG_STATE_HOME`.
    pub state_home: Option<String>,
    /// `HOME`.
    pub home: Option<String>,
    /// `TF_IN_AUTOMATION`.
    pub in_automation: bool,
    /// `TFC_RUN_ID`.
    pub cloud_run: bool,
    /// The working directory.
    pub working_directory: Option<PathBuf>,
}

impl Environment {
    /// The surroundings of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let text = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            inventory: text("KONTINUUM_INVENTORY"),
            state_home: text("XDG_STATE_HOME"),
            home: text("HOME"),
            in_automation: text("TF_IN_AUTOMATION").is_some(),
            cloud_run: text("TFC_RUN_ID").is_some(),
            working_directory: std::env::current_dir().ok(),
        }
    }

    fn automation(&self) -> Option<&'static str> {
        let terragrunt = || {
            self.working_directory
                .as_ref()
                .is_some_and(|path| path.components().any(|part| part.as_os_str() == ".terragrunt-cache"))
        };
        if self.in_automation {
            Some("TF_IN_AUTOMATION is set")
        } else if self.cloud_run {
            Some("TFC_RUN_ID is set")
        } else if terragrunt() {
            Some("the working directory is in a .terragrunt-cache folder")
        } else {
            None
        }
    }
}

/// A chosen place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub path: PathBuf,
    /// Why it must not be written by default; reading is always fine.
    pub(super) refused: Option<&'static str>,
}

impl Location {
    /// The provider's attribute, else `KONTINUUM_INVENTORY`, else the user's state folder; never the working
    /// directory, which Terragrunt, CAPTF and CI throw away.
    ///
    /// # Errors
    ///
    /// [`InventoryError::NoHome`].
    pub fn choose(attribute: Option<&str>, environment: &Environment) -> Result<Self, InventoryError> {
        if let Some(path) = attribute.or(environment.inventory.as_deref()) {
            return Ok(Self { path: PathBuf::from(path), refused: None });
        }
        let state = match (&environment.state_home, &environment.home) {
            (Some(state), _) => PathBuf::from(state),
            (None, Some(home)) => PathBuf::from(home).join(".local/state"),
            (None, None) => return Err(InventoryError::NoHome),
        };
        Ok(Self { path: state.join("kontinuum/inventory.db"), refused: environment.automation() })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn home() -> Environment {
        Environment { home: Some("/home/u".into()), ..Environment::default() }
    }

    #[test]
    fn the_attribute_wins_over_the_variable_over_the_state_folder() {
        let with = Environment { inventory: Some("/v.db".into()), state_home: Some("/s".into()), ..home() };
        assert_eq!(Location::choose(Some("/a.db"), &with).unwrap().path, PathBuf::from("/a.db"));
        assert_eq!(Location::choose(None, &with).unwrap().path, PathBuf::from("/v.db"));
        let with = Environment { inventory: None, ..with };
        assert_eq!(Location::choose(None, &with).unwrap().path, PathBuf::from("/s/kontinuum/inventory.db"));
        let default = Location::choose(None, &home()).unwrap();
        assert_eq!(default.path, PathBuf::from("/home/u/.local/state/kontinuum/inventory.db"));
        assert!(matches!(Location::choose(None, &Environment::default()), Err(InventoryError::NoHome)));
    }

    #[test]
    fn automation_must_name_a_file() {
        let automated = Environment { in_automation: true, ..home() };
        assert!(Location::choose(None, &automated).unwrap().refused.is_some());
        assert!(Location::choose(Some("/a.db"), &automated).unwrap().refused.is_none());
        let terragrunt = Environment { working_directory: Some("/x/.terragrunt-cache/y".into()), ..home() };
        assert!(Location::choose(None, &terragrunt).unwrap().refused.is_some());
    }
}
