//! Scenarios that begin with signed deliveries: what names an event, and for how long that holds.

use super::{
    bench::{Bench, DAY, HOUR, LEASE, secs},
    post::{self, ATTEMPTS, ONE_TIME, Post},
};
use crate::{
    Claim, Claiming, Secrets, Verdict,
    scheme::{GITHUB, PLAIN},
};

/// One receiver: verify, claim, count, settle.
struct Service<'b> {
    bench: &'b Bench<'b>,
    secrets: Secrets,
    retention: std::time::Duration,
    runs: std::cell::Cell<u32>,
}

impl<'b> Service<'b> {
    fn new(bench: &'b Bench<'b>, secrets: Secrets) -> Self {
        Self {
            bench,
            secrets,
            retention: DAY * 30,
            runs: std::cell::Cell::new(0),
        }
    }

    fn retention(mut self, retention: std::time::Duration) -> Self {
        self.retention = retention;
        self
    }

    /// Handles one delivery and says what it was.
    #[track_caller]
    fn receive(&self, post: &Post) -> &'static str {
        let delivery = crate::verify(&post.body, &post.headers, &self.secrets, self.bench.now())
            .expect("the delivery is authentic");
        let key = delivery
            .event_key("")
            .expect("the delivery names its event");
        let claiming = Claiming::new(&delivery, key)
            .lease(LEASE)
            .retention(self.retention);
        match self.bench.claim(claiming) {
            Claim::New(lease) => {
                self.runs.set(self.runs.get() + 1);
                self.bench.settle(lease, Verdict::done("done"));
                "new"
            }
            Claim::Duplicate(_) => "duplicate",
            Claim::InProgress { .. } => "in progress",
            Claim::Conflict(_) => "conflict",
            Claim::Dead(_) => "dead",
        }
    }
}

/// S-01: the same signed bytes under a new, unsigned id are the same event.
pub(super) fn s01_new_id_same_signed_bytes(bench: &Bench<'_>) {
    let service = Service::new(bench, post::secrets(&GITHUB));
    assert_eq!(
        service.receive(&post::github(Some("d1"), "{\"n\":1}")),
        "new"
    );
    assert_eq!(
        service.receive(&post::github(Some("d2"), "{\"n\":1}")),
        "duplicate"
    );
    assert_eq!(service.runs.get(), 1);
    assert_eq!(
        service.receive(&post::github(Some("d2"), "{\"n\":2}")),
        "new"
    );
}

/// S-02: a missing id is no way around the claim: the content still names the event, and where
/// the id is signed a delivery without one is refused.
pub(super) fn s02_id_header_removed(bench: &Bench<'_>) {
    let service = Service::new(bench, post::secrets(&GITHUB));
    assert_eq!(service.receive(&post::github(Some("d1"), "{}")), "new");
    assert_eq!(service.receive(&post::github(None, "{}")), "duplicate");
    assert_eq!(service.runs.get(), 1);

    let mut standard = post::attempt(bench.now(), "e1", "a1", "{}");
    standard.headers.retain(|(name, _)| *name != "webhook-id");
    let secrets = post::secrets(&ATTEMPTS);
    let verified = crate::verify(&standard.body, &standard.headers, &secrets, bench.now());
    assert!(verified.is_err(), "accepted without its id");
}

/// S-03: a replay inside the window is a duplicate, and so is a retry that was signed anew.
pub(super) fn s03_replay_inside_the_window(bench: &Bench<'_>) {
    let service = Service::new(bench, post::secrets(&PLAIN));
    let captured = post::plain(bench.now(), "d1", "{\"n\":1}");
    assert_eq!(service.receive(&captured), "new");
    bench.at(secs(10));
    assert_eq!(service.receive(&captured), "duplicate");
    let retry = post::plain(bench.now(), "d2", "{\"n\":1}");
    assert_eq!(service.receive(&retry), "duplicate");
    assert_eq!(service.runs.get(), 1);
}

/// S-04: a signed one-time token that comes again with other content, which the signature does
/// not cover, is a conflict.
pub(super) fn s04_one_time_token(bench: &Bench<'_>) {
    let service = Service::new(bench, post::secrets(&ONE_TIME));
    let first = post::one_time(bench.now(), "token-1", "event X");
    assert_eq!(service.receive(&first), "new");
    let reused = Post {
        body: b"event Y".to_vec(),
        ..first.clone()
    };
    assert_eq!(service.receive(&reused), "conflict");
    assert_eq!(service.receive(&first), "duplicate");
    assert_eq!(service.runs.get(), 1);
}

/// S-06: attempts have ids of their own; the event's id decides.
pub(super) fn s06_attempt_id_against_event_id(bench: &Bench<'_>) {
    let service = Service::new(bench, post::secrets(&ATTEMPTS));
    assert_eq!(
        service.receive(&post::attempt(bench.now(), "e1", "a1", "{}")),
        "new"
    );
    bench.at(secs(60));
    assert_eq!(
        service.receive(&post::attempt(bench.now(), "e1", "a2", "{}")),
        "duplicate"
    );
    assert_eq!(
        service.receive(&post::attempt(bench.now(), "e2", "a2", "{}")),
        "new"
    );
    assert_eq!(service.runs.get(), 2);
}

