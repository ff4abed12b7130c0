//! Takes what is due out of an inbox and hands it to a handler.

use std::{fmt, future::Future, pin::pin, sync::Arc, task::Poll, time::Duration};

use futures_util::{FutureExt as _, StreamExt as _, future::poll_fn, stream::FuturesUnordered};

use crate::{
    gate::HandlerError,
    store::{
        DEFAULT_LEASE, DEFAULT_MAX_ATTEMPTS, Lease, SettleError, Stderr, StoreError,
        StoreErrorKind, StoreFuture, Verdict,
    },
};

use super::{Backoff, InboxStore, Job, Leased, Leasing, Notice, Observer, Task, attempt::End};

/// Acts on what an inbox has accepted.
///
/// It has no runtime, no threads and no timer of its own: [`run`](Worker::run) is one future, in
/// which one fetcher leases events and hands them to at most
/// [`concurrency`](Worker::concurrency) handlers, and it is told how to sleep. A handler that
/// computes for long should do so on threads of its own, as in any executor.
///
/// A handler that returns an error, or panics, has failed: the event is tried again after a
/// [`Backoff`], and is dead after [`max_attempts`](Worker::max_attempts). It can ask for a wait of
/// its own ([`Verdict::retry`]) or give the event up ([`Verdict::dead`]). While a handler runs its
/// lease is renewed; if the lease is lost all the same, the handler is stopped at its next await
/// and what it would have returned is not written.
///
/// Any number of workers, in any number of processes, may share a store. Few with many handlers
/// each are better than many with few, since each asks the database by itself.
pub struct Worker<S, H> {
    pub(super) store: S,
    pub(super) handler: H,
    pub(super) lease: Duration,
    pub(super) backoff: Backoff,
    /// For a store that does not answer.
    pub(super) errors: Backoff,
    pub(super) observer: Arc<dyn Observer>,
    concurrency: usize,
    max_attempts: u32,
    poll: Duration,
}

/// What a worker did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Tally {
    /// Events that are done.
    pub processed: u64,
    /// Attempts that failed and will be repeated.
    pub failed: u64,
    /// Events that were given up.
    pub dead: u64,
    /// Leases that were lost to somebody else.
    pub lost: u64,
    /// Verdicts that the store did not take; the events run again.
    pub unsettled: u64,
    /// Events that were leased and, at the end, given back without an attempt.
    pub released: u64,
}

impl Tally {
    fn count(&mut self, end: End) {
        let counter = match end {
            End::Processed => &mut self.processed,
            End::Failed => &mut self.failed,
            End::Dead => &mut self.dead,
            End::Lost => &mut self.lost,
            End::Unsettled => &mut self.unsettled,
        };
        *counter = counter.saturating_add(1);
    }
}

