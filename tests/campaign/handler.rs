//! A worker process: its connections to the senders, and the ways in which a batch is handled.

use std::{net::TcpStream, sync::Arc, thread};

use hookproof::{
    Claim, Claiming, EventKey, IdempotencyStore, Lease, Secrets, StoreError, Verdict, scheme,
    store::{Abandoned, OnAbandoned, SettleFault, sql::TxClaim},
    testing::{Signed, sign},
};
use time::{OffsetDateTime, macros::datetime};

use super::{
    backend::{Backend, Effect, Hand, Shifted, Tx},
    plan::{FAILS, Fault, LEASE, MAX_ATTEMPTS, Plan, Point, Way},
    run,
    wire::{GO, Link, Post, Reply, Request, Told},
};

const SECRET: &str = "whsec_T3st0nlyAlphaKey4711xyz";

/// When all requests are signed, whatever the time of day.
const SIGNED: OffsetDateTime = datetime!(2027-01-15 08:00 UTC);

/// What a dropped lease is reported to here: these tests drop them on purpose.
pub(crate) struct Quiet;

impl OnAbandoned for Quiet {
    fn abandoned(&self, _: &Abandoned<'_>) {}
}

/// An event as it is sent: its id, or `id|signature`.
pub(crate) fn delivery(event: usize, is_signed: bool) -> String {
    let id = format!("evt_{event}");
    if !is_signed {
        return id;
    }
    let signed = sign(&scheme::STRIPE, SECRET, body(&id).as_bytes(), SIGNED).unwrap();
    let [(_, signature)] = &signed.headers[..] else {
        panic!("not one header: {signed:?}");
    };
    format!("{id}|{signature}")
}

fn body(id: &str) -> String {
    format!(r#"{{"id":"{id}"}}"#)
}

/// What each handler of a worker knows.
pub(crate) struct Desk<B: Backend> {
    pub(crate) backend: B,
    pub(crate) store: Arc<B::Store>,
    clock: Shifted,
    skew: i64,
    secrets: Secrets,
    way: Way,
    fault: Fault,
}

impl<B: Backend> Desk<B> {
    pub(crate) fn new(post: &Post, plan: &Plan) -> Self {
        let clock = Shifted::default();
        let skew = plan.skew(post.worker);
        let backend = B::open(&post.place, plan, clock.clone());
        Self {
            store: backend.store(),
            backend,
            clock,
            skew,
            secrets: secrets(),
            way: plan.way,
            fault: plan.fault,
        }
    }

    /// What is asked of the store, once the request is found authentic by the host's own time.
    fn claiming(&self, delivery: &str) -> Claiming {
        let claiming = match delivery.split_once('|') {
            None => Claiming::business(EventKey::business("acme", "shop", delivery).unwrap()),
            Some(_) => {
                let signed = request(delivery);
                let now = self.now();
                let verified =
                    hookproof::verify(&signed.body, &signed, &self.secrets, now).unwrap();
                let key = verified.event_key("acme").unwrap();
                Claiming::new(&verified, key)
            }
        };
        claiming.lease(LEASE).max_attempts(MAX_ATTEMPTS)
    }

    /// The time by the host's own clock.
    pub(crate) fn now(&self) -> OffsetDateTime {
        SIGNED + time::Duration::seconds(self.skew)
    }

    /// Turns the store's clock, if this backend goes by ours.
    pub(crate) fn turn(&self, request: &Request) {
        let skew = if B::HAS_CLOCK_OF_HOST { self.skew } else { 0 };
        self.clock.set(skew + request.clock);
    }
}

pub(crate) fn secrets() -> Secrets {
    Secrets::new(&scheme::STRIPE, [SECRET]).unwrap()
}

pub(crate) fn request(delivery: &str) -> Signed {
    let (id, signature) = delivery.split_once('|').unwrap();
    Signed {
        headers: vec![("Stripe-Signature".into(), signature.into())],
        body: body(id).into_bytes(),
        method: "POST".into(),
        url: "https://hooks.example.com/in".into(),
    }
}

/// A handler's line to its sender, with the point to stop at.
pub(crate) struct Halt<'l> {
    link: &'l mut Link,
    stop: Option<Point>,
}

impl<'l> Halt<'l> {
    pub(crate) fn new(link: &'l mut Link, stop: Option<Point>) -> Self {
        Self { link, stop }
    }

    pub(crate) fn is_wanted_at(&self, point: Point) -> bool {
        self.stop == Some(point)
    }

    /// Stands still if this is the point, until it is told to go on.
    pub(crate) fn at(&mut self, point: Point, events: usize) {
        if self.is_wanted_at(point) {
            self.stop = None;
            let said = self.link.say(&Reply::Stopped(events).line());
            if said.and_then(|()| self.link.hear()).as_deref() != Some(GO) {
                // The parent is gone.
                std::process::exit(1);
            }
        }
    }
}

/// A worker's life.
pub(crate) fn work<B: Backend>(post: &Post, plan: &Plan) {
    #[cfg(feature = "inbox")]
    if plan.way == Way::Inbox {
        return B::work_inbox(post, plan);
    }
    let desk = &Desk::<B>::new(post, plan);
    thread::scope(|scope| {
        for _ in 0..plan.hands {
            let stream = TcpStream::connect(("127.0.0.1", post.port)).unwrap();
            scope.spawn(move || desk.serve(Link::new(stream)));
        }
    });
}

impl<B: Backend> Desk<B> {
    fn serve(&self, mut link: Link) {
        let mut hand = self.backend.hand();
        while let Some(line) = link.hear() {
            let request = Request::of(&line);
            self.turn(&request);
            hand.disk_full(request.is_disk_full);
            let mut halt = Halt::new(&mut link, request.stop);
            let batch = &request.deliveries;
            let answers = run(async {
                match self.way {
                    Way::Transaction => self.in_a_transaction(&mut hand, batch, &mut halt).await,
                    _ => self.on_the_pool(&mut hand, batch, &mut halt).await,
                }
            });
            let answers = answers.unwrap_or_else(|error| {
                assert!(error.kind().is_transient(), "{error:?}");
                vec![B::cause(&error); batch.len()]
            });
            if link.say(&Reply::Answers(answers).line()).is_none() {
                return;
            }
        }
    }

