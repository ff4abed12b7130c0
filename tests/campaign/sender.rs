//! The parent: worker processes, the senders to each, and a new process for each that was killed.

use std::{
    collections::BTreeMap,
    net::{TcpListener, TcpStream},
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
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
    plan::{Plan, Way},
    queue::{Batch, Queue, Tally},
    requests,
    wire::{GO, Link, Post, Reply, Request, Told},
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
    /// As they are sent.
    deliveries: Vec<String>,
}

/// A worker process, and what its senders have seen of it.
pub(crate) struct Worker {
    process: Mutex<Child>,
    was_killed: AtomicBool,
}

impl Worker {
    fn start(name: &str, post: &Post) -> Self {
        // A file that may not grow is an error to the writer, and not its end.
        let script = r#"trap '' XFSZ; exec "$0" "$@""#;
        let process = Command::new("sh")
            .args(["-c", script])
            .arg(std::env::current_exe().unwrap())
            .args([name, "--exact", "--nocapture", "--test-threads=1"])
            .envs(post.variables())
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self {
            process: Mutex::new(process),
            was_killed: AtomicBool::new(false),
        }
    }

    pub(crate) fn kill(&self) {
        self.was_killed.store(true, SeqCst);
        self.process.lock().unwrap().kill().unwrap();
    }

    /// Its connections, one for each sender.
    fn connections(&self, listener: &TcpListener, hands: usize) -> Vec<TcpStream> {
        let mut all = Vec::new();
        while all.len() < hands {
            match listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false).unwrap();
                    all.push(stream);
                }
                Err(_) => {
                    let ended = self.process.lock().unwrap().try_wait().unwrap();
                    assert!(ended.is_none(), "a worker ended before its work: {ended:?}");
                    thread::sleep(Duration::from_millis(1));
                }
            }
        }
        all
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let mut process = self.process.lock().unwrap_or_else(|e| e.into_inner());
        if thread::panicking() {
            let _ = process.kill();
        }
        let status = process.wait();
        if !thread::panicking() && !self.was_killed.load(SeqCst) {
            assert!(status.unwrap().success(), "a worker failed");
        }
    }
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
            let id = worker.process.lock().unwrap().id();
            self.processes.lock().unwrap().insert(number, id);
            let links = worker.connections(&listener, self.plan.hands);
            thread::scope(|scope| {
                for stream in links {
                    let worker = &worker;
                    scope.spawn(move || self.send(number, worker, Link::new(stream)));
                }
            });
            if !worker.was_killed.load(SeqCst) {
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
                let was_killed = worker.was_killed.load(SeqCst);
                assert!(was_killed, "a worker broke off a connection");
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
    #[cfg(feature = "inbox")]
    fn wait_for_the_inbox(&self) {
        let left = || {
            self.arena
                .number("SELECT count(*) FROM webhook_receipt WHERE state <> 2")
        };
        while self.plan.way == Way::Inbox && !self.queue.is_stopped() && left() > 0 {
            self.queue.wait();
        }
    }

    #[cfg(not(feature = "inbox"))]
    fn wait_for_the_inbox(&self) {}

    /// What the worker answers, or nothing if it is dead.
    fn deliver(&self, worker: &Worker, link: &mut Link, batch: &Batch) -> Option<Vec<Told>> {
        let trouble = batch.trouble.map(|_| faults::Pending::new(&self.queue));
        let deliveries = batch
            .events
            .iter()
            .map(|&event| self.deliveries[event].clone());
        let request = Request {
            stop: batch.trouble,
            clock: self.clock.load(SeqCst),
            is_disk_full: self.is_disk_full.load(SeqCst),
            deliveries: deliveries.collect(),
        };
        link.say(&request.line())?;
        let mut reply = Reply::of(&link.hear()?);
        if let Reply::Stopped(events) = reply {
            // A handler with nothing to do is no victim.
            if let Some(pending) = trouble.filter(|_| events > 0) {
                match faults::happen(self, worker) {
                    Ended::Now { cuts } => pending.over(cuts),
                    Ended::Not => drop(pending),
                    Ended::Killed => {
                        // What it says no more is what was meant to happen.
                        assert_eq!(link.hear(), None);
                        pending.over(0);
                        return None;
                    }
                }
            }
            link.say(GO)?;
            reply = Reply::of(&link.hear()?);
        }
        let Reply::Answers(answers) = reply else {
            panic!("stopped twice");
        };
        Some(answers)
    }
}
