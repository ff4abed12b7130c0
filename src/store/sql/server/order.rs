//! The versions of objects: the flow over the statements of a session.

use std::{future::Future, time::Duration};

use crate::{
    clock::micros_after,
    order::{Advance, ObjectKey, Version},
    store::{StoreError, StoreErrorKind},
};

use super::Verbs;

/// How often an advance is asked again after another writer came between its statement's look and
/// its write.
const TRIES: usize = 50;

/// Most rows that one statement purges, so that it holds few locks, and none for long.
const PURGE_STEP: i64 = 100;

/// One connection, as [`Session`](super::Session) is, for objects.
pub(in crate::store::sql) trait OrderSession: Send {
    /// The version that stands. Takes no lock and writes nothing.
    fn current(
        &mut self,
        object: &ObjectKey,
    ) -> impl Future<Output = Result<Option<Version>, StoreError>> + Send;

    /// Inserts, or changes what is older, or writes nothing.
    fn advance(&mut self, ask: &Moved<'_>)
    -> impl Future<Output = Result<Move, StoreError>> + Send;

    /// Deletes the row.
    fn forget_object(
        &mut self,
        object: &ObjectKey,
    ) -> impl Future<Output = Result<Option<Version>, StoreError>> + Send;

    /// Deletes some rows of objects that were deleted so many microseconds ago. Returns how many.
    fn purge_deleted(
        &mut self,
        now: Option<i64>,
        retention: i64,
        at_most: i64,
    ) -> impl Future<Output = Result<i64, StoreError>> + Send;
}

/// When the transaction of a connection began, by the server's clock.
#[cfg(feature = "sqlx-postgres")]
pub(in crate::store::sql) trait Begun: Send {
    /// Asks for it.
    fn begun(&mut self) -> impl Future<Output = Result<i64, StoreError>> + Send;
}

/// What is asked of the advancing statement.
#[derive(Debug)]
pub(in crate::store::sql) struct Moved<'c> {
    pub(in crate::store::sql) object: &'c ObjectKey,
    pub(in crate::store::sql) version: &'c Version,
    pub(in crate::store::sql) now: Option<i64>,
    /// When the caller's transaction began, or whatever else the engine tells it by; nothing on a
    /// pool.
    pub(in crate::store::sql) begun: Option<i64>,
}

/// What the advancing statement did.
#[derive(Debug)]
pub(in crate::store::sql) enum Move {
    /// Wrote; this stood before.
    Applied(Option<Version>),
    /// Nothing; this was to be seen.
    Refused(Option<Version>),
    /// Nothing: this is not the transaction that was asked about, so there is none that lasts.
    NoTransaction,
}

impl Verbs {
    /// One statement decides. What it refuses is not newer than what stands, unless another writer
    /// came between what it saw and what it wrote: then it is asked again.
    pub(in crate::store::sql) async fn advance(
        &self,
        session: &mut impl OrderSession,
        object: &ObjectKey,
        version: &Version,
        begun: Option<i64>,
    ) -> Result<Advance, StoreError> {
        for _ in 0..TRIES {
            let ask = Moved {
                object,
                version,
                now: self.now(),
                begun,
            };
            match session.advance(&ask).await? {
                Move::Applied(previous) => return Ok(Advance::Applied { previous }),
                Move::NoTransaction => return Err(no_transaction()),
                Move::Refused(seen) => match version.judge(seen)? {
                    Advance::Applied { .. } => {}
                    refused => return Ok(refused),
                },
            }
        }
        Err(StoreError::new(StoreErrorKind::Busy))
    }

    pub(in crate::store::sql) async fn purge_deleted(
        &self,
        session: &mut impl OrderSession,
        retention: Duration,
        at_most: usize,
    ) -> Result<usize, StoreError> {
        let retention = micros_after(0, retention);
        let mut left = i64::try_from(at_most).unwrap_or(i64::MAX);
        let mut purged = 0_usize;
        loop {
            let step = left.min(PURGE_STEP);
            if step == 0 {
                return Ok(purged);
            }
            let gone = session.purge_deleted(self.now(), retention, step).await?;
            left = left.saturating_sub(gone);
            purged = purged.saturating_add(usize::try_from(gone).unwrap_or_default());
            if gone < step {
                return Ok(purged);
            }
        }
    }
}

pub(super) fn no_transaction() -> StoreError {
    StoreError::with_source(
        StoreErrorKind::Misuse,
        "the connection is not in a transaction",
    )
}
