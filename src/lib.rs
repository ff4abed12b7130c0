#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod clock;
#[cfg(feature = "http-signatures")]
pub mod content_digest;
mod event;
pub mod gate;

pub mod guide;
#[cfg(feature = "handshake")]
pub mod handshake;
pub mod headers;
#[cfg(feature = "inbox")]
pub mod inbox;
#[cfg(feature = "json")]
mod json;
pub mod order;
#[cfg(feature = "inbox")]
pub mod review;
pub mod scheme;
mod secrets;
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;
mod verify;

pub use event::{EventKey, Fingerprint, KeyError, MAX_ID_BYTES, MAX_TENANT_BYTES};
pub use gate::{Answers, Decision, Event, Gate, Outcome};
pub use headers::Headers;
pub use order::{Advance, ObjectKey, OrderGuard, Version};
pub use scheme::{Coverage, Scheme};
pub use secrets::{
    MAX_KEYS, MIN_DECODED_KEY, MIN_TEXT_SECRET, Secret, SecretFault, Secrets, SecretsError,
};
#[cfg(feature = "sqlx-mysql")]
pub use store::sql::MySqlStore;
#[cfg(feature = "sqlx-postgres")]
pub use store::sql::PostgresStore;
#[cfg(feature = "rusqlite")]
pub use store::sql::SqliteStore;
pub use store::{
    Claim, Claiming, Effect, EffectLedger, EffectResult, EffectSlot, Fence, IdempotencyStore,
    Lease, MemoryStore, Receipt, State, StoreError, Verdict,
};
pub use verify::{
    Invalid, KeyNeeded, Malformed, Rejection, RejectionKind, StaleDelivery, Verified, VerifiedBuf,
    verify,
};
