//! Opening a database: its settings, its schema, its threads.

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags};

use crate::{
    clock::{Clock, SystemClock},
    store::{OnAbandoned, Stderr, StoreError, StoreErrorKind},
};

use super::{
    SqliteStore,
    error::kind,
    lane::Lane,
    statements as sql,
    threads::{Post, STRETCH},
};

/// Oldest SQLite that has STRICT tables, 3.37.0.
const OLDEST: i32 = 3_037_000;

/// Most reader threads; more than a machine has disks and cores for.
const MOST_READERS: usize = 64;

/// How far a commit is pushed before the store says that it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Synchronous {
    /// To the disk, with each commit. The default, because most effects of a webhook lie outside
    /// the database: a claim that a power failure takes back lets a charge happen twice.
    #[default]
    Full,
    /// To the operating system; the disk follows at the next checkpoint. A killed process loses
    /// nothing, but a power failure or a crash of the system takes back the last commits, whole and
    /// in order. Right where every effect is a row in the same database, since it is then taken
    /// back together with its receipt, or where the other side honours
    /// [`effect_key`](crate::Lease::effect_key).
    Normal,
}

/// Builds a [`SqliteStore`].
pub struct SqliteStoreBuilder {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    on_abandoned: Arc<dyn OnAbandoned>,
    busy_timeout: Duration,
    synchronous: Synchronous,
    readers: usize,
}

impl fmt::Debug for SqliteStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStoreBuilder")
            .field("path", &self.path)
            .field("busy_timeout", &self.busy_timeout)
            .field("synchronous", &self.synchronous)
            .field("readers", &self.readers)
            .finish_non_exhaustive()
    }
}

