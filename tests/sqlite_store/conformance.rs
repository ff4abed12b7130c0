//! The contract of stores, over SQLite.

use hookproof::{
    SqliteStore,
    store::sql::Synchronous,
    testing::{
        ManualClock,
        conformance::{Backend, DroppedLease, Witness},
    },
};
use tempfile::TempDir;

struct Sqlite {
    folder: TempDir,
    level: Synchronous,
}

impl Sqlite {
    fn with(level: Synchronous) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, level }
    }
}

impl Backend for Sqlite {
    type Store = SqliteStore;

    fn open(&self, clock: ManualClock, witness: Witness) -> SqliteStore {
        SqliteStore::builder(self.folder.path().join("receipts.sqlite"))
            .clock(clock)
            .on_abandoned(witness)
            .synchronous(self.level)
            .open()
            .unwrap()
    }

    fn dropped_lease(&self) -> DroppedLease {
        DroppedLease::Soon
    }

    /// Each round is on the disk once or twice.
    fn race_rounds(&self) -> usize {
        match self.level {
            Synchronous::Full => 20,
            Synchronous::Normal => 200,
        }
    }

    fn many_keys(&self) -> usize {
        match self.level {
            Synchronous::Full => 200,
            Synchronous::Normal => 2_000,
        }
    }
}

hookproof::store_conformance! {
    full: Sqlite::with(Synchronous::Full),
    normal: Sqlite::with(Synchronous::Normal),
}

hookproof::order_conformance! {
    order_full: Sqlite::with(Synchronous::Full),
    order_normal: Sqlite::with(Synchronous::Normal),
}

hookproof::ledger_conformance! {
    ledger_full: Sqlite::with(Synchronous::Full),
    ledger_normal: Sqlite::with(Synchronous::Normal),
}
hookproof::batch_conformance! {
    full_batches: Sqlite::with(Synchronous::Full),
    normal_batches: Sqlite::with(Synchronous::Normal),
}
hookproof::stats_conformance! { stats: Sqlite::with(Synchronous::Normal) }

#[cfg(feature = "inbox")]
hookproof::inbox_conformance! {
    full_inbox: Sqlite::with(Synchronous::Full),
    normal_inbox: Sqlite::with(Synchronous::Normal),
}

#[cfg(feature = "inbox")]
hookproof::review_conformance! {
    full_reviews: Sqlite::with(Synchronous::Full),
    normal_reviews: Sqlite::with(Synchronous::Normal),
}
