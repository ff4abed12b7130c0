//! The contract of stores, over MySQL: whatever the sessions' isolation level and other defaults,
//! whatever rows the server has been told to count, and with each claim made in a transaction.

use std::future::Future;

use hookproof::{
    Advance, Claim, Claiming, Effect, EffectLedger, EffectResult, EffectSlot, EventKey,
    IdempotencyStore, Lease, MySqlStore, ObjectKey, OrderGuard, Receipt, StoreError, Verdict,
    Version,
    clock::Clock,
    store::{
        EffectError, Holder, OnAbandoned, RecordError, RecordFault, SettleError, State,
        StoreErrorKind, StoreFuture, sql::TxClaim,
    },
    testing::{
        ManualClock,
        conformance::{Backend, Witness},
    },
};
use std::sync::Arc;

use super::{Bench, found_rows, run, sessions::ODD, url};

struct Pool {
    bench: Bench,
    rounds: usize,
    keys: usize,
}

impl Pool {
    fn with(settings: &[&str], rounds: usize, keys: usize) -> Self {
        Self::at(url(), settings, rounds, keys)
    }

    fn at(url: &str, settings: &[&str], rounds: usize, keys: usize) -> Self {
        let bench = Bench::with(url, settings, 10);
        Self {
            bench,
            rounds,
            keys,
        }
    }
}

impl Backend for Pool {
    type Store = MySqlStore;

    fn open(&self, clock: ManualClock, witness: Witness) -> MySqlStore {
        MySqlStore::builder(self.bench.pool.clone())
            .clock(clock)
            .on_abandoned(witness)
            .build()
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        run(future)
    }

    fn race_rounds(&self) -> usize {
        self.rounds
    }

    fn many_keys(&self) -> usize {
        self.keys
    }
}

/// Claims in a transaction that it commits, with an effect in it or not.
struct InTransactions(Pool);

impl Backend for InTransactions {
    type Store = Claimant;

    fn open(&self, clock: ManualClock, witness: Witness) -> Claimant {
        Claimant {
            store: self.0.open(clock.clone(), witness.clone()),
            pool: self.0.bench.pool.clone(),
            witness: Arc::new(witness),
            clock,
        }
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        run(future)
    }

    fn race_rounds(&self) -> usize {
        self.0.rounds
    }

    fn many_keys(&self) -> usize {
        self.0.keys
    }
}

struct Claimant {
    store: MySqlStore,
    pool: sqlx::MySqlPool,
    witness: Arc<dyn OnAbandoned>,
    clock: ManualClock,
}

impl Claimant {
    /// Whether it is not for its own sake that it is in progress.
    fn is_held(&self, receipt: &Receipt) -> bool {
        let is_over = receipt.until.is_none_or(|until| until <= self.clock.now());
        receipt.fence.0 == 0 || (receipt.state != State::Processed && is_over)
    }

    async fn claim_and_commit(&self, claiming: Claiming) -> Result<Claim, StoreError> {
        loop {
            let mut tx = self.pool.begin().await?;
            let claim = self.store.claim_in(&mut tx, claiming.clone()).await?;
            let made = match claim {
                TxClaim::New(lease) => {
                    // The suite settles it later, on the pool.
                    std::mem::forget(lease);
                    let row = seen_in(&self.store, &mut tx, claiming.key()).await?;
                    Claim::New(Lease::issue(claiming, &row, self.witness.clone()))
                }
                TxClaim::Duplicate(receipt) => Claim::Duplicate(receipt),
                // Somebody's transaction is about to be committed or not: ask again.
                TxClaim::InProgress { receipt, .. } if self.is_held(&receipt) => continue,
                TxClaim::InProgress {
                    retry_after,
                    receipt,
                } => Claim::InProgress {
                    retry_after,
                    receipt,
                },
                TxClaim::Conflict(conflict) => Claim::Conflict(conflict),
                TxClaim::Dead(receipt) => Claim::Dead(receipt),
            };
            tx.commit().await?;
            return Ok(made);
        }
    }
}

/// What is stored, as the transaction that has just written it sees it.
async fn seen_in(
    store: &MySqlStore,
    tx: &mut sqlx::MySqlConnection,
    key: &EventKey,
) -> Result<Receipt, StoreError> {
    match store
        .claim_in(tx, Claiming::business(key.clone()).fingerprint(other()))
        .await?
    {
        TxClaim::Conflict(conflict) => Ok(conflict.receipt),
        other => panic!("{other:?}"),
    }
}

