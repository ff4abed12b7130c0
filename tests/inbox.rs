//! The gate's way into an inbox, and workers: what they answer, repeat, finish, give back and
//! report. The contract of inboxes is the conformance suite's.
#![cfg(all(feature = "inbox", feature = "json", feature = "testing"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use std::{
    future::{Future, pending, poll_fn, ready},
    pin::{Pin, pin},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use hookproof::{
    Claim, Claiming, Decision, EventKey, Gate, IdempotencyStore, Lease, MemoryStore, Receipt,
    Secrets, State, StoreError, Verdict,
    inbox::{
        Accepted, Backoff, Dropping, InboxStore, Job, Leased, Leasing, Listing, Notice, Parcel,
        Parked, Requeued, Tally, Worker,
    },
    review::{
        Admission, Case, Discarding, Kept, Review, ReviewId, ReviewListing, ReviewPurge,
        ReviewStore, WithDelivery,
    },
    scheme,
    store::{SettleError, StoreErrorKind, StoreFuture},
    testing::{ManualClock, Signed, block_on, conformance::Witness, sign},
};
use time::{OffsetDateTime, macros::datetime};

const NOW: OffsetDateTime = datetime!(2027-01-15 08:00 UTC);
const SECRET: &str = "a-secret-of-sufficient-length";
const LEASE: Duration = Duration::from_secs(60);

/// A store that fails when told so, and counts.
#[derive(Clone)]
struct Store {
    inner: Arc<MemoryStore>,
    fails: Arc<Fails>,
}

#[derive(Default)]
struct Fails {
    accepting: AtomicBool,
    leasing: AtomicUsize,
    settling: AtomicUsize,
    renewing: AtomicUsize,
    fetches: AtomicUsize,
    renewals: AtomicUsize,
    most_asked: AtomicUsize,
}

fn down() -> StoreError {
    StoreError::new(StoreErrorKind::Unavailable)
}

/// Counts down: whether this call is one of those that fail.
fn fails(left: &AtomicUsize) -> bool {
    left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1))
        .is_ok()
}

impl IdempotencyStore for Store {
    fn claim(&self, claiming: Claiming) -> StoreFuture<'_, Result<Claim, StoreError>> {
        self.inner.claim(claiming)
    }

    fn settle(
        &self,
        lease: Lease,
        verdict: Verdict,
    ) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        if fails(&self.fails.settling) {
            return Box::pin(ready(Err(SettleError::store(lease, down()))));
        }
        self.inner.settle(lease, verdict)
    }

    fn renew(&self, lease: Lease, length: Duration) -> StoreFuture<'_, Result<Lease, SettleError>> {
        self.fails.renewals.fetch_add(1, SeqCst);
        if fails(&self.fails.renewing) {
            return Box::pin(ready(Err(SettleError::store(lease, down()))));
        }
        self.inner.renew(lease, length)
    }

    fn release(&self, lease: Lease) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        self.inner.release(lease)
    }

    fn get<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        self.inner.get(key)
    }

    fn forget<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        self.inner.forget(key)
    }

    fn purge(&self, at_most: usize) -> StoreFuture<'_, Result<usize, StoreError>> {
        self.inner.purge(at_most)
    }
}

impl InboxStore for Store {
    fn accept(&self, parcel: Parcel) -> StoreFuture<'_, Result<Accepted, StoreError>> {
        if self.fails.accepting.load(SeqCst) {
            return Box::pin(ready(Err(down())));
        }
        self.inner.accept(parcel)
    }

    fn lease_due(&self, leasing: Leasing) -> StoreFuture<'_, Result<Leased, StoreError>> {
        self.fails.fetches.fetch_add(1, SeqCst);
        self.fails.most_asked.fetch_max(leasing.limit(), SeqCst);
        if fails(&self.fails.leasing) {
            return Box::pin(ready(Err(down())));
        }
        self.inner.lease_due(leasing)
    }

    fn requeue<'a>(&'a self, key: &'a EventKey) -> StoreFuture<'a, Result<Requeued, StoreError>> {
        self.inner.requeue(key)
    }

    fn list(&self, listing: Listing) -> StoreFuture<'_, Result<Vec<Receipt>, StoreError>> {
        self.inner.list(listing)
    }

    fn parked<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Parked>, StoreError>> {
        self.inner.parked(key)
    }

    fn drop_bodies(&self, dropping: Dropping) -> StoreFuture<'_, Result<usize, StoreError>> {
        self.inner.drop_bodies(dropping)
    }
}

