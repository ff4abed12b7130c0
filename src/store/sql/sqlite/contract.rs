//! The contract of stores, by the writer and the readers.

use std::time::Duration;

use crate::{
    event::EventKey,
    store::{
        Claim, Claiming, IdempotencyStore, Lease, Receipt, Ruling, SettleError, StoreError,
        StoreFuture, Verdict,
    },
};

use super::{
    SqliteStore,
    lane::Unwanted,
    verbs::{Stand, Verbs, moment},
};

/// Most rows that one transaction purges, so that claims are never kept waiting for long.
const PURGE_STEP: usize = 500;

impl IdempotencyStore for SqliteStore {
    fn claim(&self, claiming: Claiming) -> StoreFuture<'_, Result<Claim, StoreError>> {
        Box::pin(async move {
            if let Some(stored) = self.find(claiming.key.clone()).await?
                && let Ruling::Answer(claim) = stored.ruling(&claiming, moment(&*self.clock))
            {
                return Ok(claim);
            }
            self.claim_new(claiming).await
        })
    }

    fn settle(
        &self,
        lease: Lease,
        verdict: Verdict,
    ) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        Box::pin(async move {
            if !verdict.fits() {
                return Err(SettleError::too_long(lease));
            }
            let stand = Stand::of(&lease);
            let settle = move |verbs: &mut Verbs<'_>| verbs.settle(&stand, verdict);
            ended(lease, self.write(Unwanted::Run, settle).await)
        })
    }

    fn renew(&self, lease: Lease, length: Duration) -> StoreFuture<'_, Result<Lease, SettleError>> {
        Box::pin(async move {
            let stand = Stand::of(&lease);
            let renew = move |verbs: &mut Verbs<'_>| verbs.renew(&stand, length);
            match self.write(Unwanted::Skip, renew).await {
                Ok(Some(receipt)) => Ok(lease.renewed(receipt.until.unwrap_or(receipt.changed_at))),
                Ok(None) => Err(SettleError::lost(lease)),
                Err(error) => Err(SettleError::store(lease, error)),
            }
        })
    }

    fn release(&self, lease: Lease) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        Box::pin(async move {
            let stand = Stand::of(&lease);
            let release = move |verbs: &mut Verbs<'_>| verbs.release(&stand);
            ended(lease, self.write(Unwanted::Run, release).await)
        })
    }

    fn get<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        Box::pin(self.find(key.clone()))
    }

    fn forget<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        let key = key.clone();
        Box::pin(self.write(Unwanted::Run, move |verbs| verbs.forget(&key)))
    }

    fn purge(&self, at_most: usize) -> StoreFuture<'_, Result<usize, StoreError>> {
        Box::pin(async move {
            let mut purged = 0_usize;
            loop {
                let step = at_most.saturating_sub(purged).min(PURGE_STEP);
                // Cannot fail: a step is small.
                let most = i64::try_from(step).unwrap_or_default();
                let gone = match step {
                    0 => 0,
                    _ => self.write(Unwanted::Skip, move |v| v.purge(most)).await?,
                };
                purged = purged.saturating_add(gone);
                if gone < step || step == 0 {
                    return Ok(purged);
                }
            }
        })
    }
}

/// The lease stays with the caller until the answer is known, so that it can be handed back
/// whatever happens to the writer.
fn ended(
    lease: Lease,
    written: Result<Option<Receipt>, StoreError>,
) -> Result<Receipt, SettleError> {
    match written {
        Ok(Some(receipt)) => {
            lease.settled();
            Ok(receipt)
        }
        Ok(None) => Err(SettleError::lost(lease)),
        Err(error) => Err(SettleError::store(lease, error)),
    }
}
