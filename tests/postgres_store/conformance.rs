//! The contract of stores, over PostgreSQL, whatever the sessions' default isolation level.

use std::future::Future;

use hookproof::{
    PostgresStore,
    testing::{
        ManualClock,
        conformance::{Backend, Witness},
    },
};

use super::{Bench, run, url};

struct Pool {
    bench: Bench,
    rounds: usize,
    keys: usize,
}

impl Pool {
    fn at(level: &str, rounds: usize, keys: usize) -> Self {
        let bench = Bench::with(url(), &[("default_transaction_isolation", level)], 10);
        Self {
            bench,
            rounds,
            keys,
        }
    }
}

impl Backend for Pool {
    type Store = PostgresStore;

    fn open(&self, clock: ManualClock, witness: Witness) -> PostgresStore {
        PostgresStore::builder(self.bench.pool.clone())
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

hookproof::store_conformance! {
    read_committed: Pool::at("read committed", 50, 1_000),
    repeatable_read: Pool::at("repeatable read", 10, 100),
    serializable: Pool::at("serializable", 10, 100),
}

hookproof::order_conformance! {
    order_read_committed: Pool::at("read committed", 50, 1_000),
    order_repeatable_read: Pool::at("repeatable read", 10, 100),
    order_serializable: Pool::at("serializable", 5, 100),
}

hookproof::ledger_conformance! {
    ledger_read_committed: Pool::at("read committed", 50, 1_000),
    ledger_repeatable_read: Pool::at("repeatable read", 10, 100),
    ledger_serializable: Pool::at("serializable", 5, 100),
}
hookproof::batch_conformance! {
    read_committed_batches: Pool::at("read committed", 50, 1_000),
    repeatable_read_batches: Pool::at("repeatable read", 20, 100),
    serializable_batches: Pool::at("serializable", 20, 100),
}
hookproof::stats_conformance! { stats: Pool::at("read committed", 1, 1) }

#[cfg(feature = "inbox")]
hookproof::inbox_conformance! {
    read_committed_inbox: Pool::at("read committed", 30, 1_000),
    repeatable_read_inbox: Pool::at("repeatable read", 10, 100),
    serializable_inbox: Pool::at("serializable", 10, 100),
}

#[cfg(feature = "inbox")]
hookproof::review_conformance! {
    read_committed_reviews: Pool::at("read committed", 30, 1_000),
    repeatable_read_reviews: Pool::at("repeatable read", 10, 100),
    serializable_reviews: Pool::at("serializable", 10, 100),
}
