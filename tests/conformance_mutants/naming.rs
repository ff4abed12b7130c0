//! Faults in what is the same event, and in fencing tokens.

use hookproof::{Claiming, EventKey, Fence, Fingerprint, Receipt};

use crate::{
    is_caught,
    rules::{KEPT, Rules},
};

/// Another key's digest, where there is such a key.
fn digest(tenant: &str, provider: &str, id: &str) -> [u8; 16] {
    EventKey::business(tenant, provider, id).map_or([0; 16], |key| *key.digest())
}

#[test]
fn ids_are_ignored() {
    let rules = Rules {
        digest: |key| digest(key.tenant(), key.provider(), "id"),
        ..KEPT
    };
    let cases = [
        "same_content_is_not_the_same_event",
        "events_are_kept_apart",
        "many_events",
    ];
    is_caught(rules, &cases);
}

#[test]
fn asking_invents_a_receipt() {
    let rules = Rules {
        found: |row, key, now| {
            let claiming = Claiming::business(key.clone());
            row.or_else(|| Some(Receipt::first(&claiming, now, Fence(0))))
        },
        ..KEPT
    };
    let cases = [
        "unknown_event_has_no_receipt",
        "s33_forged_delivery_touches_nothing",
    ];
    is_caught(rules, &cases);
}

#[test]
fn tenants_share_ids() {
    let rules = Rules {
        digest: |key| digest("", key.provider(), key.id()),
        ..KEPT
    };
    is_caught(rules, &["s10_scopes_are_kept_apart", "longest_scopes"]);
}

#[test]
fn names_run_into_each_other() {
    let rules = Rules {
        digest: |key| {
            let all = [key.tenant(), key.provider(), key.id()].concat();
            *Fingerprint::of(all.as_bytes()).as_bytes()
        },
        ..KEPT
    };
    is_caught(rules, &["s10_scopes_are_kept_apart"]);
}

#[test]
fn ids_ignore_case() {
    let rules = Rules {
        digest: |key| digest(key.tenant(), key.provider(), &key.id().to_lowercase()),
        ..KEPT
    };
    is_caught(rules, &["s28_ids_that_collations_confuse"]);
}

#[test]
fn ids_lose_their_last_spaces() {
    let rules = Rules {
        digest: |key| digest(key.tenant(), key.provider(), key.id().trim_end_matches(' ')),
        ..KEPT
    };
    is_caught(rules, &["s28_ids_that_collations_confuse"]);
}

#[test]
fn ids_are_cut() {
    let rules = Rules {
        digest: |key| {
            let short: String = key.id().chars().take(1000).collect();
            digest(key.tenant(), key.provider(), &short)
        },
        ..KEPT
    };
    is_caught(rules, &["s29_long_ids"]);
}

#[test]
fn ids_lose_what_is_not_in_the_first_plane() {
    let rules = Rules {
        digest: |key| {
            let plain = |c: char| if u32::from(c) > 0xFFFF { '?' } else { c };
            let id: String = key.id().chars().map(plain).collect();
            digest(key.tenant(), key.provider(), &id)
        },
        ..KEPT
    };
    is_caught(rules, &["s29_emoji_ids"]);
}

#[test]
fn fence_begins_at_one() {
    let rules = Rules {
        won: |row, before, _| {
            if before.is_none() {
                row.fence = Fence(1);
            }
        },
        ..KEPT
    };
    let cases = [
        "first_fence_comes_from_the_clock",
        "fence_is_not_reused_after_a_purge",
        "fence_is_not_reused_after_forgetting",
        "s32_forget_during_a_lease",
    ];
    is_caught(rules, &cases);
}

#[test]
fn fence_begins_at_the_clock_alone() {
    let rules = Rules {
        won: |row, before, now| {
            if before.is_none() {
                row.fence = Fence::first(now, Fence(0));
            }
        },
        ..KEPT
    };
    let cases = [
        "fence_is_not_reused_after_a_purge",
        "fence_is_not_reused_after_forgetting",
        "fence_is_not_reused_after_the_clock_is_set_back",
        "fences_of_many_events_are_kept_apart",
    ];
    is_caught(rules, &cases);
}

#[test]
fn fence_stands_still() {
    let rules = Rules {
        won: |row, before, _| {
            if let Some(before) = before {
                row.fence = before.fence;
            }
        },
        ..KEPT
    };
    is_caught(rules, &["fence_grows_by_one_per_claim", "s23_lost_lease"]);
}

#[test]
fn fence_grows_by_two() {
    let rules = Rules {
        won: |row, _, _| row.fence = row.fence.next(),
        ..KEPT
    };
    is_caught(rules, &["fence_grows_by_one_per_claim"]);
}
