//! Failures, their repetitions and their end.

use std::{
    future::{pending, ready},
    pin::pin,
    sync::Mutex,
    time::Duration,
};

use hookproof::{
    State, Verdict,
    inbox::{Backoff, Job},
    testing::block_on,
};

use super::rig::*;

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
