//! Faults in what a verdict writes, in how often an event may fail, and in what a dropped lease
//! does.

use std::time::Duration;

use hookproof::{
    Claim, Claiming, Receipt, State, Verdict,
    store::{MAX_RESULT_BYTES, SettleError},
};

use crate::{
    is_caught,
    own_store::later,
    rules::{KEPT, Rules},
};

#[test]
fn result_is_lost() {
    let rules = Rules {
        answer: |claim| match claim {
            Claim::Duplicate(mut receipt) => {
                receipt.result.clear();
                Ok(Claim::Duplicate(receipt))
            }
            other => Ok(other),
        },
        ..KEPT
    };
    is_caught(
        rules,
        &[
            "processed_event_is_a_duplicate",
            "result_is_kept",
            "many_events",
        ],
    );
}

#[test]
fn reason_is_lost() {
    let rules = Rules {
        answer: |claim| match claim {
            Claim::Dead(mut receipt) => {
                receipt.result.clear();
                Ok(Claim::Dead(receipt))
            }
            other => Ok(other),
        },
        ..KEPT
    };
    is_caught(rules, &["dead_event_is_dead", "result_is_kept"]);
}

#[test]
fn result_is_kept_as_text() {
    let rules = Rules {
        verdict: |verdict| match verdict {
            Verdict::Done(result) => Verdict::done(String::from_utf8_lossy(&result).as_bytes()),
            other => other,
        },
        ..KEPT
    };
    is_caught(rules, &["result_is_kept"]);
}

#[test]
fn long_result_is_cut() {
    let rules = Rules {
        verdict: |verdict| match verdict {
            Verdict::Done(mut result) => {
                result.truncate(MAX_RESULT_BYTES);
                Verdict::Done(result)
            }
            other => other,
        },
        ..KEPT
    };
    is_caught(rules, &["result_too_long_hands_the_lease_back"]);
}

#[test]
fn long_result_is_kept() {
    let rules = Rules {
        fits: |_| true,
        ..KEPT
    };
    is_caught(rules, &["result_too_long_hands_the_lease_back"]);
}

#[test]
fn longest_result_is_refused() {
    let rules = Rules {
        fits: |verdict| match verdict {
            Verdict::Done(result) => result.len() < MAX_RESULT_BYTES,
            other => other.fits(),
        },
        ..KEPT
    };
    is_caught(rules, &["result_is_kept"]);
}

#[test]
fn long_result_loses_the_lease() {
    let rules = Rules {
        too_long: SettleError::lost,
        ..KEPT
    };
    is_caught(rules, &["result_too_long_hands_the_lease_back"]);
}

#[test]
fn failed_attempt_forgets_its_wait() {
    let rules = Rules {
        verdict: |verdict| match verdict {
            Verdict::Retry { .. } => Verdict::retry(Duration::ZERO),
            other => other,
        },
        ..KEPT
    };
    is_caught(
        rules,
        &["verdicts_write_their_state", "failed_attempt_waits"],
    );
}

#[test]
fn refusal_for_good_is_tried_again() {
    let rules = Rules {
        verdict: |verdict| match verdict {
            Verdict::Dead(_) => Verdict::retry(Duration::ZERO),
            other => other,
        },
        ..KEPT
    };
    is_caught(rules, &["dead_at_once", "s26_handler_fails"]);
}

#[test]
fn attempts_are_not_counted() {
    let rules = Rules {
        won: |row, before, _| row.attempts = before.map_or(1, |before| before.attempts),
        ..KEPT
    };
    is_caught(rules, &["lapsed_lease_is_new", "last_failure_is_dead"]);
}

#[test]
fn failures_never_end() {
    let rules = Rules {
        most: |_| u32::MAX,
        ..KEPT
    };
    is_caught(rules, &["last_failure_is_dead", "single_attempt"]);
}

#[test]
fn failures_end_too_early() {
    let rules = Rules {
        most: |lease| lease.max_attempts() - 1,
        ..KEPT
    };
    is_caught(
        rules,
        &["last_attempt_may_succeed", "limit_is_the_claims_own"],
    );
}

#[test]
fn lapsed_attempts_never_end() {
    let rules = Rules {
        ruling: |row, claiming, now| match row.state {
            State::InProgress => row.ruling(&claiming.clone().max_attempts(u32::MAX), now),
            _ => row.ruling(claiming, now),
        },
        ..KEPT
    };
    is_caught(
        rules,
        &["lapsed_last_attempt_is_dead", "buried_lease_is_lost"],
    );
}

#[test]
fn last_attempt_may_not_write() {
    let rules = Rules {
        may_write: |_, row, lease, _| {
            row.stands(lease.fence()) && lease.attempt() < lease.max_attempts()
        },
        ..KEPT
    };
    is_caught(
        rules,
        &["last_attempt_may_succeed", "release_is_no_failure"],
    );
}

#[test]
fn dropped_lease_is_not_reported() {
    let rules = Rules { reports: 0, ..KEPT };
    is_caught(
        rules,
        &["s35_early_return", "s35_panic", "s35_cancelled_future"],
    );
}

#[test]
fn dropped_lease_is_reported_twice() {
    let rules = Rules { reports: 2, ..KEPT };
    is_caught(
        rules,
        &["s35_early_return", "s35_panic", "s35_cancelled_future"],
    );
}

#[test]
fn dropped_lease_is_done() {
    let rules = Rules {
        dropped: |table, lease, _| {
            if let Some(row) = table.rows.get_mut(lease.key.digest()) {
                (row.state, row.until) = (State::Processed, None);
            }
        },
        ..KEPT
    };
    let cases = [
        "s35_early_return",
        "s35_panic",
        "s35_cancelled_future",
        "s35_claim_cancelled_midway",
    ];
    is_caught(rules, &cases);
}

#[test]
fn dropped_lease_loses_the_event() {
    let rules = Rules {
        dropped: |table, lease, _| drop(table.remove(lease.key.digest())),
        ..KEPT
    };
    is_caught(
        rules,
        &["s35_early_return", "dropped_lost_lease_disturbs_nothing"],
    );
}

#[test]
fn dropped_lease_is_not_fenced() {
    let rules = Rules {
        dropped: |table, lease, now| {
            if let Some(row) = table.rows.get_mut(lease.key.digest()) {
                row.until = Some(now);
            }
        },
        ..KEPT
    };
    is_caught(rules, &["dropped_lost_lease_disturbs_nothing"]);
}

#[test]
fn dropped_lease_brings_a_row_back() {
    let rules = Rules {
        dropped: |table, lease, now| {
            let claiming = Claiming::business(lease.key.clone());
            let row = Receipt::first(&claiming, now, lease.fence);
            table.rows.entry(*lease.key.digest()).or_insert(row);
        },
        ..KEPT
    };
    is_caught(rules, &["dropped_forgotten_lease_brings_nothing_back"]);
}

#[test]
fn dropped_lease_is_stuck() {
    let rules = Rules {
        dropped: |table, lease, now| {
            if let Some(row) = table.rows.get_mut(lease.key.digest()) {
                row.until = Some(later(now, Duration::from_secs(3600)));
            }
        },
        ..KEPT
    };
    is_caught(
        rules,
        &["s35_early_return", "s35_panic", "s35_cancelled_future"],
    );
}