/// S-07: without a signed time nothing but the kept receipt stands against a replay, and that
/// protection ends with the retention.
pub(super) fn s07_scheme_without_time(bench: &Bench<'_>) {
    let service = Service::new(bench, post::secrets(&GITHUB)).retention(DAY * 30);
    let captured = post::github(Some("d1"), "{}");
    assert_eq!(service.receive(&captured), "new");
    bench.at(DAY * 7);
    assert_eq!(bench.purge(10), 0);
    assert_eq!(service.receive(&captured), "duplicate");
    bench.at(DAY * 31);
    assert_eq!(bench.purge(10), 1);
    assert_eq!(service.receive(&captured), "new");
}

/// S-08: a retention shorter than the window is raised, so that what still passes as fresh is
/// still known.
pub(super) fn s08_retention_shorter_than_the_window(bench: &Bench<'_>) {
    let secrets = post::secrets(&PLAIN).tolerance(DAY);
    let service = Service::new(bench, secrets).retention(HOUR);
    let captured = post::plain(bench.now(), "d1", "{}");
    assert_eq!(service.receive(&captured), "new");
    for later in [HOUR * 2, DAY] {
        bench.at(later);
        assert_eq!(bench.purge(10), 0);
        assert_eq!(service.receive(&captured), "duplicate");
    }
    assert_eq!(service.runs.get(), 1);
}

/// S-09: equal content on purpose. Where content names the event, retention decides for how long
/// two events with the same content are one.
pub(super) fn s09_equal_bodies_on_purpose(bench: &Bench<'_>) {
    let short = Service::new(bench, post::secrets(&GITHUB)).retention(secs(600));
    let long = Service::new(bench, post::secrets(&GITHUB)).retention(DAY);
    assert_eq!(short.receive(&post::github(None, "tick")), "new");
    assert_eq!(long.receive(&post::github(None, "tock")), "new");
    bench.at(HOUR);
    assert_eq!(bench.purge(10), 1);
    assert_eq!(short.receive(&post::github(None, "tick")), "new");
    assert_eq!(long.receive(&post::github(None, "tock")), "duplicate");
    assert_eq!((short.runs.get(), long.runs.get()), (2, 1));
}

/// S-11: the sender did not hear the answer and comes again. It is told so, and not as an error.
pub(super) fn s11_retry_after_success(bench: &Bench<'_>) {
    let service = Service::new(bench, post::secrets(&ATTEMPTS));
    assert_eq!(
        service.receive(&post::attempt(bench.now(), "e1", "a1", "{}")),
        "new"
    );
    bench.at(secs(300));
    assert_eq!(
        service.receive(&post::attempt(bench.now(), "e1", "a2", "{}")),
        "duplicate"
    );
    assert_eq!(service.runs.get(), 1);
}

/// S-15: what a header says about retries decides nothing: the first delivery that arrives is new,
/// and the second is not.
pub(super) fn s15_retry_header_decides_nothing(bench: &Bench<'_>) {
    let service = Service::new(bench, post::secrets(&ATTEMPTS));
    let mut second_try = post::attempt(bench.now(), "e1", "a2", "{}");
    second_try.headers.push(("x-retry-num", "1".into()));
    assert_eq!(service.receive(&second_try), "new");
    let first_try = post::attempt(bench.now(), "e1", "a1", "{}");
    assert_eq!(service.receive(&first_try), "duplicate");
}

/// S-30: a delivery that is authentic and repeats an id with another body.
pub(super) fn s30_same_id_other_body(bench: &Bench<'_>) {
    let service = Service::new(bench, post::secrets(&ATTEMPTS));
    assert_eq!(
        service.receive(&post::attempt(bench.now(), "e1", "a1", "P")),
        "new"
    );
    assert_eq!(
        service.receive(&post::attempt(bench.now(), "e1", "a2", "Q")),
        "conflict"
    );
    assert_eq!(
        service.receive(&post::attempt(bench.now(), "e1", "a3", "P")),
        "duplicate"
    );
    assert_eq!(service.runs.get(), 1);
}

/// S-33: a forged delivery touches nothing, so that the genuine one is still new.
pub(super) fn s33_forged_delivery_touches_nothing(bench: &Bench<'_>) {
    let genuine = post::attempt(bench.now(), "e9", "a1", "{\"pay\":1}");
    let forged = Post {
        body: b"{\"pay\":9}".to_vec(),
        ..genuine.clone()
    };
    let service = Service::new(bench, post::secrets(&ATTEMPTS));
    let now = bench.now();
    assert!(crate::verify(&forged.body, &forged.headers, &service.secrets, now).is_err());
    let delivery = crate::verify(&genuine.body, &genuine.headers, &service.secrets, now);
    let key = delivery.map(|delivery| delivery.event_key("").unwrap());
    assert_eq!(bench.get(&key.unwrap()), None);
    assert_eq!(service.receive(&genuine), "new");
}