/// A content that no case has.
fn other() -> hookproof::Fingerprint {
    hookproof::Fingerprint::of(b"a content that no case has")
}

impl IdempotencyStore for Claimant {
    fn claim(&self, claiming: Claiming) -> StoreFuture<'_, Result<Claim, StoreError>> {
        Box::pin(self.claim_and_commit(claiming))
    }

    fn settle(
        &self,
        lease: Lease,
        verdict: Verdict,
    ) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        self.store.settle(lease, verdict)
    }

    fn renew(
        &self,
        lease: Lease,
        length: std::time::Duration,
    ) -> StoreFuture<'_, Result<Lease, SettleError>> {
        self.store.renew(lease, length)
    }

    fn release(&self, lease: Lease) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        self.store.release(lease)
    }

    fn get<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        self.store.get(key)
    }

    fn forget<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        self.store.forget(key)
    }

    fn purge(&self, at_most: usize) -> StoreFuture<'_, Result<usize, StoreError>> {
        self.store.purge(at_most)
    }
}

impl Claimant {
    /// As a caller would: what the server has called off is run again.
    async fn advance_and_commit(
        &self,
        object: &ObjectKey,
        version: Version,
    ) -> Result<Advance, StoreError> {
        loop {
            let mut tx = self.pool.begin().await?;
            let advanced = self.store.advance_in(&mut tx, object, version.clone());
            match advanced.await {
                Ok(advance) => {
                    tx.commit().await?;
                    return Ok(advance);
                }
                Err(error) if error.kind() == StoreErrorKind::Serialization => {}
                Err(error) => return Err(error),
            }
        }
    }

    async fn record_and_commit(
        &self,
        mut slot: EffectSlot,
        result: &str,
    ) -> Result<EffectResult, RecordError> {
        loop {
            let mut tx = match self.pool.begin().await {
                Ok(tx) => tx,
                Err(error) => {
                    return Err(RecordError::new(slot, RecordFault::Store(error.into())));
                }
            };
            match self.store.record_in(&mut tx, slot, result).await {
                Ok(recorded) => {
                    tx.commit().await.unwrap();
                    return Ok(recorded);
                }
                Err(error) if is_called_off(&error.fault) => slot = *error.slot,
                Err(error) => return Err(error),
            }
        }
    }
}

fn is_called_off(fault: &RecordFault) -> bool {
    matches!(fault, RecordFault::Store(error) if error.kind() == StoreErrorKind::Serialization)
}

/// Advances in a transaction that it commits.
impl OrderGuard for Claimant {
    fn advance<'a>(
        &'a self,
        object: &'a ObjectKey,
        version: Version,
    ) -> StoreFuture<'a, Result<Advance, StoreError>> {
        Box::pin(self.advance_and_commit(object, version))
    }

    fn current<'a>(
        &'a self,
        object: &'a ObjectKey,
    ) -> StoreFuture<'a, Result<Option<Version>, StoreError>> {
        self.store.current(object)
    }

    fn forget_object<'a>(
        &'a self,
        object: &'a ObjectKey,
    ) -> StoreFuture<'a, Result<Option<Version>, StoreError>> {
        self.store.forget_object(object)
    }

    fn purge_deleted(
        &self,
        retention: std::time::Duration,
        at_most: usize,
    ) -> StoreFuture<'_, Result<usize, StoreError>> {
        self.store.purge_deleted(retention, at_most)
    }
}

/// Claims, and records, in a transaction that it commits.
impl EffectLedger for Claimant {
    fn effect<'a>(
        &'a self,
        holder: &dyn Holder,
        name: &str,
    ) -> StoreFuture<'a, Result<Effect, EffectError>> {
        self.store.effect(holder, name)
    }

    fn record(
        &self,
        slot: EffectSlot,
        result: &str,
    ) -> StoreFuture<'_, Result<EffectResult, RecordError>> {
        let result = result.to_owned();
        Box::pin(async move { self.record_and_commit(slot, &result).await })
    }

    fn effects<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Vec<EffectResult>, StoreError>> {
        self.store.effects(key)
    }
}

