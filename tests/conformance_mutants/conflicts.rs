//! Faults in telling other content of a known event.

use hookproof::{Claim, Fingerprint, State};

use crate::{
    is_caught,
    rules::{KEPT, Rules},
};

#[test]
fn content_is_never_compared() {
    let rules = Rules {
        ruling: |row, claiming, now| {
            row.ruling(&claiming.clone().fingerprint(row.fingerprint), now)
        },
        ..KEPT
    };
    is_caught(rules, &["s04_one_time_token", "s30_same_id_other_body"]);
}

/// Rulings that do not look at content while the row is in one state.
macro_rules! content_is_not_compared {
    ($($name:ident: $state:pat => [$($case:literal),+];)+) => {$(
        #[test]
        fn $name() {
            let rules = Rules {
                ruling: |row, claiming, now| match (row.state, row.is_waiting(now)) {
                    $state => row.ruling(&claiming.clone().fingerprint(row.fingerprint), now),
                    _ => row.ruling(claiming, now),
                },
                ..KEPT
            };
            is_caught(rules, &[$($case),+]);
        }
    )+};
}

content_is_not_compared! {
    content_after_state: (State::InProgress, true) => ["s30_conflict_while_in_progress"];
    content_after_the_lease: (State::InProgress, false) =>
        ["conflict_after_the_lease", "conflict_after_the_last_lease"];
    content_while_waiting: (State::Failed, true) => ["conflict_while_a_failure_waits"];
    content_when_due: (State::Failed, false) =>
        ["conflict_when_a_failure_is_due", "conflict_after_a_release"];
    content_when_done: (State::Processed, _) =>
        ["s30_conflict_after_completion", "conflict_until_the_purge"];
    content_when_dead: (State::Dead, _) => ["conflict_when_dead"];
}

#[test]
fn conflict_replaces_the_first_record() {
    let rules = Rules {
        seen: |row, claiming, _| row.fingerprint = claiming.content(),
        ..KEPT
    };
    is_caught(
        rules,
        &["s30_conflict_while_in_progress", "conflict_when_dead"],
    );
}

#[test]
fn conflict_hides_the_first_content() {
    let rules = Rules {
        answer: |claim| match claim {
            Claim::Conflict(mut conflict) => {
                conflict.receipt.fingerprint = Fingerprint::IGNORED;
                Ok(Claim::Conflict(conflict))
            }
            other => Ok(other),
        },
        ..KEPT
    };
    is_caught(rules, &["s30_conflict_while_in_progress"]);
}

#[test]
fn conflict_shows_the_first_content_twice() {
    let rules = Rules {
        answer: |claim| match claim {
            Claim::Conflict(mut conflict) => {
                conflict.presented = conflict.receipt.fingerprint;
                Ok(Claim::Conflict(conflict))
            }
            other => Ok(other),
        },
        ..KEPT
    };
    is_caught(rules, &["s30_conflict_after_completion"]);
}
