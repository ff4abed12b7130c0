//! Who may record: the holder of the event's last fence, while the event is in progress.

use super::Ledger;
use crate::{
    Verdict,
    testing::conformance::bench::{DAY, HOUR, LEASE, ask, key, secs},
};

/// S-23: whoever was taken over from cannot record, whatever has become of the event since.
pub(super) fn lost_lease_cannot_record(ledger: &Ledger<'_>) {
    for (id, verdict) in [
        ("running", None),
        ("done", Some(Verdict::done(""))),
        ("retry", Some(Verdict::retry(secs(5)))),
        ("dead", Some(Verdict::dead("no"))),
    ] {
        let first = ledger.win(ask(id).lease(secs(0)));
        let [one, two] = ["one", "two"].map(|name| ledger.due(&first, name));
        let second = ledger.win(ask(id));
        ledger.refused(one);
        ledger.step(&second, "one", "by the second");
        match verdict {
            Some(verdict) => drop(ledger.settle(second, verdict)),
            None => ledger.stall(second),
        }
        ledger.refused(two);
        assert_eq!(ledger.list(&key(id)).len(), 1);
        ledger.stall(first);
    }
}

/// Whoever was taken over from is told to stop, not that there is something to do; nor what the
/// other one has done.
pub(super) fn lost_lease_is_not_told_what_is_due(ledger: &Ledger<'_>) {
    let first = ledger.win(ask("e1").lease(secs(0)));
    ledger.step(&first, "charge", "ch_123");
    let second = ledger.win(ask("e1"));
    ledger.told(&first, "charge");
    ledger.told(&first, "email");
    ledger.settle(second, Verdict::done(""));
    ledger.told(&first, "email");
    ledger.stall(first);
}

/// After the verdict nothing is recorded any more.
pub(super) fn settled_event_takes_no_steps(ledger: &Ledger<'_>) {
    for verdict in [
        Verdict::done(""),
        Verdict::dead("no"),
        Verdict::retry(LEASE),
    ] {
        let lease = ledger.win(ask("e1"));
        let slot = ledger.due(&lease, "charge");
        ledger.settle(lease, verdict);
        ledger.refused(slot);
        ledger.forget(&key("e1"));
    }
}

/// A claim that was given back is over as well.
pub(super) fn released_event_takes_no_steps(ledger: &Ledger<'_>) {
    let lease = ledger.win(ask("e1"));
    let slot = ledger.due(&lease, "charge");
    ledger.release(lease);
    ledger.refused(slot);
}

/// Nothing is recorded for an event that is not there, nor for its next life.
pub(super) fn forgotten_event_takes_no_steps(ledger: &Ledger<'_>) {
    let first = ledger.win(ask("e1"));
    let [one, two] = ["one", "two"].map(|name| ledger.due(&first, name));
    ledger.forget(&key("e1")).expect("it is kept");
    ledger.refused(one);
    ledger.told(&first, "one");
    let second = ledger.win(ask("e1"));
    ledger.refused(two);
    drop(ledger.due(&second, "one"));
    ledger.stall(first);
    ledger.stall(second);
}

/// The same after a purge.
pub(super) fn purged_event_takes_no_steps(ledger: &Ledger<'_>) {
    let lease = ledger.win(ask("e1").retention(DAY));
    let slot = ledger.due(&lease, "charge");
    ledger.at(DAY);
    assert_eq!(ledger.purge(10), 1);
    ledger.refused(slot);
    ledger.told(&lease, "charge");
    ledger.stall(lease);
}

/// A claim that finds the last attempt's lease over ends the event.
pub(super) fn buried_event_takes_no_steps(ledger: &Ledger<'_>) {
    let lease = ledger.win(ask("e1").max_attempts(1));
    ledger.step(&lease, "charge", "ch_123");
    let slot = ledger.due(&lease, "email");
    ledger.at(LEASE);
    ledger.dead(ask("e1").max_attempts(1));
    ledger.refused(slot);
    ledger.told(&lease, "charge");
    assert_eq!(ledger.list(&key("e1")).len(), 1);
    ledger.stall(lease);
}

/// A lease that ran out, but that nobody reclaimed, may still record: the step is done.
pub(super) fn lapsed_lease_may_record(ledger: &Ledger<'_>) {
    let lease = ledger.win(ask("e1"));
    let slot = ledger.due(&lease, "charge");
    ledger.at(HOUR);
    ledger.record(slot, "ch_123");
    ledger.done(&lease, "charge");
    ledger.settle(lease, Verdict::done(""));
}

/// A slot is its attempt's, however often the lease was renewed since.
pub(super) fn renewed_lease_may_record(ledger: &Ledger<'_>) {
    let lease = ledger.win(ask("e1"));
    let slot = ledger.due(&lease, "charge");
    let lease = ledger.renew(lease, HOUR);
    let lease = ledger.renew(lease, HOUR);
    ledger.record(slot, "ch_123");
    ledger.step(&lease, "email", "sent");
    ledger.stall(lease);
}
