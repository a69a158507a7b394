//! The keys of the documents about volumes and swap.

use super::Kind::{Bool, ByteSize, Expression, Integer, List, Size, Struct, Text, Word};
use super::{
    Contract, DocumentKind, Field,
    IntegerKind::{I64, U64},
    always, named, optional, single, words,
};

/// The documents of this file.
pub(super) const DOCUMENTS: &[DocumentKind] = &[
    named("ExistingVolumeConfig", Contract::V1_11, EXISTING_VOLUME),
    named("ExternalVolumeConfig", Contract::V1_13, EXTERNAL_VOLUME),
    named("RawVolumeConfig", Contract::V1_11, RAW_VOLUME),
    named("SwapVolumeConfig", Contract::V1_11, SWAP_VOLUME),
    named("UserVolumeConfig", Contract::V1_10, USER_VOLUME),
    named("VolumeConfig", Contract::V1_10, VOLUME),
    single("ZswapConfig", Contract::V1_11, ZSWAP),
];

const EXISTING_VOLUME: &[Field] =
    &[always("name", Text), optional("discovery", Struct(DISCOVERY)), optional("mount", Struct(MOUNT))];

const EXTERNAL_VOLUME: &[Field] = &[
    always("name", Text),
    always("filesystemType", Word(&words::FILESYSTEM_TYPE)),
    optional("mount", Struct(EXTERNAL_MOUNT)),
];

const RAW_VOLUME: &[Field] = &[
    always("name", Text),
    optional("provisioning", Struct(PROVISIONING)),
    optional("encryption", Struct(ENCRYPTION)).hollow_without(&["provider", "keys"]),
];

const SWAP_VOLUME: &[Field] = &[
    always("name", Text),
    optional("provisioning", Struct(PROVISIONING)),
    optional("encryption", Struct(ENCRYPTION)).hollow_without(&["provider", "keys"]),
];

const USER_VOLUME: &[Field] = &[
    always("name", Text),
    optional("volumeType", Word(&words::VOLUME_TYPE)).pointer(),
    optional("provisioning", Struct(PROVISIONING)),
    optional("filesystem", Struct(FILESYSTEM)),
    optional("encryption", Struct(ENCRYPTION)).hollow_without(&["provider", "keys"]),
    optional("mount", Struct(USER_MOUNT)),
];

const VOLUME: &[Field] = &[
    always("name", Text),
    optional("provisioning", Struct(PROVISIONING)),
    optional("encryption", Struct(ENCRYPTION)).hollow_without(&["provider", "keys"]).since(Contract::V1_11),
    optional("mount", Struct(SYSTEM_MOUNT)).since(Contract::V1_13),
];

const ZSWAP: &[Field] =
    &[optional("maxPoolPercent", Integer(I64)).pointer(), optional("shrinkerEnabled", Bool)];

const DISCOVERY: &[Field] = &[optional("volumeSelector", Struct(MATCH))];

const MATCH: &[Field] = &[optional("match", Expression)];

const MOUNT: &[Field] =
    &[optional("readOnly", Bool), optional("disableAccessTime", Bool), optional("secure", Bool)];

const PROVISIONING: &[Field] = &[
    optional("diskSelector", Struct(MATCH)),
    optional("grow", Bool),
    optional("minSize", ByteSize),
    optional("maxSize", Size),
];

const ENCRYPTION: &[Field] = &[
    always("provider", Word(&words::ENCRYPTION_PROVIDER_TYPE)),
    always("keys", List(&Struct(ENCRYPTION_KEY))),
    optional("cipher", Text),
    optional("keySize", Integer(U64)),
    optional("blockSize", Integer(U64)),
    optional("options", List(&Text)),
];

const ENCRYPTION_KEY: &[Field] = &[
    always("slot", Integer(I64)),
    optional("static", Struct(STATIC)).pointer(),
    optional("nodeID", Struct(NODE_ID)).pointer(),
    optional("kms", Struct(KMS)).pointer(),
    optional("tpm", Struct(TPM)).pointer(),
    optional("lockToState", Bool),
];

const STATIC: &[Field] = &[optional("passphrase", Text)];

const NODE_ID: &[Field] = &[];

const KMS: &[Field] = &[always("endpoint", Text)];

const TPM: &[Field] =
    &[optional("options", Struct(OPTIONS)).pointer(), optional("checkSecurebootStatusOnEnroll", Bool)];

const OPTIONS: &[Field] = &[optional("pcrs", List(&Integer(I64)))];

const EXTERNAL_MOUNT: &[Field] = &[
    optional("readOnly", Bool),
    optional("disableAccessTime", Bool),
    optional("secure", Bool),
    optional("virtiofs", Struct(VIRTIOFS)).pointer(),
];

const VIRTIOFS: &[Field] = &[always("tag", Text)];

const SYSTEM_MOUNT: &[Field] = &[optional("secure", Bool)];

const FILESYSTEM: &[Field] =
    &[optional("type", Word(&words::FILESYSTEM_TYPE)), optional("projectQuotaSupport", Bool)];

const USER_MOUNT: &[Field] = &[optional("disableAccessTime", Bool), optional("secure", Bool)];
