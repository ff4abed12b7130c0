//! What is newer, what is older, what is the same.

use time::{OffsetDateTime, PrimitiveDateTime};

use super::{Bench, object, v};
use crate::{
    ObjectKey, Version,
    store::StoreErrorKind,
    testing::conformance::bench::{TICK, secs, start},
};

fn at(seconds: u64) -> Version {
    Version::at(start() + secs(seconds))
}

/// Whatever comes first stands.
pub(super) fn first_version_is_applied(bench: &Bench<'_>) {
    bench.applied("a", &v(5), None);
    bench.applied("b", &at(5), None);
}

/// Newer versions are applied, gaps or none, and tell what stood before.
pub(super) fn newer_version_is_applied(bench: &Bench<'_>) {
    bench.applied("a", &v(1), None);
    bench.applied("a", &v(2), Some(&v(1)));
    bench.applied("a", &v(40), Some(&v(2)));
}

/// S-31: "created" comes after "updated", and is not written over it.
pub(super) fn late_create_is_older(bench: &Bench<'_>) {
    bench.applied("a", &v(2), None);
    bench.older("a", &v(1), &v(2));
    bench.applied("a", &v(4), Some(&v(2)));
    bench.older("a", &v(3), &v(4));
    bench.older("a", &v(1), &v(4));
}

/// A duplicate is told from what is older, and changes nothing.
pub(super) fn equal_version_is_the_same(bench: &Bench<'_>) {
    bench.applied("a", &v(2), None);
    bench.same("a", &v(2));
    bench.same("a", &v(2));
    bench.applied("a", &v(3), Some(&v(2)));
    bench.same("a", &v(3));
    bench.older("a", &v(2), &v(3));
}

/// Asking invents nothing.
pub(super) fn unknown_object_has_no_version(bench: &Bench<'_>) {
    assert_eq!(bench.current("a"), None);
    assert_eq!(bench.forget("a"), None);
    bench.applied("a", &v(1), None);
    assert_eq!(bench.current("b"), None);
}

/// As numbers, not as text, and with their sign.
pub(super) fn numbers_are_compared_as_numbers(bench: &Bench<'_>) {
    bench.applied("a", &v(-10), None);
    bench.applied("a", &v(-9), Some(&v(-10)));
    bench.applied("a", &v(9), Some(&v(-9)));
    bench.applied("a", &v(10), Some(&v(9)));
    bench.older("a", &v(9), &v(10));
    bench.older("a", &v(-10), &v(10));
}

/// The first and the last number there are.
pub(super) fn extreme_numbers(bench: &Bench<'_>) {
    bench.applied("a", &v(i64::MIN), None);
    bench.same("a", &v(i64::MIN));
    bench.applied("a", &v(i64::MAX - 1), Some(&v(i64::MIN)));
    bench.applied("a", &v(i64::MAX), Some(&v(i64::MAX - 1)));
    bench.older("a", &v(i64::MAX - 1), &v(i64::MAX));
    bench.older("a", &v(i64::MIN), &v(i64::MAX));
    bench.same("a", &v(i64::MAX));
}

/// Times are compared to the microsecond, whatever offset they were written in.
pub(super) fn times_are_compared(bench: &Bench<'_>) {
    let just_before = Version::at(start() + secs(10) - TICK);
    bench.applied("a", &just_before, None);
    bench.applied("a", &at(10), Some(&just_before));
    bench.older("a", &just_before, &at(10));
    let elsewhere = (start() + secs(10)).to_offset(time::UtcOffset::from_hms(2, 0, 0).unwrap());
    bench.same("a", &Version::at(elsewhere));
    // Finer than is kept.
    bench.same("a", &Version::at(start() + secs(10) + TICK / 2));
}

/// Dates that no provider sends overflow nothing and keep their order.
pub(super) fn times_far_away(bench: &Bench<'_>) {
    let (first, last) = (PrimitiveDateTime::MIN, PrimitiveDateTime::MAX);
    let [first, last] = [first, last].map(|date| Version::at(date.assume_utc()));
    let epoch = Version::at(OffsetDateTime::UNIX_EPOCH);
    bench.applied("a", &first, None);
    bench.applied("a", &epoch, Some(&first));
    bench.applied("a", &last, Some(&epoch));
    bench.older("a", &at(0), &last);
    bench.same("a", &last);
}

/// Two changes within one second, told apart by nothing: the second looks like a duplicate, and is
/// said to be the same, not older.
pub(super) fn times_that_tie_are_the_same(bench: &Bench<'_>) {
    bench.applied("a", &at(10), None);
    bench.same("a", &at(10));
}

