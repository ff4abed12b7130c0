//! Single steps: due, done, and what is kept of them.

use super::Ledger;
use crate::{
    store::{
        EffectError, MAX_EFFECT_NAME_BYTES, MAX_EFFECTS, MAX_RESULT_BYTES, RecordError, RecordFault,
    },
    testing::conformance::bench::{ask, key, secs},
};

/// A step is due until it is recorded, and done from then on, with its result.
pub(super) fn step_is_due_then_done(ledger: &Ledger<'_>) {
    let lease = ledger.win(ask("e1"));
    let slot = ledger.due(&lease, "charge");
    assert_eq!((slot.key(), slot.name()), (&key("e1"), "charge"));
    ledger.at(secs(5));
    let done = ledger.record(slot, "ch_123");
    assert_eq!((&*done.name, &*done.text), ("charge", "ch_123"));
    assert_eq!((done.number, done.fence), (1, lease.fence()));
    assert_eq!(done.recorded_at, ledger.now());
    assert_eq!(ledger.done(&lease, "charge"), done);
    drop(ledger.due(&lease, "email"));
    ledger.stall(lease);
}

/// Asking is no record, however often.
pub(super) fn asking_writes_nothing(ledger: &Ledger<'_>) {
    let lease = ledger.win(ask("e1"));
    let before = ledger.row("e1");
    for _ in 0..3 {
        drop(ledger.due(&lease, "charge"));
    }
    assert_eq!(ledger.list(&key("e1")), []);
    assert_eq!(ledger.row("e1"), before);
    let slot = ledger.due(&lease, "charge");
    ledger.record(slot, "");
    // Nor does a record change the receipt.
    assert_eq!(ledger.row("e1"), before);
    ledger.stall(lease);
}

/// No collation takes two names for one.
pub(super) fn names_are_told_apart_by_their_bytes(ledger: &Ledger<'_>) {
    let lease = ledger.win(ask("e1"));
    let names = [
        "charge", "Charge", "charge ", " charge", "é", "e\u{301}", "🦀",
    ];
    for name in names {
        ledger.step(&lease, name, name);
    }
    for name in names {
        assert_eq!(ledger.done(&lease, name).text, name);
    }
    ledger.stall(lease);
}

/// Bounded, not empty, without control characters; refused before anything is asked.
pub(super) fn names_are_checked(ledger: &Ledger<'_>) {
    let lease = ledger.win(ask("e1"));
    let too_long = "n".repeat(MAX_EFFECT_NAME_BYTES + 1);
    for name in ["", "a\0b", "a\nb", "\u{85}", &too_long] {
        let told = ledger.try_effect(&lease, name);
        assert!(matches!(told, Err(EffectError::BadName)), "{told:?}");
    }
    let longest = "n".repeat(MAX_EFFECT_NAME_BYTES);
    ledger.step(&lease, &longest, "");
    assert_eq!(ledger.done(&lease, &longest).name, longest);
    ledger.stall(lease);
}

/// Any text comes back as it was: nothing, NUL, an emoji, the longest.
pub(super) fn results_are_kept(ledger: &Ledger<'_>) {
    let lease = ledger.win(ask("e1"));
    let longest = "r".repeat(MAX_RESULT_BYTES);
    let results = [
        "",
        " ",
        "a\0b",
        "line\nline\n",
        "🦀 é e\u{301}",
        "'; --",
        &longest,
    ];
    for (n, result) in results.iter().enumerate() {
        let written = ledger.step(&lease, &format!("step {n}"), result);
        assert_eq!(written.text, *result);
    }
    for (n, result) in results.iter().enumerate() {
        assert_eq!(ledger.done(&lease, &format!("step {n}")).text, *result);
    }
    ledger.stall(lease);
}

/// Bounded by bytes; the slot comes back and can be recorded with less.
pub(super) fn result_too_long_hands_the_slot_back(ledger: &Ledger<'_>) {
    let lease = ledger.win(ask("e1"));
    let slot = ledger.due(&lease, "charge");
    // One byte too many, in fewer characters than there may be bytes.
    let too_long = "é".repeat(MAX_RESULT_BYTES / 2) + "r";
    let slot = match ledger.try_record(slot, &too_long) {
        Err(RecordError {
            slot,
            fault: RecordFault::ResultTooLong,
        }) => *slot,
        other => panic!("expected ResultTooLong, got {other:?}"),
    };
    assert_eq!(ledger.list(&key("e1")), []);
    ledger.record(slot, "short");
    assert_eq!(ledger.done(&lease, "charge").text, "short");
    ledger.stall(lease);
}

/// A record in doubt may be repeated. What was recorded first stands.
pub(super) fn recording_again_keeps_the_first(ledger: &Ledger<'_>) {
    let lease = ledger.win(ask("e1"));
    let [first, again, other] = [(); 3].map(|()| ledger.due(&lease, "charge"));
    let done = ledger.record(first, "ch_1");
    ledger.at(secs(5));
    assert_eq!(ledger.record(again, "ch_1"), done);
    assert_eq!(ledger.record(other, "ch_2"), done);
    assert_eq!(ledger.list(&key("e1")), [done]);
    ledger.stall(lease);
}

/// So many and no more: said before the step is done, and if it is too late for that, then too.
pub(super) fn number_of_steps_is_bounded(ledger: &Ledger<'_>) {
    let lease = ledger.win(ask("e1"));
    let late = ledger.due(&lease, "late");
    for n in 1..=MAX_EFFECTS {
        let done = ledger.step(&lease, &format!("step {n}"), "");
        assert_eq!(done.number as usize, n);
    }
    let told = ledger.try_effect(&lease, "one more");
    assert!(matches!(told, Err(EffectError::TooMany)), "{told:?}");
    let tried = ledger.try_record(late, "");
    assert!(matches!(&tried, Err(e) if matches!(e.fault, RecordFault::TooMany)));
    // What is done is still told.
    assert_eq!(ledger.done(&lease, "step 1").number, 1);
    assert_eq!(ledger.list(&key("e1")).len(), MAX_EFFECTS);
    ledger.stall(lease);
}

/// What the other side is given is the same over all attempts.
pub(super) fn effect_keys_are_those_of_the_lease(ledger: &Ledger<'_>) {
    let first = ledger.win(ask("e1").lease(secs(0)));
    let second = ledger.win(ask("e1"));
    let slot = ledger.due(&second, "charge");
    assert_eq!(slot.effect_key(), first.effect_key("charge"));
    assert_eq!(slot.fence(), second.fence());
    ledger.stall(first);
    ledger.stall(second);
}
