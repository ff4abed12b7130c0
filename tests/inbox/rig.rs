//! A gate and workers over that store, with a clock and a sleep to turn by hand.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use hookproof::{
    EventKey, Gate, IdempotencyStore, MemoryStore, Receipt, Secrets, State, Verdict,
    inbox::{Backoff, InboxStore, Job, Listing, Notice, Tally, Worker},
    scheme,
    testing::{ManualClock, Signed, block_on, conformance::Witness, sign},
};
use time::{OffsetDateTime, macros::datetime};

use super::store::Store;

pub(super) const NOW: OffsetDateTime = datetime!(2027-01-15 08:00 UTC);
pub(super) const SECRET: &str = "a-secret-of-sufficient-length";
pub(super) const LEASE: Duration = Duration::from_secs(60);

/// A gate before a store, with a clock to turn and a list of what was noticed.
pub(super) struct Rig {
    pub(super) store: Store,
    pub(super) gate: Gate<Store>,
    pub(super) clock: ManualClock,
    pub(super) dropped: Witness,
    pub(super) notices: Arc<Mutex<Vec<String>>>,
    pub(super) naps: Arc<Mutex<Vec<Duration>>>,
}

impl Rig {
    pub(super) fn new() -> Self {
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

    pub(super) fn post(&self, request: &Signed) -> hookproof::Outcome {
        block_on(self.gate.accept(&request.body, request, NOW))
    }

    /// Accepts events of these numbers.
    pub(super) fn fill(&self, events: std::ops::Range<usize>) {
        for n in events {
            assert_eq!(self.post(&event(n)).status(), 200);
        }
    }

    pub(super) fn row(&self, n: usize) -> Receipt {
        block_on(self.store.get(&key(n))).unwrap().unwrap()
    }

    pub(super) fn worker<H, Acting>(&self, handler: H) -> Worker<Store, H>
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
    pub(super) fn sleep(&self) -> impl Fn(Duration) -> Turn + Sync {
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

    pub(super) fn notices(&self) -> Vec<String> {
        std::mem::take(&mut self.notices.lock().unwrap())
    }

    /// Works until nothing waits any more.
    pub(super) fn work<H, Acting>(&self, worker: &Worker<Store, H>) -> Tally
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

pub(super) type Done = Result<Verdict, Box<dyn std::error::Error + Send + Sync>>;

/// Over when it is polled for the second time.
pub(super) struct Turn {
    pub(super) clock: ManualClock,
    pub(super) length: Duration,
    pub(super) polled: bool,
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

pub(super) fn event(n: usize) -> Signed {
    let body = format!(r#"{{"id":"evt_{n}","type":"invoice.paid"}}"#);
    sign(&scheme::STRIPE, SECRET, body.as_bytes(), NOW).unwrap()
}

pub(super) fn key(n: usize) -> EventKey {
    let request = event(n);
    let secrets = Secrets::new(&scheme::STRIPE, [SECRET]).unwrap();
    let delivery = hookproof::verify(&request.body, &request, &secrets, NOW).unwrap();
    delivery.event_key("").unwrap()
}

/// A future that ends when it is told so.
#[derive(Clone, Default)]
pub(super) struct Signal(pub(super) Arc<(AtomicBool, Mutex<Vec<Waker>>)>);

impl Signal {
    pub(super) fn give(&self) {
        self.0.0.store(true, SeqCst);
        self.0.1.lock().unwrap().drain(..).for_each(Waker::wake);
    }

    pub(super) fn wait(&self) -> impl Future<Output = ()> + use<> {
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

pub(super) fn poll_once<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

impl Rig {
    pub(super) fn clock_moved(&self) -> Duration {
        use hookproof::clock::Clock as _;
        (self.clock.now() - NOW).unsigned_abs()
    }
}
