//! Receipts in SQLite, through `rusqlite`.

mod batch;
mod contract;
mod error;
#[cfg(feature = "inbox")]
mod inbox;
#[cfg(test)]
mod judged;
mod lane;
mod ledger;
mod open;
mod order;
mod prepared;
mod reply;
#[cfg(feature = "inbox")]
mod review;
mod statements;
mod stats;
mod threads;
mod tx;
mod verbs;

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
};

pub use open::{SqliteStoreBuilder, Synchronous};
pub use tx::ImmediateTx;

use crate::{
    clock::Clock,
    event::EventKey,
    store::{Abandoned, Claim, Claiming, Lease, OnAbandoned, Receipt, StoreError, StoreErrorKind},
};

use lane::{Lane, Unwanted};
use verbs::{Ruled, Verbs};

/// Receipts in an SQLite file, for all processes of one host.
///
/// **Threads.** SQLite blocks, and webhook services call from executors that must not be blocked.
/// So each store has threads with connections of their own: one that writes, and a few that read.
/// Claims and settlements that wait at the same time are written in one transaction, which under
/// load is worth many times the speed of one commit each. A claim looks first, and only what may be
/// claimed is written: a duplicate costs one read, takes no lock and adds nothing to the log. The
/// futures need no particular runtime.
///
/// **Batches** ([`claim_many`](crate::store::BatchStore::claim_many)) are one read and one
/// transaction of the writer.
///
/// **Numbers** ([`stats`](crate::store::StatsStore::stats)) are exact, and come from one scan of all
/// receipts on one of the reading threads, beside the writer. Until it ends, the log cannot be begun anew.
///
/// **Durability.** A write-ahead log, synchronised with each commit unless told otherwise:
/// [`Synchronous`].
///
/// **Place.** The file must be on a local disk: a write-ahead log needs memory shared by all its
/// processes. SQLite 3.37 or newer; before 3.51.3 a rare race between writing connections can
/// damage any database with a write-ahead log, and rusqlite 0.40 and later bundle a newer one
/// (feature `rusqlite-bundled`).
///
/// **Your own transaction** makes the receipt and your rows one commit:
/// [`claim_in`](SqliteStore::claim_in).
///
/// A lease that is dropped unsettled is given back by the writer, so the event is claimable again
/// within moments; by the lease's end if the store or the process is gone.
///
/// ```no_run
/// # async fn run(claiming: hookproof::Claiming) -> Result<(), Box<dyn std::error::Error>> {
/// use hookproof::{Claim, IdempotencyStore, SqliteStore, Verdict};
///
/// let store = SqliteStore::open("webhooks.sqlite")?;
/// if let Claim::New(lease) = store.claim(claiming).await? {
///     store.settle(lease, Verdict::done("created invoice 123")).await?;
/// }
/// # Ok(())
/// # }
/// ```
pub struct SqliteStore {
    write: Arc<Lane>,
    read: Arc<Lane>,
    clock: Arc<dyn Clock>,
    on_abandoned: Arc<dyn OnAbandoned>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// The schema, as [`open`](SqliteStore::open) creates it where it is missing: for those who run
    /// their own migrations. It may be run again and again.
    pub const SCHEMA: &'static str = statements::SCHEMA;

    /// Opens a file with the default settings; creates it if there is none.
    ///
    /// # Errors
    ///
    /// See [`SqliteStoreBuilder::open`].
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Self::builder(path).open()
    }

    /// To choose clock, waiting time, durability, readers or report.
    pub fn builder(path: impl Into<PathBuf>) -> SqliteStoreBuilder {
        SqliteStoreBuilder::new(path.into())
    }

    /// Ends the store's threads and closes its connections before it returns. Calls that still wait
    /// fail with [`StoreErrorKind::Unavailable`], and so does every later one. Blocks while the last
    /// transaction is written.
    ///
    /// Dropping the store does the same without waiting for it.
    pub fn close(&self) {
        self.write.close();
        self.read.close();
        let threads = {
            let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *threads)
        };
        for thread in threads {
            // A report of an abandoned lease runs on the writer, and may own the store.
            if thread.thread().id() != std::thread::current().id() {
                // A thread that panicked has closed its lane and is as gone as any.
                let _ = thread.join();
            }
        }
    }

    async fn find(&self, key: EventKey) -> Result<Option<Receipt>, StoreError> {
        let find = move |verbs: &mut Verbs<'_>| verbs.find(&key);
        let answer = self.read.submit(Unwanted::Skip, find, |found| found);
        answer.await.unwrap_or_else(|| Err(closed()))
    }

    async fn write<T: Send + 'static>(
        &self,
        unwanted: Unwanted,
        work: impl FnOnce(&mut Verbs<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let answer = self
            .write
            .submit(unwanted, |verbs| verbs.whole(work), |done| done);
        answer.await.unwrap_or_else(|| Err(closed()))
    }

    fn give_back(&self) -> Arc<dyn OnAbandoned> {
        Arc::new(GiveBack {
            lane: self.write.clone(),
            report: self.on_abandoned.clone(),
        })
    }

    async fn claim_new(&self, claiming: Claiming) -> Result<Claim, StoreError> {
        let on_abandoned = self.give_back();
        let answer = self.write.submit(
            Unwanted::Skip,
            move |verbs| {
                let ruled = verbs.whole(|verbs| verbs.claim(&claiming))?;
                Ok((claiming, ruled))
            },
            move |(claiming, ruled)| ruled.claim(claiming, on_abandoned),
        );
        answer.await.unwrap_or_else(|| Err(closed()))
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.write.close();
        self.read.close();
    }
}

fn closed() -> StoreError {
    StoreError::with_source(StoreErrorKind::Unavailable, "the store is closed")
}

impl Ruled {
    fn claim(self, claiming: Claiming, on_abandoned: Arc<dyn OnAbandoned>) -> Claim {
        match self {
            Ruled::Won(receipt) => Claim::New(Lease::issue(claiming, &receipt, on_abandoned)),
            Ruled::Answer(claim) => claim,
        }
    }
}

/// Gives a dropped lease's event back without blocking who drops it.
struct GiveBack {
    lane: Arc<Lane>,
    report: Arc<dyn OnAbandoned>,
}

impl OnAbandoned for GiveBack {
    fn abandoned(&self, lease: &Abandoned<'_>) {
        let (digest, fence) = (*lease.key.digest(), lease.fence);
        self.lane
            .leave(move |verbs| verbs.give_back(&digest, fence));
        self.report.abandoned(lease);
    }
}