impl ReviewStore for Store {
    fn keep(&self, case: Case) -> StoreFuture<'_, Result<Kept, StoreError>> {
        self.inner.keep(case)
    }

    fn reviews(&self, listing: ReviewListing) -> StoreFuture<'_, Result<Vec<Review>, StoreError>> {
        self.inner.reviews(listing)
    }

    fn review<'a>(
        &'a self,
        id: &'a ReviewId,
    ) -> StoreFuture<'a, Result<Option<WithDelivery>, StoreError>> {
        self.inner.review(id)
    }

    fn admit<'a>(&'a self, id: &'a ReviewId) -> StoreFuture<'a, Result<Admission, StoreError>> {
        self.inner.admit(id)
    }

    fn discard<'a>(&'a self, id: &'a ReviewId) -> StoreFuture<'a, Result<Discarding, StoreError>> {
        self.inner.discard(id)
    }

    fn purge_reviews(&self, purge: ReviewPurge) -> StoreFuture<'_, Result<usize, StoreError>> {
        self.inner.purge_reviews(purge)
    }
}

/// A gate before a store, with a clock to turn and a list of what was noticed.
struct Rig {
    store: Store,
    gate: Gate<Store>,
    clock: ManualClock,
    dropped: Witness,
    notices: Arc<Mutex<Vec<String>>>,
    naps: Arc<Mutex<Vec<Duration>>>,
}

impl Rig {
    fn new() -> Self {
        let (clock, dropped) = (ManualClock::at(NOW), Witness::default());
        let inner = MemoryStore::builder()
            .clock(clock.clone())
            .on_abandoned(dropped.clone())
            .build();
        let store = Store {
            inner: Arc::new(inner),
            fails: Arc::default(),
        };
        let secrets = Secrets::new(&scheme::STRIPE, [SECRET]).unwrap();
        Self {
            gate: Gate::new(secrets, store.clone()),
            store,
            clock,
            dropped,
            notices: Arc::default(),
            naps: Arc::default(),
        }
    }

    fn post(&self, request: &Signed) -> hookproof::Outcome {
        block_on(self.gate.accept(&request.body, request, NOW))
    }

    /// Accepts events of these numbers.
    fn fill(&self, events: std::ops::Range<usize>) {
        for n in events {
            assert_eq!(self.post(&event(n)).status(), 200);
        }
    }

    fn row(&self, n: usize) -> Receipt {
        block_on(self.store.get(&key(n))).unwrap().unwrap()
    }

