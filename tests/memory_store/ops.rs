//! What can be done to a store, at random.

use std::time::Duration;

use hookproof::Verdict;
use proptest::{collection::vec, prelude::*};

#[derive(Debug, Clone)]
pub(crate) enum Op {
    Claim(Ask),
    Settle(usize, Verdict),
    Renew(usize, Duration),
    Release(usize),
    Drop(usize),
    Forget(usize),
    Purge(usize),
    Advance(Duration),
    SetBack(Duration),
}

#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) event: usize,
    pub(crate) content: u8,
    pub(crate) lease: Duration,
    pub(crate) retention: Duration,
    pub(crate) max_attempts: u32,
}

fn length() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::ZERO),
        (1..3_000_000_u64).prop_map(Duration::from_micros),
        (1..100_u64).prop_map(Duration::from_secs),
        (1..100_u64).prop_map(|hours| Duration::from_secs(hours * 3600)),
        (1..20_u64).prop_map(|years| Duration::from_secs(years * 365 * 24 * 3600)),
    ]
}

fn ask(events: usize) -> impl Strategy<Value = Ask> {
    let content = prop_oneof![9 => Just(0), 1 => Just(1)];
    (0..events, content, length(), length(), 1..4_u32).prop_map(
        |(event, content, lease, retention, max_attempts)| Ask {
            event,
            content,
            lease,
            retention,
            max_attempts,
        },
    )
}

fn verdict() -> impl Strategy<Value = Verdict> {
    prop_oneof![
        3 => Just(Verdict::done("")),
        2 => vec(any::<u8>(), 0..9).prop_map(Verdict::Done),
        2 => length().prop_map(Verdict::retry),
        1 => Just(Verdict::dead("no such customer")),
    ]
}

pub(crate) fn op(events: usize) -> impl Strategy<Value = Op> {
    prop_oneof![
        30 => ask(events).prop_map(Op::Claim),
        20 => (any::<usize>(), verdict()).prop_map(|(lease, verdict)| Op::Settle(lease, verdict)),
        5 => (any::<usize>(), length()).prop_map(|(lease, length)| Op::Renew(lease, length)),
        5 => any::<usize>().prop_map(Op::Release),
        5 => any::<usize>().prop_map(Op::Drop),
        5 => (0..events).prop_map(Op::Forget),
        4 => (0..4_usize).prop_map(Op::Purge),
        15 => length().prop_map(Op::Advance),
        1 => length().prop_map(Op::SetBack),
    ]
}
