//! Faults in who may act, and when.

use std::time::Duration;

use hookproof::{Claim, Receipt, State, StoreError, store::StoreErrorKind};

use crate::{
    is_caught,
    own_store::later,
    rules::{KEPT, Rules, Verb},
};

const TICK: Duration = Duration::from_micros(1);

/// The row as if an attempt had failed long ago.
fn due(row: &Receipt) -> Receipt {
    let mut row = row.clone();
    (row.state, row.until) = (State::Failed, None);
    row
}

#[test]
fn check_then_insert() {
    let rules = Rules {
        looks_first: Some(Verb::Insert),
        ..KEPT
    };
    let races = [
        "s16_two_at_once",
        "s16_work_is_done_once",
        "many_events_in_different_orders",
    ];
    is_caught(rules, &races);
}

#[test]
fn check_then_take_over() {
    let rules = Rules {
        looks_first: Some(Verb::TakeOver),
        ..KEPT
    };
    is_caught(rules, &["s17_two_retries_at_once", "s23_takeover_race"]);
}

#[test]
fn first_attempt_is_not_counted() {
    let rules = Rules {
        won: |row, before, _| {
            if before.is_none() {
                row.attempts = 0;
            }
        },
        ..KEPT
    };
    is_caught(rules, &["unknown_event_is_new", "last_failure_is_dead"]);
}

#[test]
fn done_is_new_again() {
    let rules = Rules {
        ruling: |row, claiming, now| match row.state {
            State::Processed => due(row).ruling(claiming, now),
            _ => row.ruling(claiming, now),
        },
        ..KEPT
    };
    is_caught(
        rules,
        &["processed_event_is_a_duplicate", "s11_retry_after_success"],
    );
}

#[test]
fn dead_is_new_again() {
    let rules = Rules {
        ruling: |row, claiming, now| match row.state {
            State::Dead => due(row).ruling(claiming, now),
            _ => row.ruling(claiming, now),
        },
        ..KEPT
    };
    is_caught(rules, &["dead_event_is_dead", "last_failure_is_dead"]);
}

#[test]
fn running_is_new_again() {
    let rules = Rules {
        ruling: |row, claiming, now| match row.state {
            State::InProgress => due(row).ruling(claiming, now),
            _ => row.ruling(claiming, now),
        },
        ..KEPT
    };
    is_caught(rules, &["running_lease_is_in_progress", "s16_two_at_once"]);
}

#[test]
fn lapsed_is_stuck() {
    let rules = Rules {
        ruling: |row, claiming, now| {
            let mut row = row.clone();
            row.until = row.until.map(|_| later(now, TICK));
            row.changed_at = now;
            row.ruling(claiming, now)
        },
        ..KEPT
    };
    is_caught(
        rules,
        &["s18_crash_after_claim", "failed_attempt_is_new_when_due"],
    );
}

#[test]
fn duplicate_is_an_error() {
    let rules = Rules {
        answer: |claim| match claim {
            Claim::Duplicate(_) => {
                let raw = "UNIQUE constraint failed: receipts.key";
                Err(StoreError::with_source(StoreErrorKind::Corrupt, raw))
            }
            other => Ok(other),
        },
        ..KEPT
    };
    is_caught(rules, &["s11_retry_after_success", "s16_two_at_once"]);
}

#[test]
fn lease_lasts_a_tick_too_long() {
    let rules = Rules {
        ruling: |row, claiming, now| {
            let mut row = row.clone();
            row.until = row.until.map(|until| later(until, TICK));
            row.ruling(claiming, now)
        },
        ..KEPT
    };
    let cases = ["lapsed_lease_is_new", "s24_zero_lease_is_over_at_once"];
    is_caught(rules, &cases);
}

#[test]
fn lease_of_nothing_has_no_end() {
    let rules = Rules {
        won: |row, _, now| {
            if row.until == Some(now) {
                row.until = Some(later(now, Duration::MAX));
            }
        },
        ..KEPT
    };
    is_caught(rules, &["s24_zero_lease_is_over_at_once"]);
}

#[test]
fn lease_counts_from_the_first_attempt() {
    let rules = Rules {
        won: |row, before, _| {
            if before.is_some() {
                row.until = Some(later(row.received_at, Duration::from_secs(60)));
            }
        },
        ..KEPT
    };
    is_caught(rules, &["lapsed_lease_is_new", "s23_takeover_race"]);
}

#[test]
fn failed_attempt_does_not_wait() {
    let rules = Rules {
        ruling: |row, claiming, now| match row.state {
            State::Failed => due(row).ruling(claiming, now),
            _ => row.ruling(claiming, now),
        },
        ..KEPT
    };
    is_caught(rules, &["failed_attempt_waits", "retry_much_later"]);
}

#[test]
fn asked_to_wait_for_nothing() {
    let rules = Rules {
        answer: |claim| match claim {
            Claim::InProgress { receipt, .. } => Ok(Claim::InProgress {
                retry_after: Duration::ZERO,
                receipt,
            }),
            other => Ok(other),
        },
        ..KEPT
    };
    is_caught(
        rules,
        &["running_lease_is_in_progress", "failed_attempt_waits"],
    );
}

#[test]
fn asked_to_wait_for_too_long() {
    let rules = Rules {
        answer: |claim| match claim {
            Claim::InProgress {
                retry_after,
                receipt,
            } => Ok(Claim::InProgress {
                retry_after: retry_after + TICK,
                receipt,
            }),
            other => Ok(other),
        },
        ..KEPT
    };
    is_caught(
        rules,
        &["running_lease_is_in_progress", "failed_attempt_waits"],
    );
}

#[test]
fn asked_to_come_too_early() {
    let rules = Rules {
        answer: |claim| match claim {
            Claim::InProgress { receipt, .. } => Ok(Claim::InProgress {
                retry_after: TICK,
                receipt,
            }),
            other => Ok(other),
        },
        ..KEPT
    };
    is_caught(rules, &["retry_after_is_when_to_ask_again"]);
}

#[test]
fn clock_set_back_stretches_leases() {
    let rules = Rules {
        ruling: |row, claiming, now| match row.until {
            // As if nothing were known of how long the lease was.
            Some(until) if now < until => {
                let mut row = row.clone();
                row.changed_at = now;
                row.ruling(claiming, now)
            }
            _ => row.ruling(claiming, now),
        },
        ..KEPT
    };
    let cases = [
        "s37_set_back_clock_does_not_stretch_a_lease",
        "s37_set_back_clock_does_not_stretch_a_wait",
        "s37_lapsed_lease_stays_reclaimable",
    ];
    is_caught(rules, &cases);
}

#[test]
fn clock_put_right_ends_leases() {
    let rules = Rules {
        ruling: |row, claiming, now| match row.state {
            State::InProgress if now < row.changed_at => due(row).ruling(claiming, now),
            _ => row.ruling(claiming, now),
        },
        ..KEPT
    };
    is_caught(rules, &["s37_small_correction_keeps_the_lease"]);
}
