//! A worker process: its connections to the senders, and what its handlers share.

use std::{net::TcpStream, sync::Arc, thread};

use hookproof::{
    Claiming, EventKey, Secrets,
    store::{Abandoned, OnAbandoned},
};
use time::OffsetDateTime;

use super::{
    backend::{Backend, Hand, Shifted},
    plan::{Fault, LEASE, MAX_ATTEMPTS, Plan, Point, Way},
    requests::{SIGNED, request, secrets},
    run,
    wire::{GO, Link, Post, Reply, Request, WAIT},
};

/// What a dropped lease is reported to here: these tests drop them on purpose.
pub(crate) struct Quiet;

impl OnAbandoned for Quiet {
    fn abandoned(&self, _: &Abandoned<'_>) {}
}

/// What each handler of a worker knows.
pub(crate) struct Desk<B: Backend> {
    pub(crate) backend: B,
    pub(crate) store: Arc<B::Store>,
    clock: Shifted,
    skew: i64,
    secrets: Secrets,
    way: Way,
    pub(crate) fault: Fault,
}

impl<B: Backend> Desk<B> {
    pub(crate) fn new(post: &Post, plan: &Plan) -> Self {
        let skew = plan.skew(post.worker);
        let clock = Shifted::by(if B::HAS_CLOCK_OF_HOST { skew } else { 0 });
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
    pub(crate) fn claiming(&self, delivery: &str) -> Claiming {
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

    /// Turns the store's clock back, if that is asked for. A request that was overtaken by another does
    /// not turn it forward again.
    fn turn(&self, request: &Request) {
        let skew = if B::HAS_CLOCK_OF_HOST { self.skew } else { 0 };
        self.clock.back_to(skew + request.clock);
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

    /// Stands still if this is the point, until it is told to go on, or false if to wait for events.
    pub(crate) fn at(&mut self, point: Point, events: usize) -> bool {
        if !self.is_wanted_at(point) {
            return true;
        }
        self.stop = None;
        let said = self.link.say(&Reply::Stopped(events).line());
        match said.and_then(|()| self.link.hear()).as_deref() {
            Some(GO) => true,
            Some(WAIT) => false,
            // The parent is gone.
            _ => std::process::exit(1),
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
}
