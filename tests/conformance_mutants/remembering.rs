//! Faults in how long an event is remembered.

use std::time::Duration;

use hookproof::{Receipt, State, StoreError, store::StoreErrorKind};

use crate::{
    is_caught,
    own_store::later,
    rules::{KEPT, Rules, Verb},
};

#[test]
fn claim_looks_at_retention() {
    let rules = Rules {
        is_known: |row, now| !row.is_purgeable(now),
        ..KEPT
    };
    is_caught(
        rules,
        &[
            "late_duplicate_until_the_purge",
            "conflict_until_the_purge",
            "zero_retention",
        ],
    );
}

#[test]
fn duplicates_extend_retention() {
    let rules = Rules {
        seen: |row, _, now| {
            row.expires_at = row.expires_at.max(later(now, Duration::from_secs(300)))
        },
        ..KEPT
    };
    is_caught(rules, &["s13_retention_does_not_slide", "zero_retention"]);
}

#[test]
fn attempts_extend_retention() {
    let rules = Rules {
        won: |row, _, now| {
            let length = row.expires_at - row.received_at;
            row.expires_at = now + length;
        },
        ..KEPT
    };
    is_caught(
        rules,
        &[
            "s13_retention_counts_from_the_first_attempt",
            "lapsed_lease_is_new",
        ],
    );
}

#[test]
fn attempts_begin_a_new_record() {
    let rules = Rules {
        won: |row, _, now| row.received_at = now,
        ..KEPT
    };
    is_caught(
        rules,
        &["lapsed_lease_is_new", "failed_attempt_is_new_when_due"],
    );
}

#[test]
fn retention_of_nothing_has_no_end() {
    let rules = Rules {
        won: |row, _, now| {
            if row.expires_at == now {
                row.expires_at = later(now, Duration::MAX);
            }
        },
        ..KEPT
    };
    is_caught(rules, &["zero_retention"]);
}

#[test]
fn retention_ends_a_tick_too_late() {
    let rules = Rules {
        is_purgeable: |row, now| row.is_purgeable(now) && row.expires_at < now,
        ..KEPT
    };
    is_caught(rules, &["s15_boundary_of_retention", "zero_retention"]);
}

#[test]
fn retention_ends_a_tick_too_early() {
    let rules = Rules {
        is_purgeable: |row, now| row.is_purgeable(later(now, Duration::from_micros(1))),
        ..KEPT
    };
    is_caught(rules, &["s15_boundary_of_retention"]);
}

#[test]
fn purge_takes_running_leases() {
    let rules = Rules {
        is_purgeable: |row, now| row.expires_at <= now,
        ..KEPT
    };
    is_caught(
        rules,
        &[
            "s38_purge_spares_running_leases",
            "s38_claims_against_purges",
        ],
    );
}

#[test]
fn purge_spares_lapsed_leases() {
    let rules = Rules {
        is_purgeable: |row, now| row.is_purgeable(now) && row.state != State::InProgress,
        ..KEPT
    };
    is_caught(
        rules,
        &["s38_purge_spares_running_leases", "purged_lease_is_lost"],
    );
}

#[test]
fn purge_spares_failures() {
    let rules = Rules {
        is_purgeable: |row, now| row.is_purgeable(now) && row.state != State::Failed,
        ..KEPT
    };
    is_caught(rules, &["purge_takes_every_other_state"]);
}

#[test]
fn purge_spares_the_done() {
    let rules = Rules {
        is_purgeable: |row, now| row.is_purgeable(now) && row.state != State::Processed,
        ..KEPT
    };
    is_caught(
        rules,
        &[
            "s14_outage_longer_than_retention",
            "s07_scheme_without_time",
        ],
    );
}

#[test]
fn purge_spares_the_dead() {
    let rules = Rules {
        is_purgeable: |row, now| row.is_purgeable(now) && row.state != State::Dead,
        ..KEPT
    };
    is_caught(rules, &["purge_takes_every_other_state"]);
}

#[test]
fn purge_has_no_bound() {
    let rules = Rules {
        batch: |_| Ok(usize::MAX),
        ..KEPT
    };
    is_caught(rules, &["s38_purge_is_bounded"]);
}

#[test]
fn purge_takes_no_large_number() {
    let rules = Rules {
        batch: |at_most| {
            let fits = i64::try_from(at_most).is_ok();
            let misuse = || StoreError::new(StoreErrorKind::Misuse);
            fits.then_some(at_most).ok_or_else(misuse)
        },
        ..KEPT
    };
    is_caught(rules, &["s38_purge_is_bounded"]);
}

#[test]
fn purge_miscounts() {
    let rules = Rules {
        purged: |rows| rows.min(1),
        ..KEPT
    };
    is_caught(
        rules,
        &["s38_purge_is_bounded", "purge_takes_every_other_state"],
    );
}

#[test]
fn check_then_purge() {
    let rules = Rules {
        looks_first: Some(Verb::Purge),
        rounds: 20,
        ..KEPT
    };
    is_caught(rules, &["s38_claims_against_purges"]);
}

#[test]
fn forgetting_does_nothing() {
    let rules = Rules {
        forgotten: |table, digest| table.rows.get(digest).cloned(),
        ..KEPT
    };
    is_caught(
        rules,
        &["s32_forget_lets_it_run_again", "s32_forget_during_a_lease"],
    );
}

#[test]
fn forgetting_says_nothing() {
    let rules = Rules {
        forgotten: |table, digest| {
            table.remove(digest);
            None::<Receipt>
        },
        ..KEPT
    };
    is_caught(
        rules,
        &[
            "s32_forget_lets_it_run_again",
            "s32_forget_the_dead_and_the_unknown",
        ],
    );
}

#[test]
fn forgetting_spares_running_leases() {
    let rules = Rules {
        forgotten: |table, digest| match table.rows.get(digest) {
            Some(row) if row.state == State::InProgress => None,
            _ => table.remove(digest),
        },
        ..KEPT
    };
    is_caught(rules, &["s32_forget_during_a_lease"]);
}
