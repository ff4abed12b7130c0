//! Claims in the caller's own transaction.

use sqlx::PgConnection;

use crate::store::{
    Claiming, Receipt, StoreError, Verdict,
    sql::tx::{TxClaim, TxLease, TxSettleError},
};
#[cfg(doc)]
use crate::store::{SettleFault, StoreErrorKind};

use super::PostgresStore;

impl PostgresStore {
    /// Claims an event in your own transaction, so that the receipt and your rows are one commit:
    /// the event's effects in this database happen exactly once. The connection is yours, of this
    /// store's pool or any other to the same database. You commit; this never does.
    ///
    /// ```no_run
    /// # use hookproof::{Claiming, PostgresStore, Verdict, store::sql::TxClaim};
    /// # async fn run(store: PostgresStore, pool: sqlx::PgPool, claiming: Claiming) -> Result<(), Box<dyn std::error::Error>> {
    /// let mut tx = pool.begin().await?;
    /// if let TxClaim::New(lease) = store.claim_in(&mut *tx, claiming).await? {
    ///     sqlx::query("INSERT INTO invoice (event) VALUES ($1)")
    ///         .bind(lease.key().id())
    ///         .execute(&mut *tx)
    ///         .await?;
    ///     store.settle_in(&mut *tx, lease, Verdict::done("created")).await?;
    /// }
    /// tx.commit().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// **Nobody waits for it.** While your transaction is open, every other claim of the event, in a
    /// transaction or on the pool, is told [`InProgress`](TxClaim::InProgress) at once. What you
    /// will write cannot be seen by then: the receipt in that answer is what was stored before, or
    /// one with a fence of 0. What must wait for your commit or rollback: the holder of an earlier
    /// lease that ran out, when it settles, and [`forget`](crate::IdempotencyStore::forget).
    ///
    /// **Isolation.** `READ COMMITTED` is what fits best. Under `REPEATABLE READ` and
    /// `SERIALIZABLE` a transaction that began before another one's claim was committed fails with
    /// [`StoreErrorKind::Serialization`]: run it again.
    ///
    /// **Round trips.** One, new or known; two for what is taken over after a failure. In a transaction
    /// that was not begun through `sqlx` it is one more, by which the server says that there is one. If
    /// one that was is ended by a statement of your own, so that `sqlx` does not know, a claim is
    /// committed at once, and [`settle_in`](PostgresStore::settle_in) refuses its lease.
    ///
    /// Each claim that is won holds two advisory locks until the transaction ends. Dropped
    /// unsettled, the lease is reported; roll back, and the event is as it was.
    ///
    /// # Errors
    ///
    /// As [`claim`](crate::IdempotencyStore::claim). After an error of the server PostgreSQL has
    /// ended the transaction, as after any of your own: roll back. [`StoreErrorKind::Misuse`] if
    /// the connection is not in a transaction, if that has failed before, or if the database has no
    /// receipts.
    pub async fn claim_in(
        &self,
        tx: &mut PgConnection,
        claiming: Claiming,
    ) -> Result<TxClaim, StoreError> {
        let (claim, mark) = self.verbs.claim(tx, claiming, true).await?;
        Ok(TxClaim::new(claim, mark))
    }

    /// Settles a claim in the transaction that made it. You commit.
    ///
    /// A lease of the store's own ([`claim`](crate::IdempotencyStore::claim)) does not fit here,
    /// nor one from here there:
    ///
    /// ```compile_fail,E0308
    /// # use hookproof::{PostgresStore, Lease, Verdict};
    /// async fn settle(store: PostgresStore, tx: &mut sqlx::PgConnection, lease: Lease) {
    ///     let _ = store.settle_in(tx, lease, Verdict::done("")).await;
    /// }
    /// ```
    ///
    /// ```compile_fail,E0308
    /// # use hookproof::{IdempotencyStore, PostgresStore, store::sql::TxLease, Verdict};
    /// async fn settle(store: PostgresStore, lease: TxLease) {
    ///     let _ = store.settle(lease, Verdict::done("")).await;
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`SettleFault::LeaseLost`] if a savepoint around the claim was rolled back;
    /// [`SettleFault::ResultTooLong`]; and [`SettleFault::Store`], with
    /// [`StoreErrorKind::Misuse`] for the lease of another transaction.
    pub async fn settle_in(
        &self,
        tx: &mut PgConnection,
        lease: TxLease,
        verdict: Verdict,
    ) -> Result<Receipt, TxSettleError> {
        self.verbs.settle_in(tx, lease, verdict).await
    }
}
