//! Leases that are dropped unsettled, and calls that are cancelled: loud, never taken as done,
//! and claimable again.

use std::{
    cell::Cell,
    future::{pending, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    task::Poll,
    thread,
};

use super::{
    DroppedLease,
    bench::{Bench, HOUR, LEASE, ask, key, secs, unexpected},
    racing::PATIENCE,
};
use crate::{Claim, Fence, Lease, State, Verdict};

/// The lease on `e1` with this fence was dropped: that was reported once, nothing counts as done,
/// and the event can be claimed again when the backend says so.
#[track_caller]
fn is_claimable_again(bench: &Bench<'_>, fence: Fence) -> Lease {
    assert!(bench.witness.saw(&key("e1"), fence), "nothing was reported");
    assert_eq!(bench.witness.count(), 1, "reported more than once");
    let state = bench.row("e1").state;
    assert!(
        matches!(state, State::InProgress | State::Failed),
        "a dropped lease made the event {state:?}"
    );
    let lease = match bench.dropped {
        DroppedLease::AtOnce => bench.win(ask("e1")),
        DroppedLease::Soon => soon(bench, "e1", || {}),
        DroppedLease::ByLeaseEnd => {
            bench.at(LEASE);
            bench.win(ask("e1"))
        }
    };
    assert_eq!(lease.attempt(), 2);
    assert!(lease.fence() > fence);
    lease
}

/// Claims the event until it is won, with a millisecond in between.
#[track_caller]
pub(super) fn soon(bench: &Bench<'_>, id: &str, between: impl Fn()) -> Lease {
    match at_rest(bench, id, between) {
        Claim::New(lease) => lease,
        other => unexpected("New", &other),
    }
}

/// The first answer that is not `InProgress`.
#[track_caller]
fn at_rest(bench: &Bench<'_>, id: &str, between: impl Fn()) -> Claim {
    for _ in 0..PATIENCE {
        match bench.claim(ask(id)) {
            Claim::InProgress { .. } => thread::sleep(secs(1) / 1000),
            claim => return claim,
        }
        between();
    }
    panic!("the event stayed stuck");
}

/// S-35: the handler returns early and forgets to settle.
pub(super) fn s35_early_return(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    let fence = lease.fence();
    let handle = async |_lease: Lease| {};
    bench.wait(handle(lease));
    let lease = is_claimable_again(bench, fence);
    bench.settle(lease, Verdict::done("second attempt"));
    assert_eq!(bench.duplicate(ask("e1")).result, b"second attempt");
}

/// S-35: the handler panics.
pub(super) fn s35_panic(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    let fence = lease.fence();
    let handle = async move {
        let _lease = lease;
        // Like `panic!`, without the message on standard error.
        resume_unwind(Box::new("the handler panics"))
    };
    let ended: Result<(), _> = catch_unwind(AssertUnwindSafe(|| bench.wait(handle)));
    assert!(ended.is_err(), "the panic was swallowed");
    let lease = is_claimable_again(bench, fence);
    bench.settle(lease, Verdict::done("second attempt"));
}

/// S-35: the handler's future is dropped while it waits: the client has closed the connection, or
/// the time was up.
pub(super) fn s35_cancelled_future(bench: &Bench<'_>) {
    let fence = Cell::new(None);
    bench.wait(async {
        let mut handle = Box::pin(async {
            let Ok(Claim::New(lease)) = bench.store.claim(ask("e1")).await else {
                panic!("an unknown event is new");
            };
            fence.set(Some(lease.fence()));
            pending::<()>().await;
            bench.store.settle(lease, Verdict::done("never")).await
        });
        poll_fn(|context| match handle.as_mut().poll(context) {
            Poll::Pending if fence.get().is_none() => Poll::Pending,
            _ => Poll::Ready(()),
        })
        .await;
        drop(handle);
    });
    let lease = is_claimable_again(bench, fence.get().unwrap());
    bench.settle(lease, Verdict::done("second attempt"));
}

/// A lease that was dropped after somebody else took the event over disturbs nothing.
pub(super) fn dropped_lost_lease_disturbs_nothing(bench: &Bench<'_>) {
    let first = bench.win(ask("e1").lease(secs(0)));
    let second = bench.win(ask("e1"));
    let before = bench.row("e1");
    bench.drop_lease(first);
    assert_eq!(bench.row("e1"), before);
    bench.busy(ask("e1"), LEASE);
    bench.settle(second, Verdict::done("second"));
    assert_eq!(bench.duplicate(ask("e1")).result, b"second");
}

/// A lease that was dropped after its event was forgotten brings nothing back.
pub(super) fn dropped_forgotten_lease_brings_nothing_back(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    bench.forget(&key("e1"));
    bench.drop_lease(lease);
    assert_eq!(bench.get(&key("e1")), None);
    assert_eq!(bench.attempt(ask("e1")), 1);
}

/// S-35: a claim is cancelled before its answer, at any point. The event is claimable again by
/// the end of the lease that may or may not have been written.
pub(super) fn s35_claim_cancelled_midway(bench: &Bench<'_>) {
    for polls in 0..8 {
        bench.wait(async {
            let mut call = bench.store.claim(ask("e1"));
            let mut left = polls;
            poll_fn(|context| {
                if left == 0 || call.as_mut().poll(context).is_ready() {
                    return Poll::Ready(());
                }
                left -= 1;
                Poll::Pending
            })
            .await;
            drop(call);
        });
        // The engine may still be at it: what it writes late has a lease of its own to run out.
        let lease = soon(bench, "e1", || bench.clock.advance(LEASE));
        bench.stall(lease);
        bench.forget(&key("e1"));
    }
}

/// S-35: settling is cancelled before its answer, at any point. The event is then either done with
/// its result, or claimable again by the end of its lease; there is nothing in between.
pub(super) fn s35_settle_cancelled_midway(bench: &Bench<'_>) {
    for polls in 0..8 {
        let id = format!("e{polls}");
        bench.wait(async {
            let Ok(Claim::New(lease)) = bench.store.claim(ask(&id)).await else {
                panic!("an unknown event is new");
            };
            let mut call = bench.store.settle(lease, Verdict::done("the result"));
            let mut left = polls;
            poll_fn(|context| {
                if left == 0 || call.as_mut().poll(context).is_ready() {
                    return Poll::Ready(());
                }
                left -= 1;
                Poll::Pending
            })
            .await;
            drop(call);
        });
        bench.clock.advance(HOUR);
        // The engine may still be at it.
        match at_rest(bench, &id, || {}) {
            Claim::New(lease) => bench.stall(lease),
            Claim::Duplicate(receipt) => assert_eq!(receipt.result, b"the result"),
            other => unexpected("New or Duplicate", &other),
        }
    }
}
