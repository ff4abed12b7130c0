//! A claim made in the caller's own transaction has types of its own.

use std::ops::Deref;
#[cfg(feature = "rusqlite")]
use std::sync::Arc;

use crate::store::{Claim, Conflict, Lease, Receipt, SettleFault, StoreError};

/// The answer to a claim in the caller's transaction: [`Claim`], but with a [`TxLease`].
#[derive(Debug)]
#[must_use = "only `New` may act, and its lease must be settled in the same transaction"]
pub enum TxClaim {
    /// The event is yours: act in this transaction, settle in it, commit.
    New(TxLease),
    /// See [`Claim::Duplicate`].
    Duplicate(Receipt),
    /// See [`Claim::InProgress`].
    InProgress {
        /// When to ask again; never zero.
        retry_after: std::time::Duration,
        /// What is stored.
        receipt: Receipt,
    },
    /// See [`Claim::Conflict`].
    Conflict(Conflict),
    /// See [`Claim::Dead`]. If this claim is what ended it, the end is written in the transaction.
    Dead(Receipt),
}

impl TxClaim {
    pub(super) fn new(claim: Claim, mark: TxMark) -> Self {
        match claim {
            Claim::New(lease) => TxClaim::New(TxLease { lease, mark }),
            Claim::Duplicate(receipt) => TxClaim::Duplicate(receipt),
            Claim::InProgress {
                retry_after,
                receipt,
            } => TxClaim::InProgress {
                retry_after,
                receipt,
            },
            Claim::Conflict(conflict) => TxClaim::Conflict(conflict),
            Claim::Dead(receipt) => TxClaim::Dead(receipt),
        }
    }
}

/// Which transaction a lease was made in.
#[derive(Debug, Clone)]
pub(super) enum TxMark {
    /// A value of its own in this process.
    #[cfg(feature = "rusqlite")]
    Here(Arc<()>),
    /// The server's number for it, which is never given to another.
    #[cfg(feature = "sqlx-postgres")]
    Number(i64),
    /// The server's number for the connection, and what the claim has written into its row.
    #[cfg(feature = "sqlx-mysql")]
    Row { connection: i64, mark: i64 },
    /// None: the claim was answered without a lease.
    #[cfg(any(feature = "sqlx-postgres", feature = "sqlx-mysql"))]
    Nowhere,
}

impl TxMark {
    /// A new one.
    #[cfg(feature = "rusqlite")]
    pub(super) fn here() -> Self {
        Self::Here(Arc::default())
    }

    /// The server's number for the transaction; nothing for one of an engine without numbers.
    #[cfg(feature = "sqlx-postgres")]
    pub(super) const fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }
}

/// The right to act on one event inside one transaction. It reads like a [`Lease`], but can only
/// be settled in the transaction that made it, so that its effects and its receipt are committed
/// together or not at all.
///
/// Until the commit nobody else sees the claim, and a rollback makes it vanish, with its attempt
/// and its fence: give neither to another system before the commit.
///
/// Dropped unsettled it is reported like any lease. If the transaction is then committed all the
/// same, the event is claimable again at the lease's end.
#[derive(Debug)]
#[must_use = "an unsettled lease lets the event be acted on again"]
pub struct TxLease {
    lease: Lease,
    mark: TxMark,
}

impl Deref for TxLease {
    type Target = Lease;

    fn deref(&self) -> &Lease {
        &self.lease
    }
}

impl TxLease {
    #[cfg(feature = "rusqlite")]
    pub(super) fn is_of(&self, mark: &TxMark) -> bool {
        match (&self.mark, mark) {
            (TxMark::Here(made), TxMark::Here(now)) => Arc::ptr_eq(made, now),
            #[cfg(any(feature = "sqlx-postgres", feature = "sqlx-mysql"))]
            _ => false,
        }
    }

    #[cfg(any(feature = "sqlx-postgres", feature = "sqlx-mysql"))]
    pub(super) const fn mark(&self) -> &TxMark {
        &self.mark
    }

    pub(super) fn settled(self) {
        self.lease.settled();
    }
}

/// A lease could not be settled in a transaction. The lease is handed back; roll back, unless only
/// the result was too long.
#[derive(Debug, thiserror::Error)]
#[error("the lease could not be settled in the transaction")]
pub struct TxSettleError {
    /// The lease, to settle with a shorter result or to drop. After [`SettleFault::LeaseLost`]
    /// dropping it is quiet.
    pub lease: Box<TxLease>,
    /// What went wrong.
    #[source]
    pub fault: SettleFault,
}

impl TxSettleError {
    pub(super) fn new(mut lease: TxLease, fault: SettleFault) -> Self {
        if matches!(fault, SettleFault::LeaseLost) {
            lease.lease.disarm();
        }
        Self {
            lease: Box::new(lease),
            fault,
        }
    }

    pub(super) fn store(lease: TxLease, error: StoreError) -> Self {
        Self::new(lease, SettleFault::Store(error))
    }
}
