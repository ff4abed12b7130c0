//! What can go wrong in a store.

use std::{error::Error, fmt};

use super::Lease;

/// A store could not answer. Send 503: the sender will come again.
#[derive(Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// What kind of failure, for logs, metrics and the decision to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The engine is out of reach, closed or failing.
    Unavailable,
    /// Another writer held the engine longer than the store was told to wait.
    Busy,
    /// A bounded store is full of receipts that it may not drop.
    Full,
    /// The caller's transaction must be run again from its start.
    Serialization,
    /// A stored row is not one that this crate writes, or belongs to another event.
    Corrupt,
    /// The schema was written by a newer version of this crate.
    NewerSchema,
    /// A batch of more than [`MAX_BATCH`](super::MAX_BATCH) events, or one of deliveries that together
    /// are longer than an inbox takes at once. Nothing was claimed or accepted.
    BatchTooLarge,
    /// The call makes no sense as it is, such as a transaction that must be immediate and is not.
    Misuse,
}

impl StoreErrorKind {
    /// Whether the same call may succeed later.
    pub const fn is_transient(self) -> bool {
        matches!(
            self,
            StoreErrorKind::Unavailable
                | StoreErrorKind::Busy
                | StoreErrorKind::Full
                | StoreErrorKind::Serialization
        )
    }

    const fn text(self) -> &'static str {
        match self {
            StoreErrorKind::Unavailable => "the receipt store is unavailable",
            StoreErrorKind::Busy => "the receipt store is busy",
            StoreErrorKind::Full => "the receipt store is full of receipts that it must keep",
            StoreErrorKind::Serialization => "the transaction must be run again",
            StoreErrorKind::Corrupt => "a stored receipt cannot be read",
            StoreErrorKind::NewerSchema => "the receipt schema is newer than this program",
            StoreErrorKind::BatchTooLarge => "the batch is larger than is allowed",
            StoreErrorKind::Misuse => "the receipt store was called in a way that cannot work",
        }
    }
}

impl StoreError {
    /// An error with nothing below it.
    pub const fn new(kind: StoreErrorKind) -> Self {
        Self { kind, source: None }
    }

    /// An error of the engine.
    pub fn with_source(
        kind: StoreErrorKind,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self {
            kind,
            source: Some(source.into()),
        }
    }

    /// The kind of failure.
    pub const fn kind(&self) -> StoreErrorKind {
        self.kind
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.text())
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| &**source as _)
    }
}

/// A lease could not be settled, renewed or released. The lease is handed back.
#[derive(Debug, thiserror::Error)]
#[error("the lease could not be settled")]
pub struct SettleError {
    /// The lease, to try again with or to drop. After [`SettleFault::LeaseLost`] dropping it is
    /// quiet, since it stands for nothing any more.
    pub lease: Box<Lease>,
    /// What went wrong.
    #[source]
    pub fault: SettleFault,
}

/// Why a lease could not be settled.
#[derive(Debug, thiserror::Error)]
pub enum SettleFault {
    /// Somebody claimed the event after this lease had run out, or an operator forgot it. Nothing
    /// was written: what the other one writes stands.
    #[error("the lease was lost to another claim")]
    LeaseLost,
    /// The verdict's result is longer than [`MAX_RESULT_BYTES`](super::MAX_RESULT_BYTES).
    #[error("the result is too long to be kept")]
    ResultTooLong,
    /// The store could not answer; whether it wrote is unknown. Settling again is safe.
    #[error("the receipt store failed")]
    Store(#[source] StoreError),
}

impl SettleError {
    /// For stores: nothing was written, because the fence no longer matches.
    pub fn lost(mut lease: Lease) -> Self {
        lease.disarm();
        Self {
            lease: Box::new(lease),
            fault: SettleFault::LeaseLost,
        }
    }

    /// For stores: the engine failed.
    pub fn store(lease: Lease, error: StoreError) -> Self {
        Self {
            lease: Box::new(lease),
            fault: SettleFault::Store(error),
        }
    }

    /// For stores: the result is over the limit.
    pub fn too_long(lease: Lease) -> Self {
        Self {
            lease: Box::new(lease),
            fault: SettleFault::ResultTooLong,
        }
    }
}
