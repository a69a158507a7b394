//! The machine's files, as far as simulated: the way to etcd's data, and the data itself.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use futures::stream;
use talos_api::machine::list_request::Type;
use talos_api::machine::{FileInfo, ListRequest};
use tonic::{Response, Status};

use super::Answers;
use crate::machine::Boot;

/// Folders that are there on every machine.
const FOLDERS: [&str; 3] = ["/", "/var", "/var/lib"];
/// Where etcd keeps its data; the folder is there once etcd was prepared.
const ETCD: &str = "/var/lib/etcd";
/// Go's bit for folders, and the permissions of all that is simulated.
const FOLDER_MODE: u32 = 1 << 31 | 0o755;
const FILE_MODE: u32 = 0o600;

/// Lists what is below a root, as deep as asked.
pub(super) fn list(boot: &Boot, request: &ListRequest) -> Result<Response<Answers<FileInfo>>, Status> {
    let root = normal(&request.root);
    let tree = Tree { etcd: boot.machine.disk().ephemeral().join("etcd") };
    if !tree.exists(&root) {
        return Err(Status::unknown(format!("lstat {root}: no such file or directory")));
    }
    let depth = match (request.recurse, request.recursion_depth) {
        (false, _) => Some(0),
        (true, depth) if depth > 0 => usize::try_from(depth).ok(),
        (true, _) => None,
    };
    let wanted = |file: &FileInfo| {
        let kind = if file.is_dir { Type::Directory } else { Type::Regular };
        request.types.is_empty() || request.types.contains(&i32::from(kind))
    };
    let mut files = Vec::new();
    tree.walk(&root, &root, depth, &mut files);
    files.retain(wanted);
    Ok(Response::new(Box::pin(stream::iter(files.into_iter().map(Ok).collect::<Vec<_>>()))))
}

/// An absolute path without a slash at its end.
fn normal(path: &str) -> String {
    let path = format!("/{}", path.trim_start_matches('/'));
    match path.trim_end_matches('/') {
        "" => "/".to_owned(),
        path => path.to_owned(),
    }
}

struct Tree {
    /// The real folder that stands for [`ETCD`].
    etcd: PathBuf,
}

impl Tree {
    /// The real file of a path below etcd's data.
    fn real(&self, path: &str) -> Option<PathBuf> {
        let below = path.strip_prefix(ETCD)?;
        let below = Path::new(below.trim_start_matches('/'));
        // No way out of the folder.
        let inside = below.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        (inside && (path == ETCD || path.starts_with("/var/lib/etcd/"))).then(|| self.etcd.join(below))
    }

    fn exists(&self, path: &str) -> bool {
        FOLDERS.contains(&path) || self.real(path).is_some_and(|real| real.exists())
    }

    fn children(&self, path: &str) -> Result<Vec<String>, std::io::Error> {
        let mut children: Vec<_> = match self.real(path) {
            Some(real) => std::fs::read_dir(real)?
                .map(|entry| Ok(format!("{path}/{}", entry?.file_name().to_string_lossy())))
                .collect::<std::io::Result<_>>()?,
            None => {
                let below = |child: &&&str| Path::new(**child).parent() == Some(Path::new(path));
                let folders = FOLDERS.iter().filter(below).map(|child| (*child).to_owned());
                let etcd = (path == "/var/lib" && self.exists(ETCD)).then(|| ETCD.to_owned());
                folders.chain(etcd).collect()
            }
        };
        children.sort();
        Ok(children)
    }

    /// Adds a path and what is below it. The root's own entries are always listed.
    fn walk(&self, root: &str, path: &str, depth: Option<usize>, files: &mut Vec<FileInfo>) {
        let mut file = self.describe(root, path);
        let level = path.matches('/').count() - usize::from(path == "/");
        let root_level = root.matches('/').count() - usize::from(root == "/");
        let deep = path != root && depth.is_some_and(|depth| level - root_level >= depth);
        let children = if file.is_dir && !deep { self.children(path) } else { Ok(Vec::new()) };
        if let Err(error) = &children {
            file.error = error.to_string();
        }
        files.push(file);
        for child in children.unwrap_or_default() {
            self.walk(root, &child, depth, files);
        }
    }

    fn describe(&self, root: &str, path: &str) -> FileInfo {
        let relative = path.strip_prefix(root).map(|rest| rest.trim_start_matches('/')).unwrap_or_default();
        let mut file = FileInfo {
            name: path.to_owned(),
            relative_name: if relative.is_empty() { ".".to_owned() } else { relative.to_owned() },
            mode: FOLDER_MODE,
            is_dir: true,
            ..FileInfo::default()
        };
        match self.real(path).map(std::fs::symlink_metadata) {
            None => {}
            Some(Ok(metadata)) => {
                file.is_dir = metadata.is_dir();
                file.mode = if file.is_dir { FOLDER_MODE } else { FILE_MODE };
                file.size = i64::try_from(metadata.len()).unwrap_or(i64::MAX);
                file.modified = metadata.mtime();
            }
            Some(Err(error)) => file.error = error.to_string(),
        }
        file
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn names(tree: &Tree, root: &str, depth: Option<usize>) -> Vec<String> {
        let mut files = Vec::new();
        tree.walk(root, root, depth, &mut files);
        files.into_iter().map(|file| file.name).collect()
    }

    #[test]
    fn etcd_has_no_folder_before_it_was_prepared_and_shows_its_data_then() {
        let folder = tempfile::tempdir().unwrap();
        let tree = Tree { etcd: folder.path().join("etcd") };
        assert_eq!(names(&tree, "/var/lib", Some(2)), ["/var/lib"]);
        std::fs::create_dir_all(folder.path().join("etcd/member/snap")).unwrap();
        let two = ["/var/lib", "/var/lib/etcd", "/var/lib/etcd/member"];
        assert_eq!(names(&tree, "/var/lib", Some(2)), two);
        assert_eq!(names(&tree, "/var/lib", None).len(), 4);
        assert_eq!(names(&tree, "/", Some(0)), ["/", "/var"]);
    }

    #[test]
    fn nothing_outside_of_the_data_can_be_listed() {
        let tree = Tree { etcd: PathBuf::from("/nowhere") };
        assert_eq!(tree.real("/var/lib/etcd/../../../etc"), None);
        assert_eq!(tree.real("/var/lib/etcdx"), None);
        assert!(!tree.exists("/etc"));
        assert_eq!(normal("var/lib/"), "/var/lib");
    }
}