    fn worker<H, Acting>(&self, handler: H) -> Worker<Store, H>
    where
        H: Fn(Job) -> Acting,
        Acting: Future<Output = Done>,
    {
        let notices = self.notices.clone();
        Worker::new(self.store.clone(), handler)
            .lease(LEASE)
            .backoff(Backoff::new(Duration::ZERO, Duration::ZERO))
            .observer(move |notice: &Notice<'_>| notices.lock().unwrap().push(notice.to_string()))
    }

    /// Sleeps that last a turn, each taken down. The clock moves with them.
    fn sleep(&self) -> impl Fn(Duration) -> Turn + Sync {
        let (clock, naps) = (self.clock.clone(), self.naps.clone());
        move |length| {
            naps.lock().unwrap().push(length);
            Turn {
                clock: clock.clone(),
                length,
                polled: false,
            }
        }
    }

    fn notices(&self) -> Vec<String> {
        std::mem::take(&mut self.notices.lock().unwrap())
    }

    /// Works until nothing waits any more.
    fn work<H, Acting>(&self, worker: &Worker<Store, H>) -> Tally
    where
        H: Fn(Job) -> Acting,
        Acting: Future<Output = Done>,
    {
        let all_done = poll_fn(|_| {
            let open = [State::Received, State::InProgress, State::Failed];
            let left = |state| {
                !block_on(self.store.list(Listing::of(state)))
                    .unwrap()
                    .is_empty()
            };
            match open.into_iter().any(left) {
                true => Poll::Pending,
                false => Poll::Ready(()),
            }
        });
        block_on(worker.run(all_done, self.sleep()))
    }
}

type Done = Result<Verdict, Box<dyn std::error::Error + Send + Sync>>;

/// Over when it is polled for the second time.
struct Turn {
    clock: ManualClock,
    length: Duration,
    polled: bool,
}

impl Future for Turn {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.polled {
            self.clock.advance(self.length);
            return Poll::Ready(());
        }
        self.polled = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

fn event(n: usize) -> Signed {
    let body = format!(r#"{{"id":"evt_{n}","type":"invoice.paid"}}"#);
    sign(&scheme::STRIPE, SECRET, body.as_bytes(), NOW).unwrap()
}

fn key(n: usize) -> EventKey {
    let request = event(n);
    let secrets = Secrets::new(&scheme::STRIPE, [SECRET]).unwrap();
    let delivery = hookproof::verify(&request.body, &request, &secrets, NOW).unwrap();
    delivery.event_key("").unwrap()
}

/// A future that ends when it is told so.
#[derive(Clone, Default)]
struct Signal(Arc<(AtomicBool, Mutex<Vec<Waker>>)>);

impl Signal {
    fn give(&self) {
        self.0.0.store(true, SeqCst);
        self.0.1.lock().unwrap().drain(..).for_each(Waker::wake);
    }

    fn wait(&self) -> impl Future<Output = ()> + use<> {
        let Self(shared) = self.clone();
        poll_fn(move |context| {
            shared.1.lock().unwrap().push(context.waker().clone());
            match shared.0.load(SeqCst) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
    }
}

fn poll_once<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn an_accepted_delivery_is_stored_before_its_answer() {
    let rig = Rig::new();
    let outcome = rig.post(&event(1));
    assert_eq!((outcome.status(), outcome.body()), (200, &b"received"[..]));
    assert!(matches!(outcome.decision(), Decision::Accepted(_)));
    assert!(!outcome.decision().wants_attention());
    assert!(
        outcome
            .to_string()
            .starts_with("accepted 200 provider=stripe")
    );
    assert_eq!(outcome.retry_after(), None);
    assert_eq!(rig.row(1).state, State::Received);
    let parked = block_on(rig.store.parked(&key(1))).unwrap().unwrap();
    assert_eq!(parked.body, event(1).body);
    assert_eq!(parked.facts.event_type.as_deref(), Some("invoice.paid"));
    assert!(parked.facts.coverage.body);
    assert_eq!(parked.headers, [], "none was chosen");

    let again = rig.post(&event(1));
    assert_eq!((again.status(), again.decision().label()), (200, "pending"));
}

#[test]
fn headers_are_kept_by_name() {
    let rig = Rig::new();
    let gate = Gate::new(
        Secrets::new(&scheme::STRIPE, [SECRET]).unwrap(),
        rig.store.clone(),
    )
    .keep_headers(["X-Region", "X-Missing"]);
    let mut request = event(1);
    request.headers.push(("x-region".into(), "eu".into()));
    assert_eq!(
        block_on(gate.accept(&request.body, &request, NOW)).status(),
        200
    );
    let parked = block_on(rig.store.parked(&key(1))).unwrap().unwrap();
    assert_eq!(parked.headers, [("X-Region".to_owned(), b"eu".to_vec())]);
}

#[test]
fn what_is_not_stored_is_not_answered_200() {
    let rig = Rig::new();
    rig.store.fails.accepting.store(true, SeqCst);
    let outcome = rig.post(&event(1));
    assert_eq!((outcome.status(), outcome.retry_after()), (503, Some(30)));
    assert!(matches!(outcome.decision(), Decision::Unavailable(_)));
    rig.store.fails.accepting.store(false, SeqCst);

    let mut forged = event(1);
    forged.body.push(b' ');
    assert_eq!(rig.post(&forged).status(), 401);
    assert_eq!(block_on(rig.store.get(&key(1))).unwrap(), None);
    let late = NOW + Duration::from_secs(301);
    let request = event(1);
    let outcome = block_on(rig.gate.accept(&request.body, &request, late));
    assert_eq!(
        (outcome.status(), outcome.decision().label()),
        (401, "stale")
    );

    let small = Gate::new(
        Secrets::new(&scheme::STRIPE, [SECRET]).unwrap(),
        rig.store.clone(),
    )
    .body_limit(10);
    assert_eq!(
        block_on(small.accept(&request.body, &request, NOW)).status(),
        413
    );
    let nameless = sign(&scheme::STRIPE, SECRET, b"{}", NOW).unwrap();
    assert_eq!(rig.post(&nameless).status(), 422);
}

#[test]
fn answers_follow_the_receipt() {
    let rig = Rig::new();
    rig.fill(0..2);
    let worker = rig.worker(|job: Job| async move {
        match job.key().id() {
            "evt_0" => Ok(Verdict::done("invoice 7")),
            _ => Ok(Verdict::dead("unknown customer")),
        }
    });
    rig.work(&worker);
    let done = rig.post(&event(0));
    assert_eq!((done.status(), done.body()), (200, &b"invoice 7"[..]));
    assert_eq!(done.decision().label(), "duplicate");
    let dead = rig.post(&event(1));
    assert_eq!((dead.status(), dead.decision().label()), (200, "dead"));
    let other = br#"{"id":"evt_0","type":"invoice.void"}"#;
    let other = sign(&scheme::STRIPE, SECRET, other, NOW).unwrap();
    assert_eq!(rig.post(&other).status(), 202);
}

#[test]
fn failures_are_repeated_and_reported_until_the_last() {
    let rig = Rig::new();
    rig.fill(0..3);
    let runs = Mutex::new(Vec::new());
    let worker = rig
        .worker(|job: Job| {
            runs.lock()
                .unwrap()
                .push((job.key().id().to_owned(), job.attempt()));
            async move {
                match (job.key().id(), job.attempt()) {
                    ("evt_0", 1) => Err("no\nroute".into()),
                    ("evt_1", 1) => panic!("on purpose"),
                    ("evt_2", _) => Err("never".into()),
                    _ => Ok(Verdict::done("")),
                }
            }
        })
        .concurrency(1)
        .max_attempts(3);
    let tally = rig.work(&worker);
    assert_eq!((tally.processed, tally.failed, tally.dead), (2, 4, 1));
    let dead = rig.row(2);
    assert_eq!((dead.state, dead.attempts), (State::Dead, 3));
    let mut runs = runs.into_inner().unwrap();
    runs.sort();
    let of = |id: &str| runs.iter().filter(|run| run.0 == id).count();
    assert_eq!((of("evt_0"), of("evt_1"), of("evt_2")), (2, 2, 3));
    let notices = rig.notices();
    let count = |start: &str, end: &str| {
        let fits = |line: &&String| line.starts_with(start) && line.ends_with(end);
        notices.iter().filter(fits).count()
    };
    assert_eq!(count("failed", "attempt=1 reason=\"no\\nroute\""), 1);
    assert_eq!(
        count("failed", "attempt=1 reason=\"the handler panicked\""),
        1
    );
    assert_eq!(count("failed", "reason=\"never\""), 2);
    assert_eq!(count("dead", "attempts=3 reason=\"never\""), 1);
    assert_eq!(notices.len(), 5, "{notices:?}");
    assert_eq!(rig.dropped.count(), 0);
}

#[test]
fn a_panic_before_the_handlers_future_is_a_failure_too() {
    let rig = Rig::new();
    rig.fill(0..1);
    let worker = rig.worker(|job: Job| {
        assert!(job.attempt() > 1, "on purpose");
        ready(Ok(Verdict::done("")))
    });
    let tally = rig.work(&worker);
    assert_eq!((tally.processed, tally.failed), (1, 1));
}

#[test]
fn failed_events_wait_as_the_backoff_says() {
    let rig = Rig::new();
    rig.fill(0..1);
    let backoff = Backoff::new(Duration::from_secs(100), Duration::from_secs(1000));
    let worker = rig
        .worker(|_| ready(Err::<Verdict, _>("no".into())))
        .backoff(backoff)
        .poll(Duration::from_secs(1));
    let failed = Signal::default();
    // One attempt: the sleep that follows it never ends.
    let run = worker.run(failed.wait(), |_| pending::<()>());
    let mut run = pin!(run);
    assert!(poll_once(run.as_mut()).is_pending());
    let row = rig.row(0);
    let wait = backoff.wait(&row.key, 1, row.fence);
    let micros = Duration::from_micros(u64::try_from(wait.as_micros()).unwrap());
    assert_eq!(row.until, Some(row.changed_at + micros));
    assert_eq!((row.state, row.attempts), (State::Failed, 1));
    failed.give();
    assert_eq!(block_on(run).failed, 1);
}

#[test]
fn handlers_may_choose_wait_and_end() {
    let rig = Rig::new();
    rig.fill(0..2);
    let long = "x".repeat(hookproof::store::MAX_RESULT_BYTES + 1);
    let worker = rig.worker(|job: Job| {
        let long = long.clone();
        async move {
            Ok(match (job.key().id(), job.attempt()) {
                ("evt_0", 1) => Verdict::retry(Duration::from_secs(7)),
                ("evt_0", _) => Verdict::done(long),
                _ => Verdict::dead("never"),
            })
        }
    });
    let tally = rig.work(&worker);
    assert_eq!((tally.processed, tally.failed, tally.dead), (1, 1, 1));
    // What is too long is cut, since the action has happened.
    assert_eq!(rig.row(0).result.len(), hookproof::store::MAX_RESULT_BYTES);
    assert_eq!(rig.row(1).result, b"never");
    assert!(rig.clock_moved() >= Duration::from_secs(7));
}

impl Rig {
    fn clock_moved(&self) -> Duration {
        use hookproof::clock::Clock as _;
        (self.clock.now() - NOW).unsigned_abs()
    }
}

#[test]
fn no_more_handlers_run_than_allowed() {
    let rig = Rig::new();
    rig.fill(0..20);
    let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let worker = rig
        .worker(|_| async {
            most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
            // Lets the others in.
            let mut turns = 0;
            poll_fn(|context| {
                turns += 1;
                context.waker().wake_by_ref();
                if turns > 3 {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
            .await;
            running.fetch_sub(1, SeqCst);
            Ok(Verdict::done(""))
        })
        .concurrency(3);
    assert_eq!(rig.work(&worker).processed, 20);
    assert_eq!(most.load(SeqCst), 3);
    assert_eq!(rig.store.fails.most_asked.load(SeqCst), 3);
}

#[test]
fn shutdown_finishes_what_runs_and_leases_nothing_new() {
    let rig = Rig::new();
    rig.fill(0..4);
    let (stop, finish) = (Signal::default(), Signal::default());
    let worker = rig
        .worker(|_| async {
            finish.wait().await;
            Ok(Verdict::done("finished"))
        })
        .concurrency(2);
    let mut run = pin!(worker.run(stop.wait(), |_| pending::<()>()));
    assert!(poll_once(run.as_mut()).is_pending());
    let count = |state| block_on(rig.store.list(Listing::of(state))).unwrap().len();
    assert_eq!((count(State::InProgress), count(State::Received)), (2, 2));
    stop.give();
    assert!(poll_once(run.as_mut()).is_pending());
    let fetches = rig.store.fails.fetches.load(SeqCst);
    finish.give();
    let tally = block_on(run);
    assert_eq!((tally.processed, tally.released), (2, 0));
    assert_eq!((count(State::Processed), count(State::Received)), (2, 2));
    assert_eq!(rig.store.fails.fetches.load(SeqCst), fetches);
    assert_eq!(rig.dropped.count(), 0);
}

/// The store's answer comes when the shutdown has come already.
#[test]
fn shutdown_gives_back_what_was_leased_and_not_begun() {
    struct Slow(Store, Signal);
    impl Slow {
        fn of(rig: &Rig, signal: &Signal) -> Arc<Self> {
            Arc::new(Self(rig.store.clone(), signal.clone()))
        }
    }
    impl IdempotencyStore for Slow {
        fn claim(&self, claiming: Claiming) -> StoreFuture<'_, Result<Claim, StoreError>> {
            self.0.claim(claiming)
        }
        fn settle(
            &self,
            lease: Lease,
            verdict: Verdict,
        ) -> StoreFuture<'_, Result<Receipt, SettleError>> {
            self.0.settle(lease, verdict)
        }
        fn renew(
            &self,
            lease: Lease,
            length: Duration,
        ) -> StoreFuture<'_, Result<Lease, SettleError>> {
            self.0.renew(lease, length)
        }
        fn release(&self, lease: Lease) -> StoreFuture<'_, Result<Receipt, SettleError>> {
            self.0.release(lease)
        }
        fn get<'a>(
            &'a self,
            key: &'a EventKey,
        ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
            self.0.get(key)
        }
        fn forget<'a>(
            &'a self,
            key: &'a EventKey,
        ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
            self.0.forget(key)
        }
        fn purge(&self, at_most: usize) -> StoreFuture<'_, Result<usize, StoreError>> {
            self.0.purge(at_most)
        }
    }
    impl InboxStore for Slow {
        fn accept(&self, parcel: Parcel) -> StoreFuture<'_, Result<Accepted, StoreError>> {
            self.0.accept(parcel)
        }
        fn lease_due(&self, leasing: Leasing) -> StoreFuture<'_, Result<Leased, StoreError>> {
            Box::pin(async move {
                let leased = self.0.lease_due(leasing).await;
                self.1.wait().await;
                leased
            })
        }
        fn requeue<'a>(
            &'a self,
            key: &'a EventKey,
        ) -> StoreFuture<'a, Result<Requeued, StoreError>> {
            self.0.requeue(key)
        }
        fn list(&self, listing: Listing) -> StoreFuture<'_, Result<Vec<Receipt>, StoreError>> {
            self.0.list(listing)
        }
        fn parked<'a>(
            &'a self,
            key: &'a EventKey,
        ) -> StoreFuture<'a, Result<Option<Parked>, StoreError>> {
            self.0.parked(key)
        }
        fn drop_bodies(&self, dropping: Dropping) -> StoreFuture<'_, Result<usize, StoreError>> {
            self.0.drop_bodies(dropping)
        }
    }
    let rig = Rig::new();
    rig.fill(0..3);
    let (stop, answer) = (Signal::default(), Signal::default());
    let ran = AtomicBool::new(false);
    let worker = Worker::new(Slow::of(&rig, &answer), |_| {
        ran.store(true, SeqCst);
        ready(Ok(Verdict::done("")))
    });
    let mut run = pin!(worker.run(stop.wait(), |_| pending::<()>()));
    assert!(poll_once(run.as_mut()).is_pending());
    assert_eq!(rig.row(0).state, State::InProgress);
    stop.give();
    assert!(
        poll_once(run.as_mut()).is_pending(),
        "the answer is awaited"
    );
    answer.give();
    let tally = block_on(run);
    assert_eq!((tally.processed, tally.released), (0, 3));
    assert!(!ran.load(SeqCst));
    assert_eq!(rig.dropped.count(), 0);
    // Given back: due at once.
    let leased = block_on(rig.store.lease_due(Leasing::up_to(9))).unwrap();
    assert_eq!(leased.events.len(), 3);
}

