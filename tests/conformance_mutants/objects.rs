//! Guards of versions with one rule broken, and the cases that must notice.

use std::{
    cmp::Ordering,
    collections::HashMap,
    panic::catch_unwind,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use hookproof::{
    Advance, ObjectKey, OrderGuard, StoreError, Version,
    clock::Clock,
    store::StoreFuture,
    testing::{
        ManualClock,
        conformance::order::{ALL, Case, GuardBackend},
    },
};
use time::OffsetDateTime;

use crate::own_store::later;

type Digest = [u8; 16];

#[derive(Clone)]
struct Row {
    version: Version,
    deleted_at: Option<OffsetDateTime>,
}

/// One rule per field, each a function that a mutant may replace.
#[derive(Clone, Copy)]
struct Rules {
    digest: fn(&ObjectKey) -> Digest,
    /// What a version is kept as.
    kept: fn(Version) -> Version,
    judge: fn(&Version, Option<Version>) -> Result<Advance, StoreError>,
    /// Whether it looks in one step and writes in another.
    looks_first: bool,
    /// Whether a retention is over.
    is_over: fn(&Row, Duration, OffsetDateTime) -> bool,
    batch: fn(usize) -> usize,
    /// When a deletion was, given the row before.
    deleted_at: fn(&Version, Option<&Row>, OffsetDateTime) -> Option<OffsetDateTime>,
    /// Changes the row whose version was asked with again.
    seen_again: fn(&mut Row, OffsetDateTime),
    forgets: bool,
}

/// Every rule kept.
const KEPT: Rules = Rules {
    digest: |object| *object.digest(),
    kept: |version| version,
    judge: |version, stored| version.judge(stored),
    looks_first: false,
    is_over: |row, retention, now| {
        let is_over = |at| later(at, retention) <= now;
        row.deleted_at.is_some_and(is_over)
    },
    batch: |at_most| at_most,
    deleted_at: |version, _, now| version.is_deletion().then_some(now),
    seen_again: |_, _| {},
    forgets: true,
};

struct Mutant {
    rules: Rules,
    rows: Mutex<HashMap<Digest, Row>>,
    clock: ManualClock,
    advances: AtomicUsize,
}

impl Mutant {
    fn rows(&self) -> MutexGuard<'_, HashMap<Digest, Row>> {
        self.rows.lock().expect("nothing panics under the lock")
    }

    fn advance_now(&self, object: &ObjectKey, version: Version) -> Result<Advance, StoreError> {
        let (rules, now, digest) = (&self.rules, self.clock.now(), (self.rules.digest)(object));
        let version = (rules.kept)(version);
        let mut rows = self.rows();
        let stored = rows.get(&digest).cloned();
        let advance = (rules.judge)(&version, stored.as_ref().map(|row| row.version.clone()))?;
        if rules.looks_first {
            drop(rows);
            // Time for others, in every race.
            if self.advances.fetch_add(1, SeqCst).is_multiple_of(3) {
                thread::sleep(Duration::from_millis(1));
            }
            rows = self.rows();
        }
        match &advance {
            Advance::Applied { .. } => {
                let deleted_at = (rules.deleted_at)(&version, stored.as_ref(), now);
                let row = Row {
                    version,
                    deleted_at,
                };
                rows.insert(digest, row);
            }
            Advance::Same { .. } => {
                rows.entry(digest)
                    .and_modify(|row| (rules.seen_again)(row, now));
            }
            Advance::Older { .. } => {}
        }
        Ok(advance)
    }
}

impl OrderGuard for Mutant {
    fn advance<'a>(
        &'a self,
        object: &'a ObjectKey,
        version: Version,
    ) -> StoreFuture<'a, Result<Advance, StoreError>> {
        Box::pin(async move { self.advance_now(object, version) })
    }

    fn current<'a>(
        &'a self,
        object: &'a ObjectKey,
    ) -> StoreFuture<'a, Result<Option<Version>, StoreError>> {
        let digest = (self.rules.digest)(object);
        Box::pin(async move { Ok(self.rows().get(&digest).map(|row| row.version.clone())) })
    }

    fn forget_object<'a>(
        &'a self,
        object: &'a ObjectKey,
    ) -> StoreFuture<'a, Result<Option<Version>, StoreError>> {
        let digest = (self.rules.digest)(object);
        Box::pin(async move {
            let mut rows = self.rows();
            let gone = match self.rules.forgets {
                true => rows.remove(&digest),
                false => rows.get(&digest).cloned(),
            };
            Ok(gone.map(|row| row.version))
        })
    }

    fn purge_deleted(
        &self,
        retention: Duration,
        at_most: usize,
    ) -> StoreFuture<'_, Result<usize, StoreError>> {
        Box::pin(async move {
            let (now, most) = (self.clock.now(), (self.rules.batch)(at_most));
            let mut rows = self.rows();
            let over = rows
                .iter()
                .filter(|(_, row)| (self.rules.is_over)(row, retention, now));
            let over: Vec<_> = over.map(|(digest, _)| *digest).take(most).collect();
            for digest in &over {
                rows.remove(digest);
            }
            Ok(over.len())
        })
    }
}

