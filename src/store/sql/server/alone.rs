//! Statements that are transactions of their own.

use crate::{
    event::EventKey,
    store::{Claiming, Receipt, StoreError, sql::tx::TxMark},
};

use super::{Ask, Attempt, Change, Changed, Look, Session};

/// How often is tried what somebody else came between, or what the server called off for an isolation
/// level that is stricter than it needs. Each time somebody else has got on, so this many are never
/// needed where nobody waits. MySQL's slots are waited for, ten milliseconds at a time: two seconds.
pub(in crate::store::sql) const TRIES: usize = 200;

/// A session of a pool, whose default isolation level may be anything. A statement that was called
/// off has written nothing, and sees what is there when it is run again.
#[derive(Debug)]
pub(in crate::store::sql) struct Alone<'c, S>(pub(in crate::store::sql) &'c mut S);

macro_rules! again {
    ($call:expr) => {{
        let mut left = $crate::store::sql::server::TRIES;
        loop {
            left = left.saturating_sub(1);
            let done: Result<_, $crate::store::StoreError> = $call.await;
            match done {
                Err(error) if error.kind() == $crate::store::StoreErrorKind::Serialization => {
                    if left == 0 {
                        // There is no transaction of the caller's to run again.
                        return Err($crate::store::StoreError::with_source(
                            $crate::store::StoreErrorKind::Busy,
                            error,
                        ));
                    }
                }
                done => return done,
            }
        }
    }};
}

pub(in crate::store::sql) use again;

impl<S: Session> Session for Alone<'_, S> {
    type Seen = S::Seen;

    fn knows(mark: &TxMark) -> bool {
        S::knows(mark)
    }

    fn is_alone(seen: &S::Seen) -> Result<(), StoreError> {
        S::is_alone(seen)
    }

    fn is_lasting(&self) -> bool {
        self.0.is_lasting()
    }

    async fn find(
        &mut self,
        key: &EventKey,
        now: Option<i64>,
    ) -> Result<Look<S::Seen>, StoreError> {
        again!(async {
            let look = self.0.find(key, now).await?;
            S::is_alone(&look.seen)?;
            Ok::<_, StoreError>(look)
        })
    }

    async fn find_or_insert(
        &mut self,
        claiming: &Claiming,
        now: Option<i64>,
    ) -> Result<(Look<S::Seen>, Option<Attempt>), StoreError> {
        again!(async {
            let (look, attempt) = self.0.find_or_insert(claiming, now).await?;
            S::is_alone(&look.seen)?;
            Ok::<_, StoreError>((look, attempt))
        })
    }

    async fn claim(&mut self, ask: &Ask<'_, S::Seen>) -> Result<Attempt, StoreError> {
        again!(self.0.claim(ask))
    }

    async fn change(&mut self, change: &Change<'_>) -> Result<Changed, StoreError> {
        again!(self.0.change(change))
    }

    async fn forget(&mut self, key: &EventKey) -> Result<Option<Receipt>, StoreError> {
        again!(self.0.forget(key))
    }

    async fn purge(&mut self, now: Option<i64>, at_most: i64) -> Result<i64, StoreError> {
        again!(self.0.purge(now, at_most))
    }
}
