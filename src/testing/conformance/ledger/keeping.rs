//! How long steps are kept: as long as the receipt, whatever becomes of attempts.

use super::Ledger;
use crate::{
    EventKey, Verdict,
    testing::conformance::bench::{DAY, LEASE, ask, ask_for, key, secs},
};

/// A retry skips what is done and goes on from there.
pub(super) fn steps_survive_attempts(ledger: &Ledger<'_>) {
    let first = ledger.win(ask("e1"));
    let charge = ledger.step(&first, "charge", "ch_123");
    ledger.settle(first, Verdict::retry(secs(0)));

    let second = ledger.win(ask("e1"));
    assert_eq!(ledger.done(&second, "charge"), charge);
    let email = ledger.step(&second, "email", "sent");
    assert_eq!((email.number, email.fence), (2, second.fence()));
    ledger.release(second);

    let third = ledger.win(ask("e1"));
    assert_eq!(ledger.done(&third, "charge"), charge);
    assert_eq!(ledger.done(&third, "email"), email);
    ledger.settle(third, Verdict::done("all"));
}

/// The same when the first attempt hangs or crashes and its lease runs out.
pub(super) fn steps_survive_a_takeover(ledger: &Ledger<'_>) {
    let first = ledger.win(ask("e1"));
    let charge = ledger.step(&first, "charge", "ch_123");
    let begun = ledger.due(&first, "email");
    ledger.at(LEASE);
    let second = ledger.win(ask("e1"));
    assert_eq!(ledger.done(&second, "charge"), charge);
    ledger.refused(begun);
    ledger.step(&second, "email", "sent");
    ledger.stall(first);
    ledger.settle(second, Verdict::done("all"));
}

/// In the order in which they were recorded, even within one moment.
pub(super) fn steps_are_listed_in_their_order(ledger: &Ledger<'_>) {
    let lease = ledger.win(ask("e1"));
    let names = ["z", "b", "y", "a", "x"];
    let done = names.map(|name| ledger.step(&lease, name, name));
    assert_eq!(ledger.list(&key("e1")), done);
    let numbers: Vec<_> = done.iter().map(|effect| effect.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    ledger.stall(lease);
}

/// By tenant, provider and id.
pub(super) fn steps_of_events_are_kept_apart(ledger: &Ledger<'_>) {
    let key = |tenant, id| EventKey::business(tenant, "shop", id).unwrap();
    let keys = [key("a", "1"), key("b", "1"), key("a", "2")];
    let leases = keys.each_ref().map(|key| ledger.win(ask_for(key.clone())));
    for (lease, text) in leases.iter().zip(["one", "two", "three"]) {
        ledger.step(lease, "charge", text);
    }
    for (key, text) in keys.iter().zip(["one", "two", "three"]) {
        let list = ledger.list(key);
        assert_eq!((list.len(), &*list[0].text), (1, text));
    }
    ledger.forget(&keys[0]);
    assert_eq!(ledger.list(&keys[0]), []);
    assert_eq!(ledger.list(&keys[1]).len(), 1);
    assert_eq!(ledger.list(&keys[2]).len(), 1);
    leases.into_iter().for_each(|lease| ledger.stall(lease));
}

/// For operators: of processed and of dead events too.
pub(super) fn steps_stay_when_the_event_is_over(ledger: &Ledger<'_>) {
    for (id, verdict) in [("done", Verdict::done("")), ("dead", Verdict::dead("no"))] {
        let lease = ledger.win(ask(id));
        let charge = ledger.step(&lease, "charge", "ch_123");
        ledger.settle(lease, verdict);
        ledger.at(DAY);
        assert_eq!(ledger.list(&key(id)), [charge]);
    }
}

/// S-32: an operator who forgets an event lets all of it run again.
pub(super) fn steps_are_forgotten_with_the_event(ledger: &Ledger<'_>) {
    let lease = ledger.win(ask("e1"));
    ledger.step(&lease, "charge", "ch_123");
    ledger.settle(lease, Verdict::done(""));
    ledger.forget(&key("e1")).expect("it is kept");
    assert_eq!(ledger.list(&key("e1")), []);
    let lease = ledger.win(ask("e1"));
    assert_eq!(ledger.step(&lease, "charge", "ch_456").number, 1);
    assert_eq!(ledger.done(&lease, "charge").text, "ch_456");
    ledger.stall(lease);
}

/// Nothing is left of an event that is purged, and nothing of another goes with it.
pub(super) fn steps_are_purged_with_the_event(ledger: &Ledger<'_>) {
    for id in ["e1", "e2"] {
        let lease = ledger.win(ask(id).retention(DAY));
        ledger.step(&lease, "charge", id);
        ledger.settle(lease, Verdict::done(""));
    }
    let lease = ledger.win(ask("e3").retention(DAY * 2));
    let kept = ledger.step(&lease, "charge", "e3");
    ledger.settle(lease, Verdict::done(""));
    ledger.at(DAY);
    assert_eq!(ledger.purge(10), 2);
    for id in ["e1", "e2"] {
        assert_eq!(ledger.list(&key(id)), []);
        let lease = ledger.win(ask(id));
        drop(ledger.due(&lease, "charge"));
        ledger.stall(lease);
    }
    assert_eq!(ledger.list(&key("e3")), [kept]);
}

/// Asking invents nothing.
pub(super) fn unknown_event_has_no_steps(ledger: &Ledger<'_>) {
    assert_eq!(ledger.list(&key("e1")), []);
    let lease = ledger.win(ask("e1"));
    assert_eq!(ledger.list(&key("e1")), []);
    ledger.stall(lease);
}