#[test]
fn a_long_handler_keeps_its_lease() {
    let rig = Rig::new();
    rig.fill(0..1);
    let worker = rig.worker(|_| async {
        // Ten turns of the beat, of twenty seconds each: more than three leases.
        while rig.store.fails.renewals.load(SeqCst) < 10 {
            let mut polled = false;
            poll_fn(|context| {
                context.waker().wake_by_ref();
                match std::mem::replace(&mut polled, true) {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                }
            })
            .await;
        }
        Ok(Verdict::done("at last"))
    });
    let tally = rig.work(&worker);
    assert_eq!((tally.processed, tally.lost), (1, 0));
    assert_eq!(rig.row(0).attempts, 1);
    assert!(rig.clock_moved() > LEASE * 3);
    assert!(rig.naps.lock().unwrap().contains(&(LEASE / 3)));
}

#[test]
fn a_renewal_that_fails_is_repeated() {
    let rig = Rig::new();
    rig.fill(0..1);
    rig.store.fails.renewing.store(2, SeqCst);
    let worker = rig.worker(|_| async {
        poll_fn(|context| {
            context.waker().wake_by_ref();
            match rig.store.fails.renewals.load(SeqCst) {
                0..=3 => Poll::Pending,
                _ => Poll::Ready(()),
            }
        })
        .await;
        Ok(Verdict::done(""))
    });
    assert_eq!(rig.work(&worker).processed, 1);
    let notices = rig.notices();
    assert_eq!(
        notices,
        ["store Renew: the receipt store is unavailable"; 2]
    );
}

