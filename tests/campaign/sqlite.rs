//! A file of SQLite.

use std::{path::PathBuf, sync::Arc, time::Duration};

use hookproof::{
    Claiming, Receipt, SqliteStore, StoreError, Verdict,
    store::{
        StoreErrorKind,
        sql::{ImmediateTx, Synchronous, TxClaim, TxLease, TxSettleError},
    },
};
use rusqlite::{Connection, ErrorCode, ffi};

#[cfg(feature = "inbox")]
use super::plan::IN_AN_INBOX;
use super::{
    backend::{self, Arena, Backend, Effect, Hand, Shifted},
    handler::Quiet,
    plan::{Fault, IN_TRANSACTIONS, ON_THE_POOL, Plan, Point, Way},
    wire::Told,
};

for_every_store!(File);
#[cfg(feature = "inbox")]
for_inboxes!(File);

campaigns! { File:
    // The process that has the file open is the database server of SQLite.
    the_only_process_killed_in_transactions =
        Plan::new(Way::Transaction, Fault::WorkerKilled, 25, IN_TRANSACTIONS).workers(1);
    the_only_process_killed_on_the_pool =
        Plan::new(Way::Pool, Fault::WorkerKilled, 25, ON_THE_POOL).workers(1);
    // The one connection that can write is the pool.
    a_lock_held_too_long_in_transactions =
        Plan::new(Way::Transaction, Fault::Exhausted, 10, &[Point::Acted]).starved();
    a_lock_held_too_long_on_the_pool =
        Plan::new(Way::Pool, Fault::Exhausted, 10, &[Point::Acted]).starved();
    a_full_disk_in_transactions =
        Plan::new(Way::Transaction, Fault::DiskFull, 10, &[Point::Taken]);
    a_full_disk_on_the_pool = Plan::new(Way::Pool, Fault::DiskFull, 10, &[Point::Taken]);
}

#[cfg(feature = "inbox")]
campaigns! { File:
    the_only_process_killed_with_an_inbox =
        Plan::new(Way::Inbox, Fault::WorkerKilled, 24, IN_AN_INBOX).workers(1);
}

/// In a folder of its own.
pub(crate) struct File {
    folder: tempfile::TempDir,
}

fn connect(path: &std::path::Path, wait: Duration) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.busy_timeout(wait).unwrap();
    // Processes are killed here, and no power supply.
    connection
        .pragma_update(None, "synchronous", "normal")
        .unwrap();
    connection
}

impl File {
    fn path(&self) -> PathBuf {
        self.folder.path().join("receipts.sqlite")
    }
}

impl Arena for File {
    type Backend = Worker;

    fn new(_: &Plan) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("hookproof-campaign-")
            .tempdir()
            .unwrap();
        let file = Self { folder };
        SqliteStore::open(file.path()).unwrap().close();
        connect(&file.path(), Duration::ZERO)
            .execute_batch(
                "CREATE TABLE effects (event TEXT, attempt INTEGER, fence INTEGER);
                 CREATE INDEX effects_of_event ON effects (event)",
            )
            .unwrap();
        file
    }

    fn place(&self) -> String {
        self.path().to_str().unwrap().to_owned()
    }

    fn number(&self, sql: &'static str) -> i64 {
        let connection = connect(&self.path(), Duration::from_secs(60));
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    fn cut(&self) -> usize {
        panic!("there is no connection to cut");
    }

    fn kill_server(&self) {
        panic!("there is no server to kill");
    }
}

pub(crate) struct Worker {
    store: Arc<SqliteStore>,
    path: PathBuf,
    wait: Duration,
}

impl Backend for Worker {
    type Store = SqliteStore;
    type Hand = Handler;
    type Hog = ();

    const HAS_CLOCK_OF_HOST: bool = true;

    fn open(place: &str, plan: &Plan, clock: Shifted) -> Self {
        let open = || {
            SqliteStore::builder(place)
                .clock(clock.clone())
                .on_abandoned(Quiet)
                .busy_timeout(plan.wait)
                .synchronous(Synchronous::Normal)
                .open()
        };
        // A process that was killed leaves something to look through, and others wait for that.
        let store = loop {
            match open() {
                Err(error) if error.kind() == StoreErrorKind::Busy => {}
                opened => break opened.unwrap(),
            }
        };
        Self {
            store: Arc::new(store),
            path: place.into(),
            wait: plan.wait,
        }
    }

    fn store(&self) -> Arc<SqliteStore> {
        self.store.clone()
    }

    fn hand(&self) -> Handler {
        Handler {
            connection: connect(&self.path, self.wait),
            store: self.store.clone(),
            is_full: false,
        }
    }

    /// Whoever asks has the lock.
    async fn hog(&self) {}

    fn cause(error: &StoreError) -> Told {
        let mut source = std::error::Error::source(error);
        while let Some(error) = source {
            if let Some(engine) = error.downcast_ref::<ffi::Error>() {
                match engine.code {
                    ErrorCode::DiskFull | ErrorCode::SystemIoFailure => return Told::DiskFull,
                    _ => {}
                }
            }
            source = error.source();
        }
        match error.kind() {
            StoreErrorKind::Busy => Told::Starved,
            StoreErrorKind::Serialization => Told::Serialization,
            _ => Told::Unavailable,
        }
    }

    #[cfg(feature = "inbox")]
    fn work_inbox(post: &super::wire::Post, plan: &Plan) {
        super::inbox::work::<Self>(post, plan);
    }
}

pub(crate) struct Handler {
    connection: Connection,
    store: Arc<SqliteStore>,
    is_full: bool,
}

impl Hand for Handler {
    type Tx<'h> = Tx<'h>;

    /// No more pages than there are, or as many as there may ever be.
    fn disk_full(&mut self, is_full: bool) {
        if std::mem::replace(&mut self.is_full, is_full) != is_full {
            let pages = if is_full { 1 } else { 4_294_967_294_i64 };
            let sql = format!("PRAGMA max_page_count = {pages}");
            self.connection.query_row(&sql, [], |_| Ok(())).unwrap();
        }
    }

    async fn begin(&mut self) -> Result<Tx<'_>, StoreError> {
        Ok(Tx {
            tx: ImmediateTx::begin(&mut self.connection)?,
            store: &self.store,
        })
    }
}

pub(crate) struct Tx<'h> {
    tx: ImmediateTx<'h>,
    store: &'h SqliteStore,
}

impl backend::Tx for Tx<'_> {
    async fn claim(&mut self, claiming: Claiming) -> Result<TxClaim, StoreError> {
        self.store.claim_in(&self.tx, claiming)
    }

    async fn act(&mut self, effect: &Effect) -> Result<(), StoreError> {
        let Effect {
            event,
            attempt,
            fence,
        } = effect;
        self.tx.execute(
            "INSERT INTO effects VALUES (?1, ?2, ?3)",
            (event, attempt, fence),
        )?;
        Ok(())
    }

    async fn settle(&mut self, lease: TxLease, verdict: Verdict) -> Result<Receipt, TxSettleError> {
        self.store.settle_in(&self.tx, lease, verdict)
    }

    async fn commit(self) -> Result<(), StoreError> {
        self.tx.commit()
    }
}