    async fn in_a_transaction(
        &self,
        hand: &mut B::Hand,
        batch: &[String],
        halt: &mut Halt<'_>,
    ) -> Result<Vec<Told>, StoreError> {
        halt.at(Point::Taken, batch.len());
        let mut tx = hand.begin().await?;
        halt.at(Point::Begun, batch.len());
        let (mut answers, mut leases) = (Vec::new(), Vec::new());
        for delivery in batch {
            answers.push(match tx.claim(self.claiming(delivery)).await? {
                TxClaim::New(lease) => {
                    leases.push((answers.len(), lease));
                    Told::New
                }
                TxClaim::Duplicate(_) => Told::Duplicate,
                TxClaim::InProgress { .. } => Told::InProgress,
                other => panic!("{other:?}"),
            });
        }
        halt.at(Point::Claimed, leases.len());
        for (_, lease) in &leases {
            if !fails(lease) {
                tx.act(&effect(lease)).await?;
            }
        }
        let hog = self.hog(halt).await;
        halt.at(Point::Acted, leases.len());
        drop(hog);
        let acted = leases.len();
        for (n, lease) in leases {
            let verdict = verdict(&lease);
            if matches!(verdict, Verdict::Retry { .. }) {
                answers[n] = Told::Failed;
            }
            if let Err(error) = tx.settle(lease, verdict).await {
                return match error.fault {
                    SettleFault::Store(error) => Err(error),
                    // Two copies of an event are in the batch, and the clock was set back between
                    // the claims, at which the first one's lease counts as over. All is undone.
                    SettleFault::LeaseLost => Ok(vec![Told::LeaseLost; batch.len()]),
                    SettleFault::ResultTooLong => panic!("too long"),
                };
            }
        }
        halt.at(Point::Settled, acted);
        tx.commit().await?;
        halt.at(Point::Committed, acted);
        Ok(answers)
    }

    async fn on_the_pool(
        &self,
        hand: &mut B::Hand,
        batch: &[String],
        halt: &mut Halt<'_>,
    ) -> Result<Vec<Told>, StoreError> {
        halt.at(Point::Taken, batch.len());
        let (mut answers, mut leases) = (Vec::new(), Vec::new());
        for delivery in batch {
            answers.push(match self.store.claim(self.claiming(delivery)).await? {
                Claim::New(lease) => {
                    leases.push((answers.len(), lease));
                    Told::New
                }
                Claim::Duplicate(_) => Told::Duplicate,
                Claim::InProgress { .. } => Told::InProgress,
                other => panic!("{other:?}"),
            });
        }
        halt.at(Point::Claimed, leases.len());
        if leases.is_empty() {
            return Ok(answers);
        }
        let mut tx = hand.begin().await?;
        for (_, lease) in &leases {
            if !fails(lease) {
                tx.act(&effect(lease)).await?;
            }
        }
        let hog = self.hog(halt).await;
        halt.at(Point::Acted, leases.len());
        drop(hog);
        tx.commit().await?;
        let acted = leases.len();
        halt.at(Point::Committed, acted);
        for (n, lease) in leases {
            answers[n] = self.settle(lease).await;
        }
        halt.at(Point::Settled, acted);
        Ok(answers)
    }

    /// Twice if need be. What is not settled then comes again when its lease has run out.
    async fn settle(&self, lease: Lease) -> Told {
        let verdict = verdict(&lease);
        let told = match verdict {
            Verdict::Retry { .. } => Told::Failed,
            _ => Told::New,
        };
        let error = match self.store.settle(lease, verdict.clone()).await {
            Ok(_) => return told,
            Err(error) => error,
        };
        let error = match error.fault {
            SettleFault::Store(_) => match self.store.settle(*error.lease, verdict).await {
                Ok(_) => return told,
                Err(error) => error,
            },
            _ => error,
        };
        match error.fault {
            SettleFault::LeaseLost => Told::LeaseLost,
            SettleFault::Store(error) => B::cause(&error),
            SettleFault::ResultTooLong => panic!("too long"),
        }
    }

    /// Leaves the others nothing, if that is what is to happen at this point.
    async fn hog(&self, halt: &Halt<'_>) -> Option<B::Hog> {
        match self.fault == Fault::Exhausted && halt.is_wanted_at(Point::Acted) {
            true => Some(self.backend.hog().await),
            false => None,
        }
    }
}

pub(crate) fn effect(lease: &Lease) -> Effect {
    Effect {
        event: lease.key().id().to_owned(),
        attempt: lease.attempt(),
        fence: lease.fence().0,
    }
}

/// Some events fail at first, without an effect.
fn fails(lease: &Lease) -> bool {
    lease.attempt() == 1 && usize::from(lease.key().digest()[0]).is_multiple_of(FAILS)
}

fn verdict(lease: &Lease) -> Verdict {
    match fails(lease) {
        true => Verdict::retry(std::time::Duration::ZERO),
        false => Verdict::done(lease.key().id()),
    }
}