#[test]
fn a_lost_lease_stops_its_handler_and_writes_nothing() {
    struct OnDrop<'a>(&'a AtomicBool);
    impl Drop for OnDrop<'_> {
        fn drop(&mut self) {
            self.0.store(true, SeqCst);
        }
    }
    let rig = Rig::new();
    rig.fill(0..1);
    let stopped = AtomicBool::new(false);
    let taken = Mutex::new(Vec::new());
    let worker = rig.worker(|_| {
        // Somebody else comes after the lease's end, before the first beat.
        rig.clock.advance(LEASE);
        let other = block_on(rig.store.lease_due(Leasing::up_to(1))).unwrap();
        taken.lock().unwrap().extend(other.events);
        async {
            let _guard = OnDrop(&stopped);
            pending::<Done>().await
        }
    });
    let lost = poll_fn(|context| {
        context.waker().wake_by_ref();
        match stopped.load(SeqCst) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    });
    let tally = block_on(worker.run(lost, rig.sleep()));
    assert_eq!((tally.lost, tally.processed), (1, 0));
    let notices = rig.notices();
    assert_eq!(notices.len(), 1);
    assert!(
        notices[0].starts_with("lease lost EventKey("),
        "{notices:?}"
    );
    let (lease, _) = taken.into_inner().unwrap().remove(0);
    assert_eq!((rig.row(0).fence, rig.row(0).attempts), (lease.fence(), 2));
    block_on(rig.store.settle(lease, Verdict::done("theirs"))).unwrap();
}

