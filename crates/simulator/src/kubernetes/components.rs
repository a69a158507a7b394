//! The control plane's components, as they run on one node.

/// Which of the control plane's components run here, by the last look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Components {
    /// kube-apiserver.
    pub api_server: Component,
    /// kube-controller-manager.
    pub controller_manager: Component,
    /// kube-scheduler.
    pub scheduler: Component,
}

/// The state of one component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Component {
    /// It doesn't run.
    #[default]
    Absent,
    /// It runs and isn't ready.
    Starting,
    /// It is ready.
    Ready,
}
