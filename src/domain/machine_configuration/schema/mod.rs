//! The keys of machine configurations, as data: their order, their types, when they are left out, how they merge.
//!
//! The facts are those of Talos 1.13 (`pkg/machinery/config/types`), with the version that brought a key where it is
//! newer than 1.10. Reading, writing, merging and judging all walk these tables.

mod cluster;
mod common;
mod link_documents;
mod machine;
mod machine_network;
mod network_documents;
mod system_documents;
mod volume_documents;
mod words;

use self::Kind::{Struct, Text};
pub(super) use self::words::Words;
use super::Contract;

/// One key of a section.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) key: &'static str,
    pub(super) kind: Kind,
    /// Left out when empty; else always written, as an empty value if need be.
    pub(super) optional: bool,
    /// Absent and empty differ.
    pub(super) pointer: bool,
    pub(super) merge: Merge,
    /// A section that counts as not set unless one of these keys is.
    pub(super) hollow_without: &'static [&'static str],
    /// The first form that has the key.
    pub(super) since: Contract,
}

/// What a key takes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// Any scalar, as written.
    Text,
    /// A truth value; absent and false differ.
    Bool,
    /// A truth value that is false when absent.
    PlainBool,
    Integer(IntegerKind),
    /// `1m30s`.
    Duration,
    /// A file mode.
    Permissions,
    /// `10 GB` or bytes, written in the largest decimal unit that fits.
    PartitionSize,
    /// A size as written.
    ByteSize,
    /// A size or a percentage, as written.
    Size,
    /// `>= 10GB`.
    SizeMatch,
    Url,
    Base64,
    /// A CEL expression.
    Expression,
    Prefix,
    Address,
    AddressAndPort,
    HardwareAddress,
    RoutingTable,
    PortRange,
    /// One of some words, in any letter case.
    Word(&'static Words),
    /// Flags of a program: a text or a list of texts each.
    Arguments,
    TextMap,
    BoolMap,
    /// Any mapping.
    Free,
    List(&'static Self),
    Map(&'static Self),
    Struct(&'static [Field]),
}

/// The range of a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IntegerKind {
    U8,
    U16,
    U32,
    U64,
    I64,
}

/// How a patch's value meets the one that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Merge {
    /// Sections key by key, lists appended, all else replaced.
    Deep,
    Replace,
    /// Items of a list with the same key merge, others are appended.
    Keyed(Key),
}

/// What makes two items of a list the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// An equal value under a key.
    Field(&'static str),
    /// The same, but the item is replaced as a whole.
    WholeBy(&'static str),
    /// The interface's name, or without one its selector.
    Interface,
}

/// A kind of document.
#[derive(Debug)]
pub(super) struct DocumentKind {
    /// Empty for the main document.
    pub(super) kind: &'static str,
    /// Several may stand in one configuration, told apart by name.
    pub(super) named: bool,
    pub(super) fields: &'static [Field],
    pub(super) since: Contract,
}

/// The one version of all documents.
pub(super) const API_VERSION: &str = "v1alpha1";

/// The main document.
pub(super) const MAIN: DocumentKind = DocumentKind {
    kind: "",
    named: false,
    fields: &[
        always("version", Text),
        optional("debug", Kind::Bool),
        optional("persist", Kind::Bool),
        always("machine", Struct(machine::MACHINE)).pointer(),
        always("cluster", Struct(cluster::CLUSTER)).pointer(),
    ],
    since: Contract::V1_10,
};

/// The document kind of a name; none for the main document, whose name is empty.
pub(super) fn document_kind(kind: &str) -> Option<&'static DocumentKind> {
    document_kinds().find(|known| known.kind == kind)
}

/// All kinds of documents but the main one.
pub(super) fn document_kinds() -> impl Iterator<Item = &'static DocumentKind> {
    [
        link_documents::DOCUMENTS,
        network_documents::DOCUMENTS,
        volume_documents::DOCUMENTS,
        system_documents::DOCUMENTS,
    ]
    .into_iter()
    .flatten()
}

/// A key that is always written.
const fn always(key: &'static str, kind: Kind) -> Field {
    Field {
        key,
        kind,
        optional: false,
        pointer: false,
        merge: Merge::Deep,
        hollow_without: &[],
        since: Contract::V1_10,
    }
}

/// A key that is left out when it is empty.
const fn optional(key: &'static str, kind: Kind) -> Field {
    Field { optional: true, ..always(key, kind) }
}

impl Field {
    const fn pointer(mut self) -> Self {
        self.pointer = true;
        self
    }

    const fn replaced(mut self) -> Self {
        self.merge = Merge::Replace;
        self
    }

    const fn keyed(mut self, key: Key) -> Self {
        self.merge = Merge::Keyed(key);
        self
    }

    const fn hollow_without(mut self, keys: &'static [&'static str]) -> Self {
        self.hollow_without = keys;
        self
    }

    const fn since(mut self, contract: Contract) -> Self {
        self.since = contract;
        self
    }

    /// Absent and empty differ.
    pub(super) const fn distinguishes_absent(&self) -> bool {
        self.pointer || matches!(self.kind, Kind::Bool)
    }
}

const fn single(kind: &'static str, since: Contract, fields: &'static [Field]) -> DocumentKind {
    DocumentKind { kind, named: false, fields, since }
}

const fn named(kind: &'static str, since: Contract, fields: &'static [Field]) -> DocumentKind {
    DocumentKind { kind, named: true, fields, since }
}

/// The keys of a document about a link: its own, then those that all links have.
macro_rules! link_fields {
    ($($field:expr,)*) => {
        &[
            $($field,)*
            $crate::domain::machine_configuration::schema::optional("up", Bool),
            $crate::domain::machine_configuration::schema::optional("mtu", Integer(U32)),
            $crate::domain::machine_configuration::schema::optional("addresses", List(&Struct(ADDRESS))),
            $crate::domain::machine_configuration::schema::optional("routes", List(&Struct(ROUTE))),
            $crate::domain::machine_configuration::schema::optional("multicast", Bool),
        ]
    };
}
use link_fields;