impl GuardBackend for Rules {
    type Guard = Mutant;

    fn open_guard(&self, clock: ManualClock) -> Mutant {
        Mutant {
            rules: *self,
            rows: Mutex::default(),
            clock,
            advances: AtomicUsize::new(0),
        }
    }

    fn guard_rounds(&self) -> usize {
        8
    }
}

fn failures(rules: Rules) -> Vec<&'static str> {
    let fails = |case: &&Case| catch_unwind(|| case.run(&rules)).is_err();
    ALL.iter().filter(fails).map(Case::name).collect()
}

/// The suite must notice, and by these cases among others.
#[track_caller]
fn is_caught(rules: Rules, by: &[&str]) {
    let failures = failures(rules);
    assert!(!by.is_empty(), "name the cases");
    for name in by {
        assert!(Case::by_name(name).is_some(), "there is no case {name}");
        assert!(
            failures.contains(name),
            "{name} did not notice; {failures:?} did"
        );
    }
}

/// A comparison of one's own, by the rule of [`Version::judge`].
fn judge_by(
    version: &Version,
    stored: Option<Version>,
    compare: fn(&Version, &Version) -> Ordering,
) -> Result<Advance, StoreError> {
    let _ = version.judge(stored.clone())?;
    let Some(current) = stored else {
        return Ok(Advance::Applied { previous: None });
    };
    Ok(match compare(version, &current) {
        Ordering::Greater => Advance::Applied {
            previous: Some(current),
        },
        Ordering::Equal => Advance::Same { current },
        Ordering::Less => Advance::Older { current },
    })
}

fn is_later(version: &Version, than: &Version) -> Ordering {
    version.partial_cmp(than).unwrap_or(Ordering::Equal)
}

#[test]
fn nothing_is_noticed_where_every_rule_is_kept() {
    assert_eq!(failures(KEPT), [""; 0]);
}

#[test]
fn whatever_comes_last_is_applied() {
    let rules = Rules {
        judge: |version, stored| judge_by(version, stored, |_, _| Ordering::Greater),
        ..KEPT
    };
    is_caught(
        rules,
        &[
            "late_create_is_older",
            "equal_version_is_the_same",
            "versions_in_any_order",
        ],
    );
}

#[test]
fn equal_versions_are_applied_again() {
    let rules = Rules {
        judge: |version, stored| {
            judge_by(version, stored, |new, old| match is_later(new, old) {
                Ordering::Equal => Ordering::Greater,
                other => other,
            })
        },
        ..KEPT
    };
    is_caught(rules, &["equal_version_is_the_same", "one_version_by_many"]);
}

#[test]
fn equal_versions_are_older() {
    let rules = Rules {
        judge: |version, stored| {
            judge_by(version, stored, |new, old| match is_later(new, old) {
                Ordering::Equal => Ordering::Less,
                other => other,
            })
        },
        ..KEPT
    };
    is_caught(
        rules,
        &["equal_version_is_the_same", "times_that_tie_are_the_same"],
    );
}

#[test]
fn check_then_write() {
    let rules = Rules {
        looks_first: true,
        ..KEPT
    };
    is_caught(rules, &["versions_in_any_order", "one_version_by_many"]);
}

#[test]
fn numbers_are_compared_as_texts() {
    let rules = Rules {
        judge: |version, stored| {
            judge_by(version, stored, |new, old| {
                match (new.as_number(), old.as_number()) {
                    (Some(new), Some(old)) => new.to_string().cmp(&old.to_string()),
                    _ => is_later(new, old),
                }
            })
        },
        ..KEPT
    };
    is_caught(rules, &["numbers_are_compared_as_numbers"]);
}

#[test]
fn times_are_kept_in_seconds() {
    let rules = Rules {
        kept: |version| match version.as_time() {
            Some(at) if version.tie().is_empty() => {
                let whole = Version::at(at.replace_nanosecond(0).expect("it is in range"));
                match version.is_deletion() {
                    true => whole.deletion(),
                    false => whole,
                }
            }
            _ => version,
        },
        ..KEPT
    };
    is_caught(rules, &["times_are_compared"]);
}

