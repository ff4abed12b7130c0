//! Deletions: versions of their own, that stay for a while.

use super::{Bench, v};
use crate::testing::conformance::bench::{DAY, HOUR, TICK};

/// A late update does not bring a deleted object back.
pub(super) fn deletion_is_a_version(bench: &Bench<'_>) {
    bench.applied("a", &v(1), None);
    let deleted = v(3).deletion();
    bench.applied("a", &deleted, Some(&v(1)));
    bench.older("a", &v(2), &deleted);
    bench.older("a", &v(1), &deleted);
    bench.older("a", &v(2).deletion(), &deleted);
    bench.same("a", &deleted);
}

/// Senders repeat the last version when they delete: the deletion is the later one.
pub(super) fn deletion_of_the_version_that_stands(bench: &Bench<'_>) {
    bench.applied("a", &v(1), None);
    bench.applied("a", &v(1).deletion(), Some(&v(1)));
    bench.older("a", &v(1), &v(1).deletion());
    bench.same("a", &v(1).deletion());
    // The tie-break decides before that.
    let (first, second) = (v(1).tie_number(1).deletion(), v(1).tie_number(2));
    bench.applied("b", &first, None);
    bench.applied("b", &second, Some(&first));
}

/// The deletion may be the first that is heard of an object.
pub(super) fn deletion_of_something_unknown(bench: &Bench<'_>) {
    bench.applied("a", &v(3).deletion(), None);
    bench.older("a", &v(1), &v(3).deletion());
}

/// What is later than a deletion is applied, and whoever asks is told that it was deleted before.
pub(super) fn later_version_brings_an_object_back(bench: &Bench<'_>) {
    bench.applied("a", &v(3).deletion(), None);
    bench.applied("a", &v(4), Some(&v(3).deletion()));
    bench.older("a", &v(3).deletion(), &v(4));
}

/// A deletion is kept until its retention is over and somebody purges; then it is as if the object
/// had never been.
pub(super) fn deletion_stays_for_its_retention(bench: &Bench<'_>) {
    bench.applied("a", &v(3).deletion(), None);
    assert_eq!(bench.purge(DAY, 10), 0);
    bench.clock.advance(DAY - TICK);
    assert_eq!(bench.purge(DAY, 10), 0);
    bench.older("a", &v(2), &v(3).deletion());
    bench.clock.advance(TICK);
    // Over, and not purged yet.
    bench.older("a", &v(2), &v(3).deletion());
    assert_eq!(bench.purge(DAY, 10), 1);
    assert_eq!(bench.current("a"), None);
    bench.applied("a", &v(2), None);
}

/// Duplicates of a deletion, and what is older, do not extend its retention; another one does.
pub(super) fn retention_is_counted_from_the_deletion(bench: &Bench<'_>) {
    bench.applied("a", &v(3).deletion(), None);
    bench.applied("b", &v(3).deletion(), None);
    bench.clock.advance(HOUR);
    bench.same("a", &v(3).deletion());
    bench.older("a", &v(1), &v(3).deletion());
    bench.applied("b", &v(4).deletion(), Some(&v(3).deletion()));
    bench.clock.advance(DAY - HOUR);
    assert_eq!(bench.purge(DAY, 10), 1);
    assert_eq!(bench.current("a"), None);
    bench.clock.advance(HOUR);
    assert_eq!(bench.purge(DAY, 10), 1);
    assert_eq!(bench.current("b"), None);
}

/// An object that came back is no deletion any more.
pub(super) fn object_that_came_back_is_kept(bench: &Bench<'_>) {
    bench.applied("a", &v(3).deletion(), None);
    bench.applied("a", &v(4), Some(&v(3).deletion()));
    bench.clock.advance(DAY);
    assert_eq!(bench.purge(DAY, 10), 0);
    assert_eq!(bench.current("a"), Some(v(4)));
}

/// However old, an object that was not deleted stays: what came late could be written over it.
pub(super) fn only_deletions_are_purged(bench: &Bench<'_>) {
    bench.applied("a", &v(1), None);
    bench.applied("b", &v(1).deletion(), None);
    bench.clock.advance(DAY * 365);
    assert_eq!(bench.purge(DAY, 10), 1);
    assert_eq!(bench.current("a"), Some(v(1)));
}

/// At most so many at a time, and fewer means that there are no more.
pub(super) fn purge_is_bounded(bench: &Bench<'_>) {
    for n in 0..7 {
        bench.applied(&format!("o{n}"), &v(1).deletion(), None);
    }
    bench.clock.advance(DAY);
    assert_eq!(bench.purge(DAY, 0), 0);
    assert_eq!(bench.purge(DAY, 3), 3);
    let left = (0..7).filter(|n| bench.current(&format!("o{n}")).is_some());
    assert_eq!(left.count(), 4);
    assert_eq!(bench.purge(DAY, 3), 3);
    assert_eq!(bench.purge(DAY, 3), 1);
    assert_eq!(bench.purge(DAY, 3), 0);
}

/// A retention of nothing, and one without end.
pub(super) fn purge_of_everything_and_nothing(bench: &Bench<'_>) {
    use std::time::Duration;
    bench.applied("a", &v(1).deletion(), None);
    assert_eq!(bench.purge(Duration::MAX, usize::MAX), 0);
    assert_eq!(bench.purge(Duration::ZERO, usize::MAX), 1);
    assert_eq!(bench.current("a"), None);
}
