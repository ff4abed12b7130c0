//! Faults in who may write: fences, renewals and releases.

use std::time::Duration;

use hookproof::{
    Claiming, Receipt, State, Verdict,
    store::{SettleError, SettleFault},
};

use crate::{
    is_caught,
    own_store::later,
    rules::{KEPT, Rules, Verb},
};

#[test]
fn settling_is_not_fenced() {
    let rules = Rules {
        may_write: |verb, row, lease, _| verb == Verb::Settle || row.stands(lease.fence()),
        ..KEPT
    };
    is_caught(
        rules,
        &[
            "s23_lost_lease",
            "s23_both_holders_settle",
            "buried_lease_is_lost",
        ],
    );
}

#[test]
fn renewing_is_not_fenced() {
    let rules = Rules {
        may_write: |verb, row, lease, _| verb == Verb::Renew || row.stands(lease.fence()),
        ..KEPT
    };
    is_caught(rules, &["s23_lost_lease", "s34_heartbeat"]);
}

#[test]
fn releasing_is_not_fenced() {
    let rules = Rules {
        may_write: |verb, row, lease, _| verb == Verb::Release || row.stands(lease.fence()),
        ..KEPT
    };
    is_caught(rules, &["s23_lost_lease", "s34_heartbeat"]);
}

#[test]
fn fence_is_compared_but_not_the_state() {
    let rules = Rules {
        may_write: |_, row, lease, _| row.fence == lease.fence(),
        ..KEPT
    };
    is_caught(rules, &["buried_lease_is_lost"]);
}

#[test]
fn check_then_settle() {
    let rules = Rules {
        looks_first: Some(Verb::Settle),
        rounds: 20,
        ..KEPT
    };
    is_caught(rules, &["s23_settle_against_takeover"]);
}

#[test]
fn check_then_renew() {
    let rules = Rules {
        looks_first: Some(Verb::Renew),
        rounds: 20,
        ..KEPT
    };
    is_caught(rules, &["s34_renew_against_takeover"]);
}

#[test]
fn lapsed_lease_may_not_write() {
    let rules = Rules {
        may_write: |_, row, lease, now| row.stands(lease.fence()) && row.is_waiting(now),
        ..KEPT
    };
    let cases = [
        "lapsed_lease_may_settle",
        "lapsed_lease_may_renew",
        "lapsed_lease_may_release",
        "lapsed_lease_is_lost_to_claims_only",
    ];
    is_caught(rules, &cases);
}

#[test]
fn holder_brings_a_row_back() {
    let rules = Rules {
        revived: |lease, now| {
            let claiming = Claiming::business(lease.key().clone());
            let mut row = Receipt::first(&claiming, now, lease.fence());
            row.fence = lease.fence();
            Some(row)
        },
        ..KEPT
    };
    is_caught(
        rules,
        &["s32_forget_during_a_lease", "purged_lease_is_lost"],
    );
}

#[test]
fn lost_lease_is_loud() {
    let rules = Rules {
        lost: |lease| SettleError {
            lease: Box::new(lease),
            fault: SettleFault::LeaseLost,
        },
        ..KEPT
    };
    is_caught(rules, &["s23_lost_lease", "lost_lease_stays_lost"]);
}

#[test]
fn lost_lease_is_something_else() {
    let rules = Rules {
        lost: |lease| SettleError {
            fault: SettleFault::ResultTooLong,
            ..SettleError::lost(lease)
        },
        ..KEPT
    };
    is_caught(rules, &["s23_lost_lease", "s34_heartbeat"]);
}

#[test]
fn renewal_counts_from_the_old_end() {
    let rules = Rules {
        renewed: |row, length, now| {
            row.until = Some(later(row.until.unwrap_or(now), length));
        },
        ..KEPT
    };
    is_caught(rules, &["s34_heartbeat", "renewal_counts_from_now"]);
}

#[test]
fn renewal_never_shortens() {
    let rules = Rules {
        renewed: |row, length, now| row.until = row.until.max(Some(later(now, length))),
        ..KEPT
    };
    is_caught(rules, &["renewal_counts_from_now", "renewal_to_nothing"]);
}

#[test]
fn renewal_takes_a_fence() {
    let rules = Rules {
        renewed: |row, length, now| {
            row.until = Some(later(now, length));
            row.fence = row.fence.next();
        },
        ..KEPT
    };
    is_caught(rules, &["s34_heartbeat", "fence_grows_by_one_per_claim"]);
}

#[test]
fn release_does_nothing() {
    let rules = Rules {
        released: |_, _| {},
        ..KEPT
    };
    is_caught(rules, &["released_claim_is_new", "s17_two_retries_at_once"]);
}

#[test]
fn release_loses_the_event() {
    let rules = Rules {
        stays: false,
        ..KEPT
    };
    is_caught(
        rules,
        &["release_does_not_lose_the_event", "released_claim_is_new"],
    );
}

#[test]
fn release_is_a_failure() {
    let rules = Rules {
        released: |row, lease| {
            let now = row.changed_at;
            let retry = Verdict::retry(Duration::ZERO);
            (row.state, row.until, row.result) =
                retry.outcome(row.attempts, lease.max_attempts(), now);
        },
        ..KEPT
    };
    is_caught(rules, &["release_is_no_failure"]);
}

#[test]
fn release_is_done() {
    let rules = Rules {
        released: |row, _| (row.state, row.until) = (State::Processed, None),
        ..KEPT
    };
    is_caught(rules, &["released_claim_is_new", "s26_handler_fails"]);
}