#[test]
fn ties_are_not_broken() {
    let rules = Rules {
        kept: |version| version.tie_break("").expect("no text is a text"),
        ..KEPT
    };
    is_caught(
        rules,
        &["ties_are_broken_by_numbers", "ties_are_broken_by_texts"],
    );
}

#[test]
fn ties_ignore_case() {
    let rules = Rules {
        kept: |version| {
            let tie = version.tie().to_lowercase();
            version.tie_break(&tie).expect("it was one before")
        },
        ..KEPT
    };
    is_caught(rules, &["ties_are_broken_by_texts"]);
}

#[test]
fn a_time_is_later_than_any_number() {
    let rules = Rules {
        judge: |version, stored| match version.judge(stored.clone()) {
            Err(_) => Ok(Advance::Applied { previous: stored }),
            judged => judged,
        },
        ..KEPT
    };
    is_caught(rules, &["times_do_not_mix_with_numbers"]);
}

#[test]
fn a_deletion_deletes_the_row() {
    let rules = Rules {
        judge: |version, stored| {
            let stored = stored.filter(|stored| !stored.is_deletion());
            version.judge(stored)
        },
        ..KEPT
    };
    is_caught(
        rules,
        &["deletion_is_a_version", "deletion_of_something_unknown"],
    );
}

#[test]
fn a_deletion_is_for_ever() {
    let rules = Rules {
        judge: |version, stored| match stored {
            Some(current) if current.is_deletion() => Ok(Advance::Older { current }),
            stored => version.judge(stored),
        },
        ..KEPT
    };
    is_caught(rules, &["later_version_brings_an_object_back"]);
}

#[test]
fn a_deletion_of_the_same_version_is_a_duplicate() {
    let rules = Rules {
        judge: |version, stored| {
            judge_by(version, stored, |new, old| {
                is_later(&new.clone().deletion(), &old.clone().deletion())
            })
        },
        ..KEPT
    };
    is_caught(rules, &["deletion_of_the_version_that_stands"]);
}

#[test]
fn deletions_are_purged_at_once() {
    let rules = Rules {
        is_over: |row, _, _| row.deleted_at.is_some(),
        ..KEPT
    };
    is_caught(
        rules,
        &[
            "deletion_stays_for_its_retention",
            "purge_of_everything_and_nothing",
        ],
    );
}

#[test]
fn retention_is_over_a_moment_late() {
    let rules = Rules {
        is_over: |row, retention, now| {
            let is_over = |at| later(at, retention) < now;
            row.deleted_at.is_some_and(is_over)
        },
        ..KEPT
    };
    is_caught(rules, &["deletion_stays_for_its_retention"]);
}

#[test]
fn objects_are_purged_too() {
    let rules = Rules {
        deleted_at: |_, _, now| Some(now),
        ..KEPT
    };
    is_caught(
        rules,
        &["only_deletions_are_purged", "object_that_came_back_is_kept"],
    );
}

#[test]
fn an_object_that_came_back_stays_deleted() {
    let rules = Rules {
        deleted_at: |version, before, now| {
            let before = before.and_then(|row| row.deleted_at);
            before.or(version.is_deletion().then_some(now))
        },
        ..KEPT
    };
    is_caught(
        rules,
        &[
            "object_that_came_back_is_kept",
            "retention_is_counted_from_the_deletion",
        ],
    );
}

#[test]
fn duplicates_extend_a_deletion() {
    let rules = Rules {
        seen_again: |row, now| row.deleted_at = row.deleted_at.map(|_| now),
        ..KEPT
    };
    is_caught(rules, &["retention_is_counted_from_the_deletion"]);
}

#[test]
fn purge_is_not_bounded() {
    let rules = Rules {
        batch: |_| usize::MAX,
        ..KEPT
    };
    is_caught(rules, &["purge_is_bounded"]);
}

#[test]
fn tenants_share_objects() {
    let rules = Rules {
        digest: |object| {
            let shared = ObjectKey::new("", object.kind(), object.id());
            *shared.expect("it was one before").digest()
        },
        ..KEPT
    };
    is_caught(rules, &["objects_are_kept_apart"]);
}

#[test]
fn forgetting_forgets_nothing() {
    let rules = Rules {
        forgets: false,
        ..KEPT
    };
    is_caught(
        rules,
        &[
            "forgotten_object_begins_anew",
            "times_do_not_mix_with_numbers",
        ],
    );
}
