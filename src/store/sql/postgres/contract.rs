//! The contract of stores, on the pool.

use std::time::Duration;

use crate::{
    event::EventKey,
    store::{
        Claim, Claiming, IdempotencyStore, Lease, Receipt, SettleError, StoreError, StoreFuture,
        Verdict,
        sql::server::{Alone, Ended},
    },
};

use super::PostgresStore;

/// A connection of the pool, as a session whose statements are transactions of their own.
macro_rules! session {
    ($store:expr) => {
        Alone(&mut *$store.pool.acquire().await?)
    };
}

impl PostgresStore {
    async fn claim_alone(&self, claiming: Claiming) -> Result<Claim, StoreError> {
        let (claim, _) = self
            .verbs
            .claim(&mut session!(self), claiming, false)
            .await?;
        Ok(claim)
    }

    async fn settle_alone(&self, lease: &Lease, verdict: Verdict) -> Result<Ended, StoreError> {
        self.verbs
            .settle(&mut session!(self), lease, verdict, None)
            .await
    }

    async fn renew_alone(&self, lease: &Lease, length: Duration) -> Result<Ended, StoreError> {
        self.verbs.renew(&mut session!(self), lease, length).await
    }

    async fn release_alone(&self, lease: &Lease) -> Result<Ended, StoreError> {
        self.verbs.release(&mut session!(self), lease).await
    }
}

impl IdempotencyStore for PostgresStore {
    fn claim(&self, claiming: Claiming) -> StoreFuture<'_, Result<Claim, StoreError>> {
        Box::pin(self.claim_alone(claiming))
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
            let ended = self.settle_alone(&lease, verdict).await;
            let (lease, receipt) = written(lease, ended)?;
            lease.settled();
            Ok(receipt)
        })
    }

    fn renew(&self, lease: Lease, length: Duration) -> StoreFuture<'_, Result<Lease, SettleError>> {
        Box::pin(async move {
            let ended = self.renew_alone(&lease, length).await;
            let (lease, receipt) = written(lease, ended)?;
            Ok(lease.renewed(receipt.until.unwrap_or(receipt.changed_at)))
        })
    }

    fn release(&self, lease: Lease) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        Box::pin(async move {
            let ended = self.release_alone(&lease).await;
            let (lease, receipt) = written(lease, ended)?;
            lease.settled();
            Ok(receipt)
        })
    }

    fn get<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        Box::pin(async move { self.verbs.find(&mut session!(self), key).await })
    }

    fn forget<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        Box::pin(async move { self.verbs.forget(&mut session!(self), key).await })
    }

    fn purge(&self, at_most: usize) -> StoreFuture<'_, Result<usize, StoreError>> {
        Box::pin(async move { self.verbs.purge(&mut session!(self), at_most).await })
    }
}

/// The lease stays with the caller until the answer is known, so that it can be handed back
/// whatever happens to the server.
fn written(
    lease: Lease,
    ended: Result<Ended, StoreError>,
) -> Result<(Lease, Receipt), SettleError> {
    match ended {
        Ok(Ended::Written(receipt)) => Ok((lease, receipt)),
        // On the pool no transaction is asked for, so none is the wrong one.
        Ok(Ended::Lost | Ended::Elsewhere) => Err(SettleError::lost(lease)),
        Err(error) => Err(SettleError::store(lease, error)),
    }
}
