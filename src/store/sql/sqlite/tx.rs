//! Claims in the caller's own transaction.

use std::ops::Deref;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::store::{
    Claiming, Receipt, SettleFault, StoreError, StoreErrorKind, Verdict,
    sql::tx::{TxClaim, TxLease, TxMark, TxSettleError},
};

use super::{
    SqliteStore, statements as sql,
    verbs::{Stand, Verbs},
};

/// A transaction of yours that holds the write lock: a [`rusqlite::Transaction`] that is not
/// deferred.
///
/// A deferred transaction that reads first and writes later fails with "database is locked" at
/// once, whatever the busy timeout, as soon as another connection writes in between. So claims do
/// not take one:
///
/// ```compile_fail,E0308
/// # fn run(store: hookproof::SqliteStore, mut connection: rusqlite::Connection, claiming: hookproof::Claiming) {
/// let tx = connection.transaction().unwrap(); // deferred
/// let claim = store.claim_in(&tx, claiming);
/// # }
/// ```
///
/// It reads as a [`Transaction`] and a [`Connection`]. Dropped, it is rolled back.
#[derive(Debug)]
#[must_use = "it is rolled back when it is dropped"]
pub struct ImmediateTx<'c> {
    tx: Transaction<'c>,
    mark: TxMark,
}

impl<'c> ImmediateTx<'c> {
    /// Begins a transaction with the write lock. Waits for it as long as the connection's own busy
    /// timeout says, which is 5 s in rusqlite unless set.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Busy`] when that is over.
    pub fn begin(connection: &'c mut Connection) -> Result<Self, StoreError> {
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mark = TxMark::here();
        Ok(Self { tx, mark })
    }

    /// Takes over a transaction that was begun elsewhere, and the write lock with it. If that
    /// fails, the transaction is rolled back.
    ///
    /// # Errors
    ///
    /// - [`StoreErrorKind::Serialization`]: it was deferred, has read, and another connection has
    ///   written since. Run it again; better, begin it immediate.
    /// - [`StoreErrorKind::Busy`]: another connection holds the lock. A deferred transaction that
    ///   has read does not wait for it.
    /// - [`StoreErrorKind::Misuse`]: it has ended already, or its database has no receipts.
    pub fn of(tx: Transaction<'c>) -> Result<Self, StoreError> {
        if tx.is_autocommit() {
            return Err(StoreError::new(StoreErrorKind::Misuse));
        }
        tx.execute(sql::LOCK, [])?;
        let mark = TxMark::here();
        Ok(Self { tx, mark })
    }

    /// Commits: the receipts and your rows, together.
    ///
    /// # Errors
    ///
    /// Nothing was written. A lease that was settled in it stands for nothing any more; claim anew.
    pub fn commit(self) -> Result<(), StoreError> {
        Ok(self.tx.commit()?)
    }

    /// Rolls back, as dropping does, but tells of an error.
    ///
    /// # Errors
    ///
    /// The engine's.
    pub fn rollback(self) -> Result<(), StoreError> {
        Ok(self.tx.rollback()?)
    }
}

impl<'c> Deref for ImmediateTx<'c> {
    type Target = Transaction<'c>;

    fn deref(&self) -> &Transaction<'c> {
        &self.tx
    }
}

impl SqliteStore {
    /// Claims an event in your own transaction, so that the receipt and your rows are one commit:
    /// the event's effects in this database happen exactly once. The connection is yours, on the
    /// same file.
    ///
    /// SQLite has one writer: until you commit, every other claim of a new event waits. Keep the
    /// transaction short, and call nobody from it. Runs on this thread, as all of rusqlite does.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("shop.sqlite");
    /// # let key = hookproof::EventKey::business("", "order-paid", "o1")?;
    /// use hookproof::{Claiming, SqliteStore, Verdict, store::sql::{ImmediateTx, TxClaim}};
    ///
    /// let store = SqliteStore::open(&path)?;
    /// let mut connection = rusqlite::Connection::open(&path)?;
    /// # connection.execute("CREATE TABLE invoice (number INTEGER)", [])?;
    ///
    /// let tx = ImmediateTx::begin(&mut connection)?;
    /// if let TxClaim::New(lease) = store.claim_in(&tx, Claiming::business(key))? {
    ///     tx.execute("INSERT INTO invoice (number) VALUES (123)", [])?;
    ///     store.settle_in(&tx, lease, Verdict::done("created invoice 123"))?;
    /// }
    /// tx.commit()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`claim`](crate::IdempotencyStore::claim); the claim has then left nothing in the
    /// transaction. [`StoreErrorKind::Misuse`] if the connection's database has no receipts, or if
    /// SQLite has ended the transaction.
    pub fn claim_in(
        &self,
        tx: &ImmediateTx<'_>,
        claiming: Claiming,
    ) -> Result<TxClaim, StoreError> {
        let ruled = self.in_tx(tx, |verbs| verbs.look_and_claim(&claiming))?;
        let claim = ruled.claim(claiming, self.on_abandoned.clone());
        Ok(TxClaim::new(claim, tx.mark.clone()))
    }

    /// Settles a claim in the transaction that made it. You commit.
    ///
    /// A lease of the store's own ([`claim`](crate::IdempotencyStore::claim)) does not fit here,
    /// nor one from here there:
    ///
    /// ```compile_fail,E0308
    /// # use hookproof::{SqliteStore, store::sql::ImmediateTx, Lease, Verdict};
    /// fn settle(store: SqliteStore, tx: &ImmediateTx<'_>, lease: Lease) {
    ///     let _ = store.settle_in(tx, lease, Verdict::done(""));
    /// }
    /// ```
    ///
    /// ```compile_fail,E0308
    /// # use hookproof::{IdempotencyStore, SqliteStore, store::sql::TxLease, Verdict};
    /// async fn settle(store: SqliteStore, lease: TxLease) {
    ///     let _ = store.settle(lease, Verdict::done("")).await;
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`SettleFault::LeaseLost`] if a savepoint around the claim was rolled back, or the event was
    /// forgotten in this transaction; [`SettleFault::ResultTooLong`]; and [`SettleFault::Store`],
    /// with [`StoreErrorKind::Misuse`] for the lease of another transaction.
    pub fn settle_in(
        &self,
        tx: &ImmediateTx<'_>,
        lease: TxLease,
        verdict: Verdict,
    ) -> Result<Receipt, TxSettleError> {
        if !lease.is_of(&tx.mark) {
            let misuse = StoreError::new(StoreErrorKind::Misuse);
            return Err(TxSettleError::store(lease, misuse));
        }
        if !verdict.fits() {
            return Err(TxSettleError::new(lease, SettleFault::ResultTooLong));
        }
        let stand = Stand::of(&lease);
        match self.in_tx(tx, |verbs| verbs.settle(&stand, verdict)) {
            Ok(Some(receipt)) => {
                lease.settled();
                Ok(receipt)
            }
            Ok(None) => Err(TxSettleError::new(lease, SettleFault::LeaseLost)),
            Err(error) => Err(TxSettleError::store(lease, error)),
        }
    }

    pub(super) fn in_tx<T>(
        &self,
        tx: &ImmediateTx<'_>,
        work: impl FnOnce(&mut Verbs<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // After an error on its disk SQLite ends a transaction by itself; on its own a statement
        // would now commit at once.
        if tx.is_autocommit() {
            return Err(StoreError::new(StoreErrorKind::Misuse));
        }
        Verbs::new(tx, &*self.clock).whole(work)
    }
}