impl SqliteStoreBuilder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            clock: Arc::new(SystemClock),
            on_abandoned: Arc::new(Stderr),
            busy_timeout: Duration::from_secs(5),
            synchronous: Synchronous::default(),
            readers: 2,
        }
    }

    /// The clock for leases, retries and retention; the system's if not set. All processes on the
    /// file must agree on the time.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Who is told of a lease dropped unsettled; standard error if not set.
    #[must_use]
    pub fn on_abandoned(mut self, report: impl OnAbandoned + 'static) -> Self {
        self.on_abandoned = Arc::new(report);
        self
    }

    /// How long to wait for another process or for a transaction of yours that holds the write
    /// lock, before a call fails with [`StoreErrorKind::Busy`]. 5 s if not set; at zero it fails at
    /// once.
    #[must_use]
    pub fn busy_timeout(mut self, wait: Duration) -> Self {
        self.busy_timeout = wait;
        self
    }

    /// What a commit survives; a power failure if not set.
    #[must_use]
    pub fn synchronous(mut self, level: Synchronous) -> Self {
        self.synchronous = level;
        self
    }

    /// How many threads, each with a connection, answer duplicates. 2 if not set, at least 1, at
    /// most 64.
    #[must_use]
    pub fn readers(mut self, threads: usize) -> Self {
        self.readers = threads.clamp(1, MOST_READERS);
        self
    }

    /// Opens the database, creating file and schema where they are missing, and starts the store's
    /// threads. Blocks on the disk, and on the write lock if the schema is to be created.
    ///
    /// # Errors
    ///
    /// - [`StoreErrorKind::NewerSchema`]: a newer version of this crate was here.
    /// - [`StoreErrorKind::Busy`]: another process held the database for too long.
    /// - [`StoreErrorKind::Misuse`]: a database that cannot have a write-ahead log, such as one in
    ///   memory; an SQLite before 3.37; or a schema of other hands under the same names.
    /// - [`StoreErrorKind::Corrupt`]: the file is no database.
    /// - [`StoreErrorKind::Unavailable`]: whatever else keeps it from being opened.
    pub fn open(self) -> Result<SqliteStore, StoreError> {
        if rusqlite::version_number() < OLDEST {
            return Err(misuse("SQLite 3.37 or newer is needed"));
        }
        let writer = self.connect(OpenFlags::SQLITE_OPEN_CREATE)?;
        self.write_ahead(&writer)?;
        migrate(&writer)?;
        // A table that is not this one shows here, and not in the first delivery.
        for statement in [sql::CLAIM, sql::PURGE, sql::ADVANCE, sql::RECORD] {
            writer.prepare(statement)?;
        }
        #[cfg(feature = "inbox")]
        super::inbox::probe(&writer)?;
        #[cfg(feature = "inbox")]
        super::review::probe(&writer)?;
        writer.busy_timeout(self.busy_timeout.min(STRETCH))?;

        let mut store = SqliteStore {
            write: Lane::new(),
            read: Lane::new(),
            clock: self.clock.clone(),
            on_abandoned: self.on_abandoned.clone(),
            threads: Mutex::default(),
        };
        // From here on an early return drops the store, which ends the threads started so far.
        let post = |connection, lane: &Arc<Lane>| Post {
            connection,
            clock: self.clock.clone(),
            lane: lane.clone(),
        };
        let mut threads = vec![post(writer, &store.write).write(self.busy_timeout)?];
        for _ in 0..self.readers {
            let reader = self.connect(OpenFlags::empty())?;
            reader.execute_batch(sql::READS_ONLY)?;
            threads.push(post(reader, &store.read).read()?);
        }
        store.threads = Mutex::new(threads);
        Ok(store)
    }

    fn connect(&self, create: OpenFlags) -> Result<Connection, StoreError> {
        // Without SQLITE_OPEN_URI: a path is a path, whatever it holds.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | create;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        connection.busy_timeout(self.busy_timeout)?;
        connection.execute_batch(match self.synchronous {
            Synchronous::Full => sql::SYNC_FULL,
            Synchronous::Normal => sql::SYNC_NORMAL,
        })?;
        Ok(connection)
    }

    /// Changing the journal does not wait for others as a transaction does, so the waiting is here.
    fn write_ahead(&self, connection: &Connection) -> Result<(), StoreError> {
        let mode = |sql| connection.query_row(sql, [], |row| row.get::<_, String>(0));
        let since = Instant::now();
        loop {
            let set = mode(sql::READ_JOURNAL).and_then(|now| match &*now {
                "wal" => Ok(now),
                _ => mode(sql::SET_WAL),
            });
            match set {
                Ok(mode) if mode == "wal" => return Ok(()),
                Ok(_) => return Err(misuse("the database cannot have a write-ahead log")),
                Err(error)
                    if kind(&error) == StoreErrorKind::Busy
                        && since.elapsed() < self.busy_timeout =>
                {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Creates the schema unless it is there, or adds to an older one what it lacks. Takes no lock if
/// there is nothing to do, so that a restart never waits.
fn migrate(connection: &Connection) -> Result<(), StoreError> {
    if is_current(connection)? {
        return Ok(());
    }
    connection.execute_batch(sql::BEGIN)?;
    // Another process may have been faster.
    let made = is_current(connection).and_then(|done| match done {
        true => Ok(()),
        false => connection.execute_batch(sql::SCHEMA).map_err(Into::into),
    });
    connection.execute_batch(match made {
        Ok(()) => sql::COMMIT,
        Err(_) => sql::ROLLBACK,
    })?;
    made
}

fn is_current(connection: &Connection) -> Result<bool, StoreError> {
    let number = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    if number(sql::HAS_SCHEMA)? == 0 {
        return Ok(false);
    }
    match number(sql::READ_VERSION)? {
        sql::VERSION => Ok(true),
        older if (sql::OLDEST_VERSION..sql::VERSION).contains(&older) => Ok(false),
        newer if newer > sql::VERSION => Err(StoreError::new(StoreErrorKind::NewerSchema)),
        _ => Err(StoreError::new(StoreErrorKind::Corrupt)),
    }
}

fn misuse(why: &'static str) -> StoreError {
    StoreError::with_source(StoreErrorKind::Misuse, why)
}
