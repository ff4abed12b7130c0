//! Workers on the store.

use std::{
    collections::HashMap,
    future::{Future, poll_fn},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::Poll,
    time::Duration,
};

use super::bench::Inbox;
use crate::{
    EventKey, Fence, State, Verdict,
    inbox::{Backoff, Job, Notice, Worker},
};

/// A sleep without a timer: short ones are a yield, long ones never end in the time of a case.
pub(super) fn nap(length: Duration) -> impl Future<Output = ()> + Send {
    let mut polls = 0;
    poll_fn(move |context| {
        if length >= Duration::from_secs(1) {
            return Poll::Pending;
        }
        polls += 1;
        if polls > 1 {
            return Poll::Ready(());
        }
        std::thread::sleep(Duration::from_millis(1));
        context.waker().wake_by_ref();
        Poll::Pending
    })
}

/// How often a worker looks in vain before it is given up.
const PATIENCE: usize = 20_000;

/// Several workers over many events, of which every third fails at first, every fifth panics and
/// every seventh asks for another turn: each is done once, by the fence that its receipt has.
pub(super) fn several_workers_act_once(inbox: &Inbox<'_>) {
    let events = inbox.many.min(1000);
    for n in 0..events {
        inbox.take_in(&format!("e{n}"));
    }
    let done = &AtomicUsize::new(0);
    let acted: Mutex<HashMap<EventKey, Vec<Fence>>> = Mutex::default();
    let act = |job: Job| {
        let acted = &acted;
        async move {
            let number: u64 = job.key().id().trim_start_matches('e').parse()?;
            if job.attempt() == 1 {
                if number.is_multiple_of(3) {
                    return Err("not yet".into());
                }
                assert!(!number.is_multiple_of(5), "on purpose");
                if number.is_multiple_of(7) {
                    return Ok(Verdict::retry(Duration::ZERO));
                }
            }
            let mut acted = acted.lock().unwrap();
            acted
                .entry(job.key().clone())
                .or_default()
                .push(job.fence());
            done.fetch_add(1, SeqCst);
            Ok(Verdict::done(format!("{}", job.fence())))
        }
    };
    let tallies = inbox.race(4, |_| {
        let worker = Worker::new(inbox.store.clone(), act)
            .concurrency(8)
            .backoff(Backoff::new(Duration::ZERO, Duration::ZERO))
            .poll(Duration::from_millis(1))
            .observer(|_: &Notice<'_>| {});
        // A store that loses events must fail here, not hang.
        let (mut before, mut idle) = (0, 0);
        let all_done = poll_fn(move |_| {
            let now = done.load(SeqCst);
            idle = if now == before { idle + 1 } else { 0 };
            before = now;
            match now >= events || idle > PATIENCE {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        });
        inbox.wait(worker.run(all_done, nap))
    });
    let sum = |count: fn(&crate::inbox::Tally) -> u64| tallies.iter().map(count).sum::<u64>();
    let events = events as u64;
    assert_eq!(sum(|tally| tally.processed), events);
    assert_eq!(sum(|tally| tally.lost), 0);
    assert_eq!(sum(|tally| tally.dead), 0);
    let first_failures = (0..events).filter(|n| [3, 5, 7].iter().any(|by| n.is_multiple_of(*by)));
    assert_eq!(sum(|tally| tally.failed), first_failures.count() as u64);
    let acted = acted.into_inner().unwrap();
    assert_eq!(acted.len() as u64, events);
    for (key, fences) in acted {
        let receipt = inbox.get(&key).expect("its receipt is kept");
        assert_eq!(receipt.state, State::Processed);
        assert_eq!(fences, [receipt.fence]);
        assert_eq!(receipt.result, receipt.fence.to_string().into_bytes());
    }
    for state in [
        State::Received,
        State::InProgress,
        State::Failed,
        State::Dead,
    ] {
        assert_eq!(inbox.listed(state), [], "stuck");
    }
}
