//! One attempt at one event: act, renew meanwhile, settle.

use std::{error::Error, future::Future, panic::AssertUnwindSafe, pin::pin, time::Duration};

use futures_util::{
    FutureExt as _,
    future::{Either, select},
};

use crate::{
    gate::HandlerError,
    store::{Lease, MAX_RESULT_BYTES, Receipt, SettleError, SettleFault, State, Verdict},
};

use super::{InboxStore, Job, Notice, Parked, Task, Worker};

/// How often a lease is renewed while its handler runs: with a third of it gone, so that two
/// renewals may fail before it is over.
const BEATS: u32 = 3;

/// How often a verdict is written before the event is left to the lease's end.
const SETTLES: u32 = 5;

/// What came of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Processed,
    Failed,
    Dead,
    Lost,
    /// The store did not take the verdict.
    Unsettled,
}

/// A handler that panicked. Its text went to the panic hook.
#[derive(Debug, thiserror::Error)]
#[error("the handler panicked")]
struct Panicked;

type Done = Result<Verdict, HandlerError>;

impl<S, H, Acting> Worker<S, H>
where
    S: InboxStore,
    H: Fn(Job) -> Acting,
    Acting: Future<Output = Done>,
{
    pub(super) async fn attempt<Pause: Future>(
        &self,
        lease: Lease,
        parked: Parked,
        sleep: &impl Fn(Duration) -> Pause,
    ) -> End {
        let job = Job::new(parked, &lease);
        let Some((lease, done)) = self.act(lease, job, sleep).await else {
            return End::Lost;
        };
        let (verdict, error) = match done {
            Ok(Verdict::Done(mut result)) => {
                // Its action has happened, so what is too long is cut.
                result.truncate(MAX_RESULT_BYTES);
                (Verdict::Done(result), None)
            }
            Ok(Verdict::Dead(mut reason)) => {
                reason.truncate(MAX_RESULT_BYTES);
                (Verdict::Dead(reason), None)
            }
            Ok(retry @ Verdict::Retry { .. }) => (retry, None),
            Err(error) => {
                let wait = self
                    .backoff
                    .wait(lease.key(), lease.attempt(), lease.fence());
                (Verdict::retry(wait), Some(error))
            }
        };
        self.settle(lease, verdict, error, sleep).await
    }

    /// Runs the handler, and renews the lease as long as it takes. Nothing if the lease was lost.
    async fn act<Pause: Future>(
        &self,
        mut lease: Lease,
        job: Job,
        sleep: &impl Fn(Duration) -> Pause,
    ) -> Option<(Lease, Done)> {
        // Within the future, so that a panic of what makes the handler's future is caught too.
        let acting = AssertUnwindSafe(async { (self.handler)(job).await }).catch_unwind();
        let mut acting = pin!(acting.map(|done| done.unwrap_or_else(|_| Err(Panicked.into()))));
        let beat = self.lease.checked_div(BEATS).unwrap_or(self.lease);
        loop {
            match select(acting.as_mut(), pin!(sleep(beat))).await {
                Either::Left((done, _)) => return Some((lease, done)),
                Either::Right(_) => {}
            }
            let renewing = self.store.renew(lease, self.lease);
            let (renewed, done) = match select(acting.as_mut(), renewing).await {
                // The renewal has the lease.
                Either::Left((done, renewing)) => (renewing.await, Some(done)),
                Either::Right((renewed, _)) => (renewed, None),
            };
            lease = match renewed {
                Ok(lease) => lease,
                Err(SettleError { lease, fault }) => {
                    if self.report(&lease, &fault, Task::Renew) {
                        return None;
                    }
                    *lease
                }
            };
            if let Some(done) = done {
                return Some((lease, done));
            }
        }
    }

    async fn settle<Pause: Future>(
        &self,
        mut lease: Lease,
        verdict: Verdict,
        error: Option<HandlerError>,
        sleep: &impl Fn(Duration) -> Pause,
    ) -> End {
        for try_ in 1..=SETTLES {
            let (failed, fault) = match self.store.settle(lease, verdict.clone()).await {
                Ok(receipt) => return self.settled(&receipt, error.as_deref()),
                Err(SettleError { lease, fault }) => (*lease, fault),
            };
            if self.report(&failed, &fault, Task::Settle) {
                return End::Lost;
            }
            lease = failed;
            if try_ < SETTLES {
                sleep(self.errors.wait(lease.key(), try_, lease.fence())).await;
            }
        }
        // Dropped unsettled, it is reported once more, and the event runs again at its end.
        End::Unsettled
    }

    fn settled(&self, receipt: &Receipt, error: Option<&(dyn Error + Send + Sync)>) -> End {
        match receipt.state {
            State::Processed => End::Processed,
            State::Dead => {
                self.observer.notice(&Notice::Dead { receipt, error });
                End::Dead
            }
            State::Received | State::InProgress | State::Failed => {
                self.observer.notice(&Notice::Failed { receipt, error });
                End::Failed
            }
        }
    }

    /// Tells why a lease could not be settled, and returns whether it was lost.
    pub(super) fn report(&self, lease: &Lease, fault: &SettleFault, task: Task) -> bool {
        match fault {
            SettleFault::LeaseLost => {
                self.observer.notice(&Notice::LeaseLost {
                    key: lease.key(),
                    fence: lease.fence(),
                    attempt: lease.attempt(),
                });
                true
            }
            SettleFault::Store(error) => {
                self.observer.notice(&Notice::Store { task, error });
                false
            }
            // Cut above, so not seen; if it ever were, the event would run again.
            SettleFault::ResultTooLong => false,
        }
    }
}
