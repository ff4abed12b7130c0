//! The ways in which a batch is handled.

use hookproof::{
    Claim, IdempotencyStore, Lease, StoreError, Verdict,
    store::{SettleFault, sql::TxClaim},
};

use super::{
    backend::{Backend, Effect, Hand, Tx},
    handler::{Desk, Halt},
    plan::{FAILS, Fault, Point},
    wire::Told,
};

impl<B: Backend> Desk<B> {
    pub(crate) async fn in_a_transaction(
        &self,
        hand: &mut B::Hand,
        batch: &[String],
        halt: &mut Halt<'_>,
    ) -> Result<Vec<Told>, StoreError> {
        halt.at(Point::Taken, batch.len());
        let mut tx = hand.begin().await?;
        halt.at(Point::Begun, batch.len());
        let (mut answers, mut leases) = (Vec::new(), Vec::new());
        for delivery in batch {
            answers.push(match tx.claim(self.claiming(delivery)).await? {
                TxClaim::New(lease) => {
                    leases.push((answers.len(), lease));
                    Told::New
                }
                TxClaim::Duplicate(_) => Told::Duplicate,
                TxClaim::InProgress { .. } => Told::InProgress,
                other => panic!("{other:?}"),
            });
        }
        halt.at(Point::Claimed, leases.len());
        for (_, lease) in &leases {
            if !fails(lease) {
                tx.act(&effect(lease)).await?;
            }
        }
        let hog = self.hog(halt).await;
        halt.at(Point::Acted, leases.len());
        drop(hog);
        let acted = leases.len();
        for (n, lease) in leases {
            let verdict = verdict(&lease);
            if matches!(verdict, Verdict::Retry { .. }) {
                answers[n] = Told::Failed;
            }
            if let Err(error) = tx.settle(lease, verdict).await {
                return match error.fault {
                    SettleFault::Store(error) => Err(error),
                    // Two copies of an event are in the batch, and the clock was set back between
                    // the claims, at which the first one's lease counts as over. All is undone.
                    SettleFault::LeaseLost => Ok(vec![Told::LeaseLost; batch.len()]),
                    SettleFault::ResultTooLong => panic!("too long"),
                };
            }
        }
        halt.at(Point::Settled, acted);
        tx.commit().await?;
        halt.at(Point::Committed, acted);
        Ok(answers)
    }

    pub(crate) async fn on_the_pool(
        &self,
        hand: &mut B::Hand,
        batch: &[String],
        halt: &mut Halt<'_>,
    ) -> Result<Vec<Told>, StoreError> {
        halt.at(Point::Taken, batch.len());
        let (mut answers, mut leases) = (Vec::new(), Vec::new());
        for delivery in batch {
            answers.push(match self.store.claim(self.claiming(delivery)).await? {
                Claim::New(lease) => {
                    leases.push((answers.len(), lease));
                    Told::New
                }
                Claim::Duplicate(_) => Told::Duplicate,
                Claim::InProgress { .. } => Told::InProgress,
                other => panic!("{other:?}"),
            });
        }
        halt.at(Point::Claimed, leases.len());
        if leases.is_empty() {
            return Ok(answers);
        }
        let mut tx = hand.begin().await?;
        for (_, lease) in &leases {
            if !fails(lease) {
                tx.act(&effect(lease)).await?;
            }
        }
        let hog = self.hog(halt).await;
        halt.at(Point::Acted, leases.len());
        drop(hog);
        tx.commit().await?;
        let acted = leases.len();
        halt.at(Point::Committed, acted);
        for (n, lease) in leases {
            answers[n] = self.settle(lease).await;
        }
        halt.at(Point::Settled, acted);
        Ok(answers)
    }

    /// Twice if need be. What is not settled then comes again when its lease has run out.
    async fn settle(&self, lease: Lease) -> Told {
        let verdict = verdict(&lease);
        let told = match verdict {
            Verdict::Retry { .. } => Told::Failed,
            _ => Told::New,
        };
        let error = match self.store.settle(lease, verdict.clone()).await {
            Ok(_) => return told,
            Err(error) => error,
        };
        let error = match error.fault {
            SettleFault::Store(_) => match self.store.settle(*error.lease, verdict).await {
                Ok(_) => return told,
                Err(error) => error,
            },
            _ => error,
        };
        match error.fault {
            SettleFault::LeaseLost => Told::LeaseLost,
            SettleFault::Store(error) => B::cause(&error),
            SettleFault::ResultTooLong => panic!("too long"),
        }
    }

    /// Leaves the others nothing, if that is what is to happen at this point.
    async fn hog(&self, halt: &Halt<'_>) -> Option<B::Hog> {
        match self.fault == Fault::Exhausted && halt.is_wanted_at(Point::Acted) {
            true => Some(self.backend.hog().await),
            false => None,
        }
    }
}

fn effect(lease: &Lease) -> Effect {
    Effect {
        event: lease.key().id().to_owned(),
        attempt: lease.attempt(),
        fence: lease.fence().0,
    }
}

/// Some events fail at first, without an effect.
fn fails(lease: &Lease) -> bool {
    lease.attempt() == 1 && usize::from(lease.key().digest()[0]).is_multiple_of(FAILS)
}

fn verdict(lease: &Lease) -> Verdict {
    match fails(lease) {
        true => Verdict::retry(std::time::Duration::ZERO),
        false => Verdict::done(lease.key().id()),
    }
}