const READ_COMMITTED: &str = "SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";
const SERIALIZABLE: &str = "SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE";

hookproof::store_conformance! {
    repeatable_read: Pool::with(&[], 50, 1_000),
    read_committed: Pool::with(&[READ_COMMITTED], 10, 100),
    serializable: Pool::with(&[SERIALIZABLE], 10, 100),
    odd_sessions: Pool::with(ODD, 10, 100),
    changed_rows: Pool::at(found_rows::url(), &[], 10, 100),
    in_transactions: InTransactions(Pool::with(&[], 10, 100)),
    in_transactions_read_committed: InTransactions(Pool::with(&[READ_COMMITTED], 10, 100)),
}

#[cfg(feature = "inbox")]
hookproof::inbox_conformance! {
    repeatable_read_inbox: Pool::with(&[], 30, 1_000),
    read_committed_inbox: Pool::with(&[READ_COMMITTED], 10, 100),
    serializable_inbox: Pool::with(&[SERIALIZABLE], 10, 100),
    odd_sessions_inbox: Pool::with(ODD, 10, 100),
    changed_rows_inbox: Pool::at(found_rows::url(), &[], 10, 100),
}

#[cfg(feature = "inbox")]
hookproof::review_conformance! {
    repeatable_read_reviews: Pool::with(&[], 30, 1_000),
    read_committed_reviews: Pool::with(&[READ_COMMITTED], 10, 100),
    serializable_reviews: Pool::with(&[SERIALIZABLE], 10, 100),
    odd_sessions_reviews: Pool::with(ODD, 10, 100),
    changed_rows_reviews: Pool::at(found_rows::url(), &[], 10, 100),
}

#[cfg(feature = "inbox")]
hookproof::batch_inbox_conformance! {
    repeatable_read_batch_inbox: Pool::with(&[], 50, 1_000),
    read_committed_batch_inbox: Pool::with(&[READ_COMMITTED], 20, 100),
    serializable_batch_inbox: Pool::with(&[SERIALIZABLE], 20, 100),
    odd_sessions_batch_inbox: Pool::with(ODD, 20, 100),
    changed_rows_batch_inbox: Pool::at(found_rows::url(), &[], 20, 100),
}

hookproof::order_conformance! {
    order_repeatable_read: Pool::with(&[], 50, 1_000),
    order_read_committed: Pool::with(&[READ_COMMITTED], 10, 100),
    order_serializable: Pool::with(&[SERIALIZABLE], 10, 100),
    order_odd_sessions: Pool::with(ODD, 10, 100),
    order_changed_rows: Pool::at(found_rows::url(), &[], 10, 100),
    order_in_transactions: InTransactions(Pool::with(&[], 10, 100)),
    order_in_transactions_read_committed: InTransactions(Pool::with(&[READ_COMMITTED], 10, 100)),
    order_in_transactions_changed_rows: InTransactions(Pool::at(found_rows::url(), &[], 10, 100)),
}

hookproof::ledger_conformance! {
    ledger_repeatable_read: Pool::with(&[], 50, 1_000),
    ledger_read_committed: Pool::with(&[READ_COMMITTED], 10, 100),
    ledger_serializable: Pool::with(&[SERIALIZABLE], 10, 100),
    ledger_odd_sessions: Pool::with(ODD, 10, 100),
    ledger_changed_rows: Pool::at(found_rows::url(), &[], 10, 100),
    ledger_in_transactions: InTransactions(Pool::with(&[], 10, 100)),
    ledger_in_transactions_read_committed: InTransactions(Pool::with(&[READ_COMMITTED], 10, 100)),
    ledger_in_transactions_changed_rows: InTransactions(Pool::at(found_rows::url(), &[], 10, 100)),
}

hookproof::batch_conformance! {
    repeatable_read_batches: Pool::with(&[], 50, 1_000),
    read_committed_batches: Pool::with(&[READ_COMMITTED], 20, 100),
    serializable_batches: Pool::with(&[SERIALIZABLE], 20, 100),
    odd_sessions_batches: Pool::with(ODD, 20, 100),
    changed_rows_batches: Pool::at(found_rows::url(), &[], 20, 100),
}

hookproof::stats_conformance! {
    stats: Pool::with(&[], 1, 1),
    odd_sessions_stats: Pool::with(ODD, 1, 1),
}
