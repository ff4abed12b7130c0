//! The parent: the senders to each worker process, and a new process for each that was killed.

use std::{
    collections::BTreeMap,
    net::TcpListener,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use super::{
    backend::Arena,
    faults::{self, Ended},
    plan::Plan,
    process::Worker,
    queue::{Batch, Queue, Tally},
    requests,
    wire::{GO, Link, Post, Reply, Request, Told, WAIT},
};

/// What all senders share.
pub(crate) struct Campaign<'a, A> {
    pub(crate) arena: &'a A,
    pub(crate) plan: &'a Plan,
    pub(crate) queue: Queue,
    /// How far the store's clock is off, in seconds.
    pub(crate) clock: AtomicI64,
    pub(crate) is_disk_full: AtomicBool,
    /// Deliveries that failed for want of a connection, a lock or room.
    pub(crate) wanting: AtomicUsize,
    /// The worker processes.
    pub(crate) processes: Mutex<BTreeMap<usize, u32>>,
    /// As they are sent; those that were not planned are made at their time.
    deliveries: Vec<String>,
}

/// Ends the other senders too when one panics.
struct StopsAll<'a>(&'a Queue);

impl Drop for StopsAll<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

pub(crate) fn send_all<A: Arena>(arena: &A, name: &str, plan: &Plan) -> Tally {
    let campaign = &Campaign {
        arena,
        plan,
        queue: Queue::new(plan),
        clock: AtomicI64::new(0),
        is_disk_full: AtomicBool::new(false),
        wanting: AtomicUsize::new(0),
        processes: Mutex::default(),
        deliveries: (0..Plan::events())
            .map(|event| requests::delivery(event, plan.is_signed()))
            .collect(),
    };
    thread::scope(|scope| {
        for number in 0..plan.workers {
            scope.spawn(move || campaign.keep_a_worker(name, number));
        }
    });
    campaign.queue.tally()
}

impl<A: Arena> Campaign<'_, A> {
    /// One worker after the other, until there is nothing left to do.
    fn keep_a_worker(&self, name: &str, number: usize) {
        let _stops = StopsAll(&self.queue);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let post = Post {
            worker: number,
            port: listener.local_addr().unwrap().port(),
            place: self.arena.place(),
        };
        loop {
            let worker = Worker::start(name, &post);
            self.processes.lock().unwrap().insert(number, worker.id());
            let links = worker.connections(&listener, self.plan.hands, &self.queue);
            thread::scope(|scope| {
                for stream in links {
                    let worker = &worker;
                    scope.spawn(move || self.send(number, worker, Link::new(stream)));
                }
            });
            if !self.queue.is_on() {
                worker.kill();
                return;
            }
            if !worker.was_killed() {
                worker.end(&self.queue);
                return;
            }
        }
    }

    /// One sender: until all is delivered, or the worker is dead.
    fn send(&self, number: usize, worker: &Worker, mut link: Link) {
        let _stops = StopsAll(&self.queue);
        while let Some(batch) = self.queue.take(number) {
            let Some(answers) = self.deliver(worker, &mut link, &batch) else {
                self.queue.unanswered(&batch);
                let is_meant = worker.was_killed() || !self.queue.is_on();
                assert!(is_meant, "a worker broke off a connection");
                return;
            };
            let wanting = |told: &&Told| matches!(told, Told::Starved | Told::DiskFull);
            let wanting = answers.iter().filter(wanting).count();
            self.wanting.fetch_add(wanting, SeqCst);
            self.queue.answered(&batch, &answers);
            if !answers.iter().all(|told| told.is_2xx()) {
                // A sender waits before it comes again.
                thread::sleep(Duration::from_millis(10));
            }
        }
        self.wait_for_the_inbox();
    }

    /// What was accepted is still to be acted on, by the workers as they are.
    fn wait_for_the_inbox(&self) {
        while self.is_left_in_the_inbox() && self.queue.wait() {}
    }

    #[cfg(feature = "inbox")]
    fn is_left_in_the_inbox(&self) -> bool {
        const LEFT: &str = "SELECT count(*) FROM webhook_receipt WHERE state <> 2";
        self.plan.way == super::plan::Way::Inbox && self.arena.number(LEFT) > 0
    }

    #[cfg(not(feature = "inbox"))]
    fn is_left_in_the_inbox(&self) -> bool {
        false
    }

    /// What the worker answers, or nothing if it is dead.
    fn deliver(&self, worker: &Worker, link: &mut Link, batch: &Batch) -> Option<Vec<Told>> {
        let trouble = batch.trouble.map(|_| faults::Pending::new(&self.queue));
        let deliveries = batch
            .events
            .iter()
            .map(|&event| match self.deliveries.get(event) {
                Some(delivery) => delivery.clone(),
                None => requests::delivery(event, self.plan.is_signed()),
            });
        let request = Request {
            stop: batch.trouble,
            clock: self.clock.load(SeqCst),
            is_disk_full: self.is_disk_full.load(SeqCst),
            deliveries: deliveries.collect(),
        };
        let hear = |link: &mut Link| link.hear_while(|| self.queue.is_on());
        link.say(&request.line())?;
        let mut reply = Reply::of(&hear(link)?);
        while reply == Reply::Stopped(0) && self.is_left_in_the_inbox() {
            link.say(WAIT)?;
            reply = Reply::of(&hear(link)?);
        }
        if let Reply::Stopped(events) = reply {
            // A handler with nothing to do is no victim.
            if let Some(pending) = trouble.filter(|_| events > 0) {
                match faults::happen(self, worker) {
                    Ended::Now { cuts } => pending.over(cuts),
                    Ended::Not => drop(pending),
                    Ended::Killed => {
                        // What it says no more is what was meant to happen.
                        assert_eq!(hear(link), None);
                        pending.over(0);
                        return None;
                    }
                }
            }
            link.say(GO)?;
            reply = Reply::of(&hear(link)?);
        }
        let Reply::Answers(answers) = reply else {
            panic!("stopped twice");
        };
        Some(answers)
    }
}