#[test]
fn a_lease_that_is_lost_at_the_end_is_reported() {
    let rig = Rig::new();
    rig.fill(0..1);
    let worker = rig.worker(|job: Job| {
        if job.attempt() == 1 {
            rig.clock.advance(LEASE);
            let other = block_on(rig.store.lease_due(Leasing::up_to(1))).unwrap();
            for (lease, _) in other.events {
                block_on(rig.store.settle(lease, Verdict::done("theirs"))).unwrap();
            }
        }
        ready(Ok(Verdict::done("ours")))
    });
    let tally = rig.work(&worker);
    assert_eq!((tally.lost, tally.processed), (1, 0));
    assert_eq!(rig.row(0).result, b"theirs");
}

#[test]
fn a_store_that_fails_is_asked_again() {
    let rig = Rig::new();
    rig.fill(0..3);
    rig.store.fails.leasing.store(6, SeqCst);
    rig.store.fails.settling.store(4, SeqCst);
    let worker = rig.worker(|_| ready(Ok(Verdict::done("")))).concurrency(1);
    let tally = rig.work(&worker);
    assert_eq!((tally.processed, tally.unsettled), (3, 0));
    let notices = rig.notices();
    let count = |start| {
        notices
            .iter()
            .filter(|line| line.starts_with(start))
            .count()
    };
    assert_eq!((count("store Lease"), count("store Settle")), (6, 4));
    // It backs off: within bounds that grow.
    let naps = rig.naps.lock().unwrap();
    let bounds = [100, 200, 400, 800, 1600, 3200].map(Duration::from_millis);
    assert!(
        naps.iter().zip(bounds).all(|(nap, bound)| *nap <= bound),
        "{naps:?}"
    );
    assert!(naps[..6].iter().all(|nap| *nap >= Duration::from_millis(1)));
}