impl<S, H, Acting> Worker<S, H>
where
    S: InboxStore,
    H: Fn(Job) -> Acting,
    Acting: Future<Output = Result<Verdict, HandlerError>>,
{
    /// A worker with 8 handlers at once, leases of 60 s, 20 attempts, and a look into the store
    /// each second while nothing is due.
    pub fn new(store: S, handler: H) -> Self {
        Self {
            store,
            handler,
            lease: DEFAULT_LEASE,
            backoff: Backoff::default(),
            errors: Backoff::new(Duration::from_millis(100), Duration::from_secs(30)),
            observer: Arc::new(Stderr),
            concurrency: 8,
            max_attempts: DEFAULT_MAX_ATTEMPTS,
            poll: Duration::from_secs(1),
        }
    }

    /// How many handlers run at once; at least 1.
    #[must_use]
    pub fn concurrency(mut self, handlers: usize) -> Self {
        self.concurrency = handlers.max(1);
        self
    }

    /// How long an event is ours without a renewal, which comes after each third of it: how soon
    /// somebody else takes over when this process dies. At least 3 ms.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease.max(Duration::from_millis(3));
        self
    }

    /// How long failed events wait.
    #[must_use]
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// After this many attempts (at least 1) the next failure makes an event dead.
    #[must_use]
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts.max(1);
        self
    }

    /// How long to wait before looking again when nothing was due; at least a millisecond.
    #[must_use]
    pub fn poll(mut self, pause: Duration) -> Self {
        self.poll = pause.max(Duration::from_millis(1));
        self
    }

    /// Who is told of dead events, failures, lost leases and errors of the store; standard error
    /// if not set.
    #[must_use]
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.observer = Arc::new(observer);
        self
    }

    /// Works until `shutdown` is done. Then nothing new is leased, what runs is finished, and what
    /// was leased and not begun is given back. Returns what was done.
    ///
    /// Dropped instead, it stops at once: leases that were held are reported as abandoned, and
    /// their events run again.
    ///
    /// `sleep` is the runtime's: `tokio::time::sleep`, for instance.
    pub async fn run<Pause: Future>(
        &self,
        shutdown: impl Future,
        sleep: impl Fn(Duration) -> Pause,
    ) -> Tally {
        let mut tally = Tally::default();
        let mut errors = 0_u32;
        let mut shutdown = pin!(shutdown.fuse());
        let mut running = FuturesUnordered::new();
        let mut fetch: Option<StoreFuture<'_, Result<Leased, StoreError>>> = None;
        let mut asked = 0;
        let mut pause = None;
        let mut is_over = false;
        loop {
            let free = self.concurrency.saturating_sub(running.len());
            if !is_over && fetch.is_none() && pause.is_none() && free > 0 {
                asked = free;
                fetch = Some(self.store.lease_due(self.leasing(free)));
            }
            let next = poll_fn(|context| {
                if !is_over && shutdown.as_mut().poll(context).is_ready() {
                    return Poll::Ready(Next::Shutdown);
                }
                if let Poll::Ready(Some(end)) = running.poll_next_unpin(context) {
                    return Poll::Ready(Next::Ended(end));
                }
                if let Some(fetching) = &mut fetch
                    && let Poll::Ready(fetched) = fetching.as_mut().poll(context)
                {
                    return Poll::Ready(Next::Fetched(fetched));
                }
                if let Some(pausing) = &mut pause
                    && Future::poll(std::pin::Pin::as_mut(pausing), context).is_ready()
                {
                    return Poll::Ready(Next::Rested);
                }
                if is_over && running.is_empty() && fetch.is_none() {
                    return Poll::Ready(Next::AllDone);
                }
                Poll::Pending
            });
            match next.await {
                Next::Shutdown => {
                    is_over = true;
                    pause = None;
                }
                Next::Rested => pause = None,
                Next::Ended(end) => tally.count(end),
                Next::Fetched(Err(error)) => {
                    fetch = None;
                    errors = errors.saturating_add(1);
                    let task = Task::Lease;
                    let error = &error;
                    self.observer.notice(&Notice::Store { task, error });
                    let seed = std::process::id();
                    let wait = self.errors.part(&seed.to_be_bytes(), errors, 0);
                    pause = Some(Box::pin(sleep(wait.max(Duration::from_millis(1)))));
                }
                Next::Fetched(Ok(leased)) => {
                    fetch = None;
                    errors = 0;
                    for receipt in &leased.buried {
                        tally.count(End::Dead);
                        let error = None;
                        self.observer.notice(&Notice::Dead { receipt, error });
                    }
                    if leased.unreadable > 0 {
                        let error = &StoreError::new(StoreErrorKind::Corrupt);
                        let task = Task::Lease;
                        self.observer.notice(&Notice::Store { task, error });
                    }
                    if leased.events.len() < asked && !leased.more && !is_over {
                        pause = Some(Box::pin(sleep(self.poll)));
                    }
                    for (lease, parked) in leased.events {
                        if is_over {
                            tally.released = tally.released.saturating_add(1);
                            self.release(lease).await;
                        } else {
                            running.push(self.attempt(lease, parked, &sleep));
                        }
                    }
                }
                Next::AllDone => return tally,
            }
        }
    }

    fn leasing(&self, free: usize) -> Leasing {
        Leasing::up_to(free)
            .lease(self.lease)
            .max_attempts(self.max_attempts)
    }

    /// If this fails the lease's end does the same, later.
    async fn release(&self, lease: Lease) {
        if let Err(SettleError { lease, fault }) = self.store.release(lease).await {
            self.report(&lease, &fault, Task::Release);
        }
    }
}

/// What happened next.
enum Next {
    Shutdown,
    Ended(End),
    Fetched(Result<Leased, StoreError>),
    Rested,
    AllDone,
}

impl<S, H> fmt::Debug for Worker<S, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("concurrency", &self.concurrency)
            .field("lease", &self.lease)
            .field("backoff", &self.backoff)
            .field("max_attempts", &self.max_attempts)
            .field("poll", &self.poll)
            .finish_non_exhaustive()
    }
}
