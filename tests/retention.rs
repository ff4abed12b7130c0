//! Retention by provider and tenant: what is kept how long, and what is refused at start-up.
#![cfg(all(feature = "json", feature = "testing"))]
#![allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]

use std::time::Duration;

use hookproof::{
    Claiming, EventKey, Gate, IdempotencyStore, MemoryStore, Secrets, Verdict, scheme,
    store::{DEFAULT_RETENTION, Retention, RetentionTooShort},
    testing::{ManualClock, block_on, sign},
};
use time::{OffsetDateTime, macros::datetime};

const NOW: OffsetDateTime = datetime!(2027-01-15 08:00 UTC);
const SECRET: &str = "a-secret-of-sufficient-length";
const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A window of five minutes to both sides.
fn stripe() -> Secrets {
    Secrets::new(&scheme::STRIPE, [SECRET]).unwrap()
}

/// How long the receipt of a delivery to this tenant's gate is kept.
fn kept(tenant: &str, set: impl FnOnce(Gate<MemoryStore>) -> Gate<MemoryStore>) -> Duration {
    let store = MemoryStore::builder().clock(ManualClock::at(NOW)).build();
    let gate = set(Gate::new(stripe(), store).tenant(tenant));
    let signed = sign(&scheme::STRIPE, SECRET, br#"{"id":"evt_1"}"#, NOW).unwrap();
    let outcome = block_on(gate.handle(&signed.body, &signed.headers, NOW, async |_| {
        Ok(Verdict::done("done"))
    }));
    assert_eq!(outcome.status(), 200);
    let key = EventKey::business(tenant, "stripe", "evt_1").unwrap();
    let receipt = block_on(gate.store().get(&key)).unwrap().unwrap();
    (receipt.expires_at - receipt.received_at).unsigned_abs()
}

#[test]
fn the_most_particular_setting_holds() {
    let github = Secrets::new(&scheme::GITHUB, [SECRET]).unwrap();
    let policy = Retention::new()
        .provider(&stripe(), DAY * 60)
        .and_then(|policy| policy.tenant(&stripe(), "acme", DAY * 365))
        .and_then(|policy| policy.tenant(&github, "other", DAY))
        .unwrap();
    let kept = |tenant| kept(tenant, |gate| gate.retention_policy(policy.clone()));
    assert_eq!(kept("acme"), DAY * 365);
    assert_eq!(kept("other"), DAY * 60);
    assert_eq!(kept(""), DAY * 60);
}

#[test]
fn what_is_not_set_keeps_the_default() {
    let github = Secrets::new(&scheme::GITHUB, [SECRET]).unwrap();
    assert_eq!(kept("acme", |gate| gate), DEFAULT_RETENTION);
    let policy = Retention::new().provider(&github, DAY).unwrap();
    let policy = policy.tenant(&stripe(), "other", DAY).unwrap();
    let set = |gate: Gate<_>| gate.retention_policy(policy.clone());
    assert_eq!(kept("acme", set), DEFAULT_RETENTION);
    // What the gate says by itself goes first.
    let both = |gate: Gate<_>| gate.retention(DAY * 9).retention_policy(policy.clone());
    assert_eq!(kept("other", both), DAY * 9);
}

#[test]
fn shorter_than_the_window_is_refused() {
    let least = MINUTE * 10;
    let second = Duration::from_secs(1);
    let refused = Err(RetentionTooShort {
        asked: least - second,
        least,
    });
    assert_eq!(
        Retention::new().provider(&stripe(), least - second),
        refused
    );
    assert_eq!(
        Retention::new().tenant(&stripe(), "acme", least - second),
        refused
    );
    let zero = Retention::new().provider(&stripe(), Duration::ZERO);
    assert_eq!(zero.unwrap_err().asked, Duration::ZERO);
    assert!(Retention::new().provider(&stripe(), least).is_ok());

    // A wider window needs a longer memory.
    let wide = || stripe().tolerance(DAY);
    let short = Retention::new().provider(&wide(), DAY).unwrap_err();
    assert_eq!(short.least, DAY * 2);
    assert!(short.to_string().contains("shorter"));
    assert!(Retention::new().tenant(&wide(), "acme", DAY * 2).is_ok());
}

/// A policy that was made for narrower secrets than a delivery's own does not undercut it.
#[test]
fn a_claim_is_never_kept_shorter_than_its_own_window() {
    let wide = stripe().tolerance(DAY);
    let policy = Retention::new().provider(&stripe(), MINUTE * 10).unwrap();
    let signed = sign(&scheme::STRIPE, SECRET, br#"{"id":"evt_1"}"#, NOW).unwrap();
    let delivery = hookproof::verify(&signed.body, &signed.headers, &wide, NOW).unwrap();
    let key = delivery.event_key("").unwrap();
    let claiming = Claiming::new(&delivery, key.clone()).retention_policy(&policy);
    let store = MemoryStore::builder().clock(ManualClock::at(NOW)).build();
    drop(block_on(store.claim(claiming)).unwrap());
    let receipt = block_on(store.get(&key)).unwrap().unwrap();
    assert_eq!(receipt.expires_at - receipt.received_at, DAY * 2);
}