#[test]
fn a_verdict_that_cannot_be_written_leaves_the_event_to_the_next() {
    let rig = Rig::new();
    rig.fill(0..1);
    rig.store.fails.settling.store(5, SeqCst);
    let worker = rig
        .worker(|job: Job| async move { Ok(Verdict::done(format!("attempt {}", job.attempt()))) });
    let tally = rig.work(&worker);
    assert_eq!((tally.unsettled, tally.processed), (1, 1));
    assert_eq!(rig.row(0).result, b"attempt 2");
    assert_eq!(rig.dropped.count(), 1, "the lease was dropped, loudly");
}

#[test]
fn a_dropped_worker_lets_go_of_its_leases() {
    let rig = Rig::new();
    rig.fill(0..2);
    let worker = rig.worker(|_| pending::<Done>());
    {
        let mut run = pin!(worker.run(pending::<()>(), |_| pending::<()>()));
        assert!(poll_once(run.as_mut()).is_pending());
    }
    assert_eq!(rig.dropped.count(), 2);
    let leased = block_on(rig.store.lease_due(Leasing::up_to(9))).unwrap();
    assert_eq!(leased.events.len(), 2);
}

#[test]
fn a_worker_with_nothing_to_do_looks_once_per_poll() {
    let rig = Rig::new();
    let worker = rig
        .worker(|_| ready(Ok(Verdict::done(""))))
        .poll(Duration::from_secs(5));
    let turns = AtomicUsize::new(0);
    let stop = poll_fn(|_| match turns.fetch_add(1, SeqCst) {
        0..20 => Poll::Pending,
        _ => Poll::Ready(()),
    });
    let tally = block_on(worker.run(stop, rig.sleep()));
    assert_eq!(tally, Tally::default());
    let naps = rig.naps.lock().unwrap();
    assert!(naps.len() >= 5 && naps.iter().all(|nap| *nap == Duration::from_secs(5)));
    assert!(rig.store.fails.fetches.load(SeqCst) <= naps.len() + 1);
}

/// A run may be spawned on any runtime.
#[test]
fn a_run_is_send() {
    fn send<F: Future + Send>(future: F) -> F {
        future
    }
    let store = Arc::new(MemoryStore::new());
    let worker = Worker::new(store, |job: Job| async move {
        Ok(Verdict::done(job.body().to_vec()))
    });
    let run = send(worker.run(ready(()), |_| pending::<()>()));
    assert_eq!(block_on(run), Tally::default());
}
