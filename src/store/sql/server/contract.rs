//! The contract of stores, on the pool: the same for each server.

use crate::store::{Lease, Receipt, SettleError, StoreError};

use super::Ended;

/// Implements the contract for a store with a `pool` and `verbs`. Each call takes a connection of
/// the pool, as a session whose statements are transactions of their own.
macro_rules! contract {
    ($store:ident) => {
        const _: () = {
            use std::time::Duration;

            use $crate::{
                event::EventKey,
                store::{
                    Claim, Claiming, IdempotencyStore, Lease, Receipt, SettleError, StoreError,
                    StoreFuture, Verdict,
                    sql::server::{Alone, Ended, written},
                },
            };

            impl $store {
                async fn claim_alone(&self, claiming: Claiming) -> Result<Claim, StoreError> {
                    let (claim, _) = self
                        .verbs
                        .claim(
                            &mut Alone(&mut *self.pool.acquire().await?),
                            claiming,
                            false,
                        )
                        .await?;
                    Ok(claim)
                }

                async fn settle_alone(
                    &self,
                    lease: &Lease,
                    verdict: Verdict,
                ) -> Result<Ended, StoreError> {
                    self.verbs
                        .settle(
                            &mut Alone(&mut *self.pool.acquire().await?),
                            lease,
                            verdict,
                            None,
                        )
                        .await
                }

                async fn renew_alone(
                    &self,
                    lease: &Lease,
                    length: Duration,
                ) -> Result<Ended, StoreError> {
                    self.verbs
                        .renew(&mut Alone(&mut *self.pool.acquire().await?), lease, length)
                        .await
                }

                async fn release_alone(&self, lease: &Lease) -> Result<Ended, StoreError> {
                    self.verbs
                        .release(&mut Alone(&mut *self.pool.acquire().await?), lease)
                        .await
                }
            }

            impl IdempotencyStore for $store {
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

                fn renew(
                    &self,
                    lease: Lease,
                    length: Duration,
                ) -> StoreFuture<'_, Result<Lease, SettleError>> {
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
                    Box::pin(async move {
                        self.verbs
                            .find(&mut Alone(&mut *self.pool.acquire().await?), key)
                            .await
                    })
                }

                fn forget<'a>(
                    &'a self,
                    key: &'a EventKey,
                ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
                    Box::pin(async move {
                        self.verbs
                            .forget(&mut Alone(&mut *self.pool.acquire().await?), key)
                            .await
                    })
                }

                fn purge(&self, at_most: usize) -> StoreFuture<'_, Result<usize, StoreError>> {
                    Box::pin(async move {
                        self.verbs
                            .purge(&mut Alone(&mut *self.pool.acquire().await?), at_most)
                            .await
                    })
                }
            }
        };
    };
}
pub(in crate::store::sql) use contract;

/// The lease stays with the caller until the answer is known, so that it can be handed back
/// whatever happens to the server.
pub(in crate::store::sql) fn written(
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
