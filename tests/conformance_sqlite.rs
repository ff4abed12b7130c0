//! The store contract over SQLite, each case in a database of its own.
#![cfg(all(feature = "testing", feature = "rusqlite"))]
#![allow(clippy::unwrap_used)]

use std::sync::Mutex;

use hookproof::{
    SqliteStore,
    store::sql::Synchronous,
    testing::{
        ManualClock,
        conformance::{Backend, DroppedLease, Witness},
    },
};

/// The folders of databases go when the backend does.
#[derive(Default)]
struct Sqlite {
    folders: Mutex<Vec<tempfile::TempDir>>,
}

impl Backend for Sqlite {
    type Store = SqliteStore;

    fn open(&self, clock: ManualClock, witness: Witness) -> SqliteStore {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::builder(folder.path().join("receipts.sqlite"))
            .clock(clock)
            .on_abandoned(witness)
            // No case ends the power supply, so none need wait for the disk.
            .synchronous(Synchronous::Normal)
            .open()
            .unwrap();
        self.folders.lock().unwrap().push(folder);
        store
    }

    fn dropped_lease(&self) -> DroppedLease {
        DroppedLease::Soon
    }
}

hookproof::store_conformance! { sqlite: Sqlite::default() }
