//! The flow of each verb over the statements of a session.

use std::{sync::Arc, time::Duration};

use time::OffsetDateTime;

use crate::{
    clock::{Clock, from_micros, micros, micros_after},
    event::EventKey,
    store::{
        Claim, Claiming, Fence, Lease, OnAbandoned, Receipt, Ruling, SettleFault, State,
        StoreError, StoreErrorKind, Verdict,
        sql::tx::{TxLease, TxMark, TxSettleError},
    },
};

use super::{Ask, Attempt, Change, Changed, Session, TRIES};

/// Most rows that one statement purges, so that it holds few locks, and none for long.
const PURGE_STEP: i64 = 100;

/// When to ask again while somebody's claim is not committed, so that nobody can know how long it
/// takes.
const SOON: Duration = Duration::from_secs(1);

/// What the verbs need to know beside a session.
pub(in crate::store::sql) struct Verbs {
    /// Instead of the server's clock; for tests.
    pub(in crate::store::sql) clock: Option<Arc<dyn Clock>>,
    pub(in crate::store::sql) on_abandoned: Arc<dyn OnAbandoned>,
}

/// What settling came to.
#[derive(Debug)]
pub(in crate::store::sql) enum Ended {
    Written(Receipt),
    Lost,
    /// The lease is of another transaction.
    Elsewhere,
}

impl From<Changed> for Ended {
    fn from(changed: Changed) -> Self {
        match changed.written {
            Some(receipt) => Ended::Written(receipt),
            None if changed.here => Ended::Lost,
            None => Ended::Elsewhere,
        }
    }
}

impl Verbs {
    pub(in crate::store::sql) fn now(&self) -> Option<i64> {
        self.clock.as_ref().map(|clock| micros(clock.now()))
    }

    pub(in crate::store::sql) async fn find(
        &self,
        session: &mut impl Session,
        key: &EventKey,
    ) -> Result<Option<Receipt>, StoreError> {
        Ok(session.find(key, self.now()).await?.stored)
    }

    /// Looks first, so that a duplicate locks and writes nothing; then one statement decides. The look
    /// may be that statement.
    ///
    /// `lasting` says that a transaction of the caller's is around it. If the driver does not know of
    /// one, the look must tell before anything is written. Its mark is returned with a lease.
    pub(in crate::store::sql) async fn claim(
        &self,
        session: &mut impl Session,
        claiming: Claiming,
        lasting: bool,
    ) -> Result<(Claim, TxMark), StoreError> {
        for _ in 0..TRIES {
            let (look, attempt) = if lasting && !session.is_lasting() {
                (session.find(&claiming.key, self.now()).await?, None)
            } else {
                session.find_or_insert(&claiming, self.now()).await?
            };
            let now = from_micros(look.now).ok_or_else(corrupt)?;
            if let Some(stored) = &look.stored
                && let Ruling::Answer(claim) = stored.ruling(&claiming, now)
            {
                return Ok((claim, TxMark::Nowhere));
            }
            let attempt = match attempt {
                Some(attempt) => attempt,
                None => {
                    let ask = Ask {
                        claiming: &claiming,
                        now: self.now(),
                        look: &look,
                        lasting,
                    };
                    session.claim(&ask).await?
                }
            };
            match attempt {
                Attempt::Wrote(dead, _) if dead.state == State::Dead => {
                    return Ok((Claim::Dead(dead), TxMark::Nowhere));
                }
                Attempt::Wrote(won, mark) => {
                    let lease = Lease::issue(claiming, &won, self.on_abandoned.clone());
                    return Ok((Claim::New(lease), mark));
                }
                Attempt::Held => {
                    return Ok((held(&claiming, look.stored, now), TxMark::Nowhere));
                }
                Attempt::NoTransaction => {
                    return Err(StoreError::with_source(
                        StoreErrorKind::Misuse,
                        "the connection is not in a transaction",
                    ));
                }
                #[cfg(feature = "sqlx-mysql")]
                Attempt::Saw(stored) => {
                    if let Ruling::Answer(claim) = stored.ruling(&claiming, now) {
                        return Ok((claim, TxMark::Nowhere));
                    }
                }
                // Somebody else has written since the look.
                Attempt::Refused => {}
            }
        }
        Err(StoreError::new(StoreErrorKind::Busy))
    }

