//! A worker process with an inbox: it accepts deliveries and, beside that, acts on what any of its
//! like has accepted. There is no other process that looks after what was left behind.

use std::{
    net::TcpStream,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use hookproof::{
    Gate, Verdict,
    gate::{Decision, HandlerError},
    inbox::{Backoff, Job, Notice, Worker},
    review::ReviewStore,
};

use super::{
    backend::{Backend, Effect, Hand, Tx},
    handler::{Desk, Halt},
    plan::{FAILS, LEASE, MAX_ATTEMPTS, Plan, Point},
    requests::{request, secrets},
    run,
    wire::{Link, Post, Reply, Request, Told},
};

/// How long a sender's handler waits for one of the inbox's to come to a point, before it asks
/// whether one may still come.
const ENCOUNTER: Duration = Duration::from_millis(100);

/// Where an inbox's handler is to stand still.
#[derive(Default)]
struct Trap {
    set: Mutex<Set>,
    changed: Condvar,
}

#[derive(Default)]
struct Set {
    at: Option<Point>,
    is_shut: bool,
}

impl Trap {
    fn set(&self, at: Point) {
        *self.set.lock().unwrap() = Set {
            at: Some(at),
            is_shut: false,
        };
    }

    /// Whether somebody is in it.
    fn is_shut(&self) -> bool {
        let set = self.set.lock().unwrap();
        let still_open = |set: &mut Set| !set.is_shut;
        let (set, _) = self
            .changed
            .wait_timeout_while(set, ENCOUNTER, still_open)
            .unwrap();
        set.is_shut
    }

    fn open(&self) {
        *self.set.lock().unwrap() = Set::default();
        self.changed.notify_all();
    }

    /// Does not return while this is where to stand still. All handlers of the process share one
    /// thread, so the others stand still as well, wherever they are.
    fn at(&self, point: Point) {
        let mut set = self.set.lock().unwrap();
        if set.at == Some(point) {
            set.is_shut = true;
            self.changed.notify_all();
            drop(
                self.changed
                    .wait_while(set, |set| set.at.is_some())
                    .unwrap(),
            );
        }
    }
}

struct Inbox<B: Backend> {
    desk: Desk<B>,
    gate: Gate<Arc<B::Store>>,
    trap: Trap,
    /// Of handlers that are done.
    hands: Mutex<Vec<B::Hand>>,
}

pub(crate) fn work<B: Backend>(post: &Post, plan: &Plan)
where
    B::Store: ReviewStore,
{
    let desk = Desk::<B>::new(post, plan);
    let inbox = &Inbox {
        gate: Gate::new(secrets(), desk.store.clone()).tenant("acme"),
        trap: Trap::default(),
        hands: Mutex::default(),
        desk,
    };
    let is_over = &AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(move || run(inbox.act(is_over)));
        let senders: Vec<_> = (0..plan.hands)
            .map(|_| {
                let stream = TcpStream::connect(("127.0.0.1", post.port)).unwrap();
                scope.spawn(move || inbox.serve(Link::new(stream)))
            })
            .collect();
        let ended: Vec<_> = senders.into_iter().map(|sender| sender.join()).collect();
        is_over.store(true, SeqCst);
        ended.into_iter().for_each(|ended| ended.unwrap());
    });
}

impl<B: Backend> Inbox<B>
where
    B::Store: ReviewStore,
{
    fn serve(&self, mut link: Link) {
        while let Some(line) = link.hear() {
            let request = Request::of(&line);
            let answers = run(async {
                let mut answers = Vec::new();
                for delivery in &request.deliveries {
                    answers.push(self.accept(delivery).await);
                }
                answers
            });
            if let Some(point) = request.stop {
                self.trap.set(point);
                while !Halt::new(&mut link, Some(point)).at(point, usize::from(self.trap.is_shut()))
                {
                }
                self.trap.open();
            }
            if link.say(&Reply::Answers(answers).line()).is_none() {
                return;
            }
        }
    }

    async fn accept(&self, delivery: &str) -> Told {
        let signed = request(delivery);
        let outcome = self
            .gate
            .accept(&signed.body, &signed, self.desk.now())
            .await;
        let (told, status) = match outcome.decision() {
            Decision::Accepted(_) => (Told::New, 200),
            Decision::Pending(_) | Decision::Duplicate(_) => (Told::Duplicate, 200),
            Decision::InProgress { .. } => (Told::InProgress, 409),
            Decision::Unavailable(error) => {
                assert!(error.kind().is_transient(), "{error:?}");
                (B::cause(error), 503)
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(outcome.status(), status);
        told
    }

    /// Until there are no senders any more.
    async fn act(&self, is_over: &AtomicBool) {
        let worker = Worker::new(self.desk.store.clone(), |job| self.handle(job))
            .lease(LEASE)
            .max_attempts(MAX_ATTEMPTS)
            .backoff(Backoff::new(
                Duration::from_millis(5),
                Duration::from_millis(50),
            ))
            .poll(Duration::from_millis(20))
            .observer(|notice: &Notice<'_>| {
                assert!(!matches!(notice, Notice::Dead { .. }), "{notice}");
            });
        let shutdown = async {
            while !is_over.load(SeqCst) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        worker.run(shutdown, tokio::time::sleep).await;
    }

    async fn handle(&self, job: Job) -> Result<Verdict, HandlerError> {
        let effect = Effect {
            event: job.key().id().to_owned(),
            attempt: job.attempt(),
            fence: job.fence().0,
        };
        self.trap.at(Point::Claimed);
        if job.attempt() == 1 && usize::from(job.key().digest()[0]).is_multiple_of(FAILS) {
            return Err("fails at first".into());
        }
        let hand = self.hands.lock().unwrap().pop();
        let mut hand = hand.unwrap_or_else(|| self.desk.backend.hand());
        let mut tx = hand.begin().await?;
        tx.act(&effect).await?;
        self.trap.at(Point::Acted);
        tx.commit().await?;
        self.trap.at(Point::Committed);
        self.hands.lock().unwrap().push(hand);
        Ok(Verdict::done(effect.event))
    }
}
