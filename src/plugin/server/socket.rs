//! The unix socket, in a folder of its own that nobody else may enter.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

/// A listening socket; it and its folder are removed when this is dropped.
pub(super) struct Socket {
    pub(super) listener: UnixListener,
    /// Kept for its end.
    pub(super) folder: Folder,
}

impl Socket {
    /// Listens in a new folder below `parent`, or else below the system's folder for temporary files.
    pub(super) fn bind(parent: Option<&Path>) -> io::Result<Self> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_path_buf);
        // Short: the whole path of a socket has some hundred bytes at most.
        let random = uuid::Uuid::new_v4().simple().to_string();
        let folder = Folder(parent.join(format!("plugin-{}", random.get(..12).unwrap_or(&random))));
        fs::DirBuilder::new().mode(0o700).create(&folder.0)?;
        let listener = UnixListener::bind(folder.socket())?;
        Ok(Self { listener, folder })
    }

    /// Where clients connect.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.socket()
    }
}

pub(super) struct Folder(PathBuf);

impl Folder {
    fn socket(&self) -> PathBuf {
        self.0.join("socket")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::debug!(folder = %self.0.display(), %error, "Cannot remove the socket's folder");
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[tokio::test]
    async fn only_its_owner_reaches_the_socket_and_nothing_stays() {
        let parent = tempfile::tempdir().unwrap();
        let socket = Socket::bind(Some(parent.path())).unwrap();
        let folder = socket.path().parent().unwrap().to_path_buf();
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        drop(socket);
        assert!(!folder.exists());
    }
}
