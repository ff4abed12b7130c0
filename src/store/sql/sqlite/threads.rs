//! The threads: one that writes, some that read.

use std::{
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use rusqlite::Connection;

use crate::{
    clock::Clock,
    store::{StoreError, StoreErrorKind},
};

use super::{
    error::kind,
    lane::{Call, ClosesLane, Lane},
    statements as sql,
    verbs::Verbs,
};

/// Most calls in one transaction. It bounds what one failed commit takes with it.
const GROUP: usize = 256;

/// How long the writer waits for another writer at a stretch. In between it looks whether the
/// store was closed.
pub(super) const STRETCH: Duration = Duration::from_millis(100);

/// What a thread needs.
pub(super) struct Post {
    pub(super) connection: Connection,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) lane: Arc<Lane>,
}

impl Post {
    /// Starts the thread that reads. Each call is one SELECT, so one snapshot.
    pub(super) fn read(self) -> Result<JoinHandle<()>, StoreError> {
        spawn("hookproof-read", move || {
            let _closes = ClosesLane(self.lane.clone());
            let mut verbs = Verbs::new(&self.connection, &*self.clock);
            loop {
                let mut calls = self.lane.take(1);
                let Some(call) = calls.pop() else { return };
                call(Ok(&mut verbs))(Ok(()));
            }
        })
    }

    /// Starts the thread that writes. All calls that wait are one transaction: under load a commit,
    /// which is what costs, is shared, and alone nobody waits for company.
    pub(super) fn write(self, patience: Duration) -> Result<JoinHandle<()>, StoreError> {
        spawn("hookproof-write", move || {
            let _closes = ClosesLane(self.lane.clone());
            let mut verbs = Verbs::new(&self.connection, &*self.clock);
            loop {
                let calls = self.lane.take(GROUP);
                if calls.is_empty() {
                    return;
                }
                self.group(&mut verbs, calls, patience);
            }
        })
    }

    fn group(&self, verbs: &mut Verbs<'_>, calls: Vec<Call>, patience: Duration) {
        let begun = self.begin(patience);
        let mut afters = Vec::with_capacity(calls.len());
        for call in calls {
            let access = match &begun {
                Err(failure) => Err(failure.again()),
                // A call before this one failed so badly that the engine undid everything.
                Ok(()) if self.connection.is_autocommit() => Err(Failure::LOST.again()),
                Ok(()) => Ok(&mut *verbs),
            };
            afters.push(call(access));
        }
        let committed = begun.and_then(|()| self.commit());
        for after in afters {
            after(committed.as_ref().copied().map_err(Failure::again));
        }
    }

    fn begin(&self, patience: Duration) -> Result<(), Failure> {
        let since = Instant::now();
        loop {
            let error = match self.connection.execute_batch(sql::BEGIN) {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            if kind(&error) != StoreErrorKind::Busy || since.elapsed() >= patience {
                return Err(Failure::from(error));
            }
            if !self.lane.is_open() {
                return Err(Failure::LOST);
            }
        }
    }

    fn commit(&self) -> Result<(), Failure> {
        if self.connection.is_autocommit() {
            return Err(Failure::LOST);
        }
        self.connection.execute_batch(sql::COMMIT).map_err(|error| {
            if !self.connection.is_autocommit() {
                // If this fails too, so does the next BEGIN, and every call is told.
                let _ = self.connection.execute_batch(sql::ROLLBACK);
            }
            Failure::from(error)
        })
    }
}

/// Why a whole group failed, to be told to each call in it.
struct Failure {
    kind: StoreErrorKind,
    source: Option<Arc<rusqlite::Error>>,
}

impl Failure {
    const LOST: Failure = Failure {
        kind: StoreErrorKind::Unavailable,
        source: None,
    };

    fn again(&self) -> StoreError {
        match &self.source {
            Some(source) => StoreError::with_source(self.kind, source.clone()),
            None => StoreError::new(self.kind),
        }
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self {
            kind: kind(&error),
            source: Some(Arc::new(error)),
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map_err(|error| StoreError::with_source(StoreErrorKind::Unavailable, error))
}
