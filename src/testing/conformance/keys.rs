//! Which events are the same: scope, spelling and length of what names them.

use super::bench::{Bench, ask, ask_for, key};
use crate::{Claim, Claiming, EventKey, KeyError, MAX_ID_BYTES, MAX_TENANT_BYTES, Verdict};

/// Each key is an event of its own, in both directions: all are new, and each keeps its own
/// result.
#[track_caller]
fn are_all_different(bench: &Bench<'_>, keys: &[EventKey]) {
    for (number, key) in keys.iter().enumerate() {
        let lease = bench.win(ask_for(key.clone()));
        bench.settle(lease, Verdict::done(number.to_string()));
    }
    for (number, key) in keys.iter().enumerate() {
        let receipt = bench.duplicate(ask_for(key.clone()));
        assert_eq!(receipt.result, number.to_string().into_bytes(), "{key:?}");
        assert_eq!(&receipt.key, key);
        assert_eq!(bench.get(key), Some(receipt));
    }
}

#[track_caller]
fn ids_are_all_different(bench: &Bench<'_>, ids: &[&str]) {
    let keys: Vec<_> = ids.iter().map(|id| key(id)).collect();
    are_all_different(bench, &keys);
}

/// S-10: the same id of another provider or tenant is another event, wherever one name ends and
/// the next begins.
pub(super) fn s10_scopes_are_kept_apart(bench: &Bench<'_>) {
    let scopes = [
        ("", "apple", "42"),
        ("", "google", "42"),
        ("t1", "apple", "42"),
        ("t2", "apple", "42"),
        ("a", "bc", "42"),
        ("ab", "c", "42"),
        ("t", "a", "bc"),
        ("t", "ab", "c"),
    ];
    let keys: Vec<_> = scopes
        .iter()
        .map(|(tenant, provider, id)| EventKey::business(tenant, provider, id).unwrap())
        .collect();
    are_all_different(bench, &keys);
}

/// S-19: a webhook and the browser's return finish the same order. One of them acts.
pub(super) fn s19_webhook_against_another_code_path(bench: &Bench<'_>) {
    let paid = || Claiming::business(EventKey::business("shop", "order-paid", "o1").unwrap());
    let browser = bench.win(paid());
    assert!(matches!(bench.claim(paid()), Claim::InProgress { .. }));
    bench.settle(browser, Verdict::done("by the browser's return"));
    assert_eq!(bench.duplicate(paid()).result, b"by the browser's return");
}

/// S-28: what a collation takes for the same is not the same.
pub(super) fn s28_ids_that_collations_confuse(bench: &Bench<'_>) {
    let case = ["evt_Ab", "evt_aB", "evt_ab", "EVT_AB"];
    let spaces = ["a", "a ", "a  ", " a", "a\u{a0}"];
    let accents = ["caf\u{e9}", "cafe\u{301}", "cafe", "CAF\u{c9}"];
    let letters = ["strasse", "stra\u{df}e", "i", "\u{131}", "\u{130}"];
    let numbers = ["1", "\u{ff11}", "\u{b9}", "01", "1.0", "1e0"];
    let others = ["x\u{200d}y", "xy", "\u{30ab}", "\u{ff76}", "\u{304b}"];
    let groups: [&[&str]; 6] = [&case, &spaces, &accents, &letters, &numbers, &others];
    ids_are_all_different(bench, &groups.concat());
}

/// Ids that mean something to an engine are only ids.
pub(super) fn ids_that_engines_could_read(bench: &Bench<'_>) {
    ids_are_all_different(
        bench,
        &[
            "'", "''", "\\", "\\\\", "\"", "%", "_", "$1", "?", ":id", "null", "NULL", "true", "--",
        ],
    );
}

/// S-29: of two long ids each character counts, the last one too.
pub(super) fn s29_long_ids(bench: &Bench<'_>) {
    let long = |last: &str| format!("{}{last}", "x".repeat(1003));
    let longest = |last: &str| format!("{}{last}", "x".repeat(MAX_ID_BYTES - 1));
    let (a, b, c, d) = (long("a"), long("b"), longest("a"), longest("b"));
    ids_are_all_different(bench, &[&a, &b, &c, &d, "x"]);
}

/// S-29: emoji, and everything else outside the first plane of Unicode.
pub(super) fn s29_emoji_ids(bench: &Bench<'_>) {
    let most = "\u{1f389}".repeat(MAX_ID_BYTES / 4);
    let ids = [
        "\u{1f389}",
        "\u{1f38a}",
        "?",
        "\u{fffd}",
        "\u{1f468}\u{200d}\u{1f469}",
        &most,
    ];
    ids_are_all_different(bench, &ids);
}

/// S-29: an id without bytes, with a NUL, or too long never gets as far as a store.
pub(super) fn s29_refused_ids(bench: &Bench<'_>) {
    let too_long = "x".repeat(MAX_ID_BYTES + 1);
    for id in ["", "a\0b", "\0", "a\n", &too_long] {
        let refused = EventKey::business("tenant", "suite", id).unwrap_err();
        assert_eq!(refused, KeyError::BadId);
    }
    // What is next to them gets through.
    bench.stall(bench.win(ask("ab")));
}

/// The longest scope that a key can have.
pub(super) fn longest_scopes(bench: &Bench<'_>) {
    let long = |last: &str| format!("{}{last}", "s".repeat(MAX_TENANT_BYTES - 1));
    let id = "x".repeat(MAX_ID_BYTES);
    let keys = [("a", "a"), ("a", "b"), ("b", "a")]
        .map(|(tenant, provider)| EventKey::business(&long(tenant), &long(provider), &id).unwrap());
    are_all_different(bench, &keys);
}

/// Many events at once, each with its own result.
pub(super) fn many_events(bench: &Bench<'_>) {
    let id = |number: usize| format!("evt_{number}");
    for number in 0..bench.many {
        let lease = bench.win(ask(&id(number)));
        let settled = bench.try_settle(lease, Verdict::done(id(number)));
        assert!(settled.is_ok(), "{settled:?}");
    }
    for number in 0..bench.many {
        let receipt = bench.duplicate(ask(&id(number)));
        assert_eq!(receipt.result, id(number).into_bytes());
    }
}
