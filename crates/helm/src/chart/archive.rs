//! Chart archives: gzipped tar files from anywhere, so nothing in them is trusted.

use std::io::Read as _;
use std::sync::Arc;

use flate2::read::GzDecoder;

use super::LoadError;

/// The largest chart, decompressed, in bytes: Helm's own limit.
pub(crate) const MAX_CHART: u64 = 100 * 1024 * 1024;

/// What may be decompressed in all, archives within the archive and tar's own headers included, in bytes.
const MAX_STREAM: u64 = 2 * MAX_CHART;

/// The largest number of entries: far above any chart, far below what would take long.
const MAX_ENTRIES: usize = 50_000;

/// The memory that is taken for a file before its bytes are there.
const MOST_AT_ONCE: usize = 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

/// A file of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// The path below the chart's folder.
    pub(crate) name: String,
    /// Shared by all copies of a chart.
    pub(crate) data: Arc<[u8]>,
}

/// Takes an archive apart; paths lose their first part, the chart's folder. What is unpacked is taken from
/// `remaining` (bytes), which an archive shares with the archives within it.
pub(crate) fn unpack(archive: &[u8], remaining: &mut u64) -> Result<Vec<File>, LoadError> {
    if !archive.starts_with(&[0x1f, 0x8b, 0x08]) {
        return Err(LoadError::NotAnArchive);
    }
    let mut tar = tar::Archive::new(GzDecoder::new(archive).take(MAX_STREAM));
    let mut files = Vec::new();
    for (count, entry) in tar.entries().map_err(LoadError::Archive)?.enumerate() {
        let entry = entry.map_err(LoadError::Archive)?;
        if count == MAX_ENTRIES {
            return Err(LoadError::TooManyFiles(MAX_ENTRIES));
        }
        let kind = entry.header().entry_type();
        if kind.is_dir() || kind.is_pax_global_extensions() || kind.is_pax_local_extensions() {
            continue;
        }
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if path.ends_with('/') {
            continue;
        }
        let name = inner_path(&path)?;
        let size = entry.size();
        if size > *remaining {
            return Err(LoadError::TooLarge(MAX_CHART));
        }
        // What the header promises is not taken on trust: the vector grows if it has to.
        let mut data = Vec::with_capacity(usize::try_from(size).unwrap_or(0).min(MOST_AT_ONCE));
        let read = entry.take(*remaining).read_to_end(&mut data).map_err(LoadError::Archive)? as u64;
        *remaining -= read;
        if read < size || *remaining == 0 {
            return Err(LoadError::TooLarge(MAX_CHART));
        }
        files.push(File { name, data: without_mark(&data).into() });
    }
    if files.is_empty() {
        return Err(LoadError::Empty);
    }
    Ok(files)
}

/// Drops the byte order mark that some editors write.
pub(crate) fn without_mark(data: &[u8]) -> &[u8] {
    data.strip_prefix(BYTE_ORDER_MARK).unwrap_or(data)
}

/// The path below the chart's folder, or why it is not one.
fn inner_path(path: &str) -> Result<String, LoadError> {
    let illegal = |reason| LoadError::Path { path: path.to_owned(), reason };
    let slashed = path.replace('\\', "/");
    let (folder, inner) = slashed.split_once('/').unwrap_or((&slashed, ""));
    if folder == "Chart.yaml" {
        return Err(illegal("the chart must be in a folder of its own"));
    }
    if inner.starts_with('/') {
        return Err(illegal("absolute paths are not allowed"));
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in inner.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop().ok_or_else(|| illegal("it leads out of the chart"))?;
            }
            part => parts.push(part),
        }
    }
    let clean = parts.join("/");
    if clean.is_empty() {
        return Err(illegal("it is outside the chart's folder"));
    }
    if clean.starts_with("..") {
        return Err(illegal("it leads out of the chart"));
    }
    let drive = clean.as_bytes();
    if drive.len() >= 3 && drive[0].is_ascii_alphabetic() && drive[1..3] == *b":/" {
        return Err(illegal("drive letters are not allowed"));
    }
    Ok(clean)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
pub(crate) mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    /// Packs files; names are taken as they are, tricks included.
    pub(crate) fn pack(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut tar = Vec::new();
        for (name, data) in files {
            let mut header = tar::Header::new_ustar();
            header.as_ustar_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_size(data.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            tar.extend_from_slice(header.as_bytes());
            tar.extend_from_slice(data);
            tar.resize(tar.len().next_multiple_of(512), 0);
        }
        tar.resize(tar.len() + 1024, 0);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&tar).unwrap();
        gzip.finish().unwrap()
    }

    #[test]
    fn paths_that_lead_out_are_refused() {
        for name in [
            "chart/../../etc/passwd",
            "chart//etc/passwd",
            "chart/..",
            "chart",
            "Chart.yaml",
            "c/C:/x",
            r"c\..\x",
        ] {
            let error = unpack(&pack(&[(name, b"x")]), &mut MAX_CHART.clone()).unwrap_err();
            assert!(matches!(error, LoadError::Path { .. }), "{name}: {error:?}");
        }
    }

    #[test]
    fn paths_lose_the_folder_and_the_byte_order_mark_goes() {
        let files =
            unpack(&pack(&[("c/./a/../b.txt", b"\xef\xbb\xbfhello")]), &mut MAX_CHART.clone()).unwrap();
        assert_eq!(files, [File { name: "b.txt".into(), data: b"hello"[..].into() }]);
    }

    #[test]
    fn a_bomb_is_refused_before_it_is_unpacked() {
        let mut header = tar::Header::new_ustar();
        header.set_path("c/big").unwrap();
        header.set_size(u64::from(u32::MAX));
        header.set_cksum();
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(header.as_bytes()).unwrap();
        gzip.write_all(&[0; 4096]).unwrap();
        assert!(matches!(
            unpack(&gzip.finish().unwrap(), &mut MAX_CHART.clone()),
            Err(LoadError::TooLarge(_))
        ));
    }

    #[test]
    fn what_is_no_archive_is_refused() {
        assert!(matches!(unpack(b"name: x", &mut MAX_CHART.clone()), Err(LoadError::NotAnArchive)));
        assert!(matches!(unpack(&pack(&[]), &mut MAX_CHART.clone()), Err(LoadError::Empty)));
    }
}