/// 9 comes before 10, whichever of the two comes first; a time without a tie-break before both.
pub(super) fn ties_are_broken_by_numbers(bench: &Bench<'_>) {
    let [none, nine, ten] = [at(10), at(10).tie_number(9), at(10).tie_number(10)];
    bench.applied("a", &none, None);
    bench.applied("a", &nine, Some(&none));
    bench.applied("a", &ten, Some(&nine));
    bench.older("a", &nine, &ten);
    bench.older("a", &none, &ten);
    let most = at(10).tie_number(u64::MAX);
    bench.applied("a", &most, Some(&ten));
    // The time decides first.
    bench.older("a", &at(9).tie_number(u64::MAX), &most);
    bench.applied("a", &at(11), Some(&most));
}

/// Texts are compared by their bytes: no collation puts "a" before "B", or takes two for one.
pub(super) fn ties_are_broken_by_texts(bench: &Bench<'_>) {
    let tie = |text: &str| at(10).tie_break(text).unwrap();
    let long = "z".repeat(255);
    let in_order = [
        "10", "9", "B", "a", "a ", "a0", "aa", "z", &long, "é", "漢", "🦀",
    ];
    let mut previous = None;
    for text in in_order {
        bench.applied("a", &tie(text), previous.as_ref());
        if let Some(previous) = &previous {
            bench.older("a", previous, &tie(text));
        }
        bench.same("a", &tie(text));
        previous = Some(tie(text));
    }
    let (one, other) = (v(1).tie_break("x").unwrap(), v(1).tie_break("y").unwrap());
    bench.applied("b", &one, None);
    bench.applied("b", &other, Some(&one));
}

/// A number cannot be compared with a time. The second kind is refused for good, and changes
/// nothing.
pub(super) fn times_do_not_mix_with_numbers(bench: &Bench<'_>) {
    let refused = |id: &str, version: &Version, stands: &Version| {
        let error = bench
            .try_advance(&object(id), version.clone())
            .expect_err("another kind of version was compared");
        assert_eq!(error.kind(), StoreErrorKind::Misuse);
        assert!(!error.kind().is_transient());
        assert_eq!(bench.current(id).as_ref(), Some(stands));
    };
    bench.applied("a", &v(1), None);
    refused("a", &at(10), &v(1));
    refused("a", &at(10).deletion(), &v(1));
    bench.applied("a", &v(2), Some(&v(1)));
    bench.applied("b", &at(10), None);
    refused("b", &v(i64::MAX), &at(10));
    refused("b", &v(i64::MIN), &at(10));
    // An operator's way out.
    assert_eq!(bench.forget("b"), Some(at(10)));
    bench.applied("b", &v(1), None);
}

/// Tenant, kind and id all count, by their bytes, and do not run into each other.
pub(super) fn objects_are_kept_apart(bench: &Bench<'_>) {
    let names = [
        ["t", "order", "1"],
        ["T", "order", "1"],
        ["", "order", "1"],
        ["t", "orde", "r1"],
        ["t", "order1", "1"],
        ["to", "rder", "1"],
        ["t", "order", "1 "],
        ["t", "order", "é"],
        ["t", "order", "e\u{301}"],
        ["t", "order", "a"],
        ["t", "order", "A"],
    ];
    let keys = names.map(|[tenant, kind, id]| ObjectKey::new(tenant, kind, id).unwrap());
    for (number, key) in (1..).zip(&keys) {
        let first = crate::Advance::Applied { previous: None };
        assert_eq!(bench.advance_of(key, &v(number)), first, "{key:?}");
    }
    for (number, key) in (1..).zip(&keys) {
        assert_eq!(bench.current_of(key), Some(v(number)), "{key:?}");
    }
}

/// The longest tenant, kind and id, and two ids that differ in their last byte only.
pub(super) fn longest_names(bench: &Bench<'_>) {
    let (scope, id) = ("s".repeat(255), "i".repeat(2047));
    let key = |last: &str| ObjectKey::new(&scope, &scope, &format!("{id}{last}")).unwrap();
    for (number, last) in [(1, "a"), (2, "b")] {
        let first = crate::Advance::Applied { previous: None };
        assert_eq!(bench.advance_of(&key(last), &v(number)), first);
    }
    assert_eq!(bench.current_of(&key("a")), Some(v(1)));
    assert_eq!(bench.current_of(&key("b")), Some(v(2)));
}

/// After an operator forgot an object, any version is new for it.
pub(super) fn forgotten_object_begins_anew(bench: &Bench<'_>) {
    bench.applied("a", &v(5), None);
    bench.applied("b", &v(5), None);
    assert_eq!(bench.forget("a"), Some(v(5)));
    assert_eq!(bench.current("a"), None);
    bench.applied("a", &v(3), None);
    assert_eq!(bench.current("b"), Some(v(5)));
}
