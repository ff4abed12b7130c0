//! Claims in the caller's own transaction.

use sqlx::MySqlConnection;

use crate::store::{
    Claiming, Receipt, StoreError, Verdict,
    sql::tx::{TxClaim, TxLease, TxSettleError},
};
#[cfg(doc)]
use crate::store::{SettleFault, StoreErrorKind};

use super::MySqlStore;

impl MySqlStore {
    /// Claims an event in your own transaction, so that the receipt and your rows are one commit:
    /// the event's effects in this database happen exactly once. The connection is yours, of this
    /// store's pool or any other to the same database. You commit; this never does.
    ///
    /// ```no_run
    /// # use hookproof::{Claiming, MySqlStore, Verdict, store::sql::TxClaim};
    /// # async fn run(store: MySqlStore, pool: sqlx::MySqlPool, claiming: Claiming) -> Result<(), Box<dyn std::error::Error>> {
    /// let mut tx = pool.begin().await?;
    /// if let TxClaim::New(lease) = store.claim_in(&mut *tx, claiming).await? {
    ///     sqlx::query("INSERT INTO invoice (event) VALUES (?)")
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
    /// An event has a slot, one of 65,536. A claim in a transaction whose slot is that of an event
    /// in somebody's open transaction cannot tell the two apart, and is told `InProgress` for at
    /// most a second. On the pool they are told apart; there such a claim goes on for two seconds
    /// and is then [`StoreErrorKind::Busy`].
    ///
    /// **Isolation.** `READ COMMITTED` and `REPEATABLE READ` are the same to it: it reads what
    /// counts as it is, and not as it was when the transaction began. A MariaDB whose
    /// `innodb_snapshot_isolation` is on (its default from 11.6) does not allow that under
    /// `REPEATABLE READ`: there an event that was claimed since is
    /// [`StoreErrorKind::Serialization`]. Under `SERIALIZABLE` every read locks, so claims wait for
    /// one another, and deadlock. `READ UNCOMMITTED` is refused, where the session says so.
    ///
    /// What a claim that was won has locked stays locked until the transaction ends, as does a
    /// row that was claimed by somebody else between its look and its insert.
    /// Dropped unsettled, the lease is reported; roll back, and the event is as it was.
    ///
    /// # Errors
    ///
    /// As [`claim`](crate::IdempotencyStore::claim). **Roll back after any error.** After
    /// [`StoreErrorKind::Serialization`], a deadlock among others, MySQL has done so by itself, and
    /// what you write next is no part of a transaction any more. [`StoreErrorKind::Misuse`] if the
    /// connection is not in a transaction, or the database has no receipts.
    pub async fn claim_in(
        &self,
        tx: &mut MySqlConnection,
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
    /// # use hookproof::{MySqlStore, Lease, Verdict};
    /// async fn settle(store: MySqlStore, tx: &mut sqlx::MySqlConnection, lease: Lease) {
    ///     let _ = store.settle_in(tx, lease, Verdict::done("")).await;
    /// }
    /// ```
    ///
    /// ```compile_fail,E0308
    /// # use hookproof::{IdempotencyStore, MySqlStore, store::sql::TxLease, Verdict};
    /// async fn settle(store: MySqlStore, lease: TxLease) {
    ///     let _ = store.settle(lease, Verdict::done("")).await;
    /// }
    /// ```
    ///
    /// MySQL has no number for a transaction. A lease whose transaction was committed without
    /// settling it is therefore still good in a later one on the same connection, as long as nobody
    /// else has claimed the event.
    ///
    /// # Errors
    ///
    /// [`SettleFault::LeaseLost`] if the claim was rolled back, by itself or with its transaction;
    /// [`SettleFault::ResultTooLong`]; and [`SettleFault::Store`], with
    /// [`StoreErrorKind::Misuse`] for the lease of another connection and outside of transactions.
    pub async fn settle_in(
        &self,
        tx: &mut MySqlConnection,
        lease: TxLease,
        verdict: Verdict,
    ) -> Result<Receipt, TxSettleError> {
        self.verbs.settle_in(tx, lease, verdict).await
    }
}