    pub(in crate::store::sql) async fn settle(
        &self,
        session: &mut impl Session,
        lease: &Lease,
        verdict: Verdict,
        transaction: Option<&TxMark>,
    ) -> Result<Ended, StoreError> {
        // While the fence stands, the row's attempts are the lease's. Judged at the beginning of
        // time, the end of a wait is its length, and the server adds it to its own clock.
        let beginning = OffsetDateTime::UNIX_EPOCH;
        let (state, until, result) =
            verdict.outcome(lease.attempt(), lease.max_attempts(), beginning);
        let change = Change {
            key: lease.key(),
            fence: lease.fence().0,
            state,
            wait: until.map(micros),
            result,
            now: self.now(),
            transaction,
        };
        Ok(session.change(&change).await?.into())
    }

    /// Settles in the caller's transaction. The lease stays here until the answer is known.
    pub(in crate::store::sql) async fn settle_in<S: Session>(
        &self,
        session: &mut S,
        lease: TxLease,
        verdict: Verdict,
    ) -> Result<Receipt, TxSettleError> {
        let misuse = || StoreError::new(StoreErrorKind::Misuse);
        if !S::knows(lease.mark()) {
            return Err(TxSettleError::store(lease, misuse()));
        }
        if !verdict.fits() {
            return Err(TxSettleError::new(lease, SettleFault::ResultTooLong));
        }
        let ended = self.settle(session, &lease, verdict, Some(lease.mark()));
        match ended.await {
            Ok(Ended::Written(receipt)) => {
                lease.settled();
                Ok(receipt)
            }
            Ok(Ended::Lost) => Err(TxSettleError::new(lease, SettleFault::LeaseLost)),
            Ok(Ended::Elsewhere) => Err(TxSettleError::store(lease, misuse())),
            Err(error) => Err(TxSettleError::store(lease, error)),
        }
    }

    pub(in crate::store::sql) async fn renew(
        &self,
        session: &mut impl Session,
        lease: &Lease,
        length: Duration,
    ) -> Result<Ended, StoreError> {
        let wait = Some(micros_after(0, length));
        self.put(session, lease, State::InProgress, wait).await
    }

    pub(in crate::store::sql) async fn release(
        &self,
        session: &mut impl Session,
        lease: &Lease,
    ) -> Result<Ended, StoreError> {
        self.put(session, lease, State::Failed, None).await
    }

    async fn put(
        &self,
        session: &mut impl Session,
        lease: &Lease,
        state: State,
        wait: Option<i64>,
    ) -> Result<Ended, StoreError> {
        let change = Change {
            key: lease.key(),
            fence: lease.fence().0,
            state,
            wait,
            result: Vec::new(),
            now: self.now(),
            transaction: None,
        };
        Ok(session.change(&change).await?.into())
    }

    pub(in crate::store::sql) async fn forget(
        &self,
        session: &mut impl Session,
        key: &EventKey,
    ) -> Result<Option<Receipt>, StoreError> {
        session.forget(key).await
    }

    pub(in crate::store::sql) async fn purge(
        &self,
        session: &mut impl Session,
        at_most: usize,
    ) -> Result<usize, StoreError> {
        let mut left = i64::try_from(at_most).unwrap_or(i64::MAX);
        let mut purged = 0_usize;
        loop {
            let step = left.min(PURGE_STEP);
            if step == 0 {
                return Ok(purged);
            }
            let gone = session.purge(self.now(), step).await?;
            left = left.saturating_sub(gone);
            purged = purged.saturating_add(usize::try_from(gone).unwrap_or_default());
            if gone < step {
                return Ok(purged);
            }
        }
    }
}

/// Somebody's claim is not committed yet: what it will write cannot be seen. The receipt is what
/// is stored from before; if nothing is, what is known, with a fence of 0.
pub(in crate::store::sql) fn held(
    claiming: &Claiming,
    stored: Option<Receipt>,
    now: OffsetDateTime,
) -> Claim {
    let receipt = stored.unwrap_or_else(|| Receipt {
        fence: Fence(0),
        ..Receipt::first(claiming, now, Fence(0))
    });
    let retry_after = claiming.lease.clamp(Duration::from_micros(1), SOON);
    Claim::InProgress {
        retry_after,
        receipt,
    }
}

pub(in crate::store::sql) fn corrupt() -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt)
}
