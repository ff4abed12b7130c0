//! `scheme::detect` proposes every row from a request signed under it, and proves nothing.
#![cfg(all(feature = "testing", feature = "json"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use hookproof::{
    Secrets,
    scheme::{self, Scheme},
    testing::{self, Signed},
};
use time::{OffsetDateTime, macros::datetime};

const NOW: OffsetDateTime = datetime!(2027-01-15 08:00 UTC);
const SECRET: &str = "made-up-secret-of-32-characters!";

fn signed(row: &'static Scheme, secret: &str) -> Signed {
    let secret = common::with_settings(row, common::signing_secret(row, secret));
    testing::sign(row, secret, &common::body(row, NOW), NOW)
        .unwrap_or_else(|error| panic!("{}: {error}", row.name()))
}

fn secrets(row: &'static Scheme) -> Secrets {
    Secrets::new(
        row,
        [common::with_settings(row, common::secret(row, SECRET))],
    )
    .unwrap()
}

/// The rows that have a signature in a header; the others are not told by headers.
fn rows() -> impl Iterator<Item = &'static Scheme> {
    let in_header = |row: &&Scheme| {
        let more = row.more_signature_slots().iter().copied();
        row.signature_slot()
            .into_iter()
            .chain(more)
            .any(|slot| slot.is_header())
    };
    let rows = scheme::ALL.iter().copied().filter(in_header);
    assert!(rows.clone().count() > 150);
    rows
}

fn names(rows: &[&Scheme]) -> Vec<&'static str> {
    rows.iter().map(|row| row.name()).collect()
}

#[test]
fn every_row_is_proposed_for_what_it_signed() {
    for row in rows() {
        let proposed = names(&scheme::detect(&signed(row, SECRET)));
        assert!(
            proposed.contains(&row.name()),
            "{}: {proposed:?}",
            row.name()
        );
    }
}

#[test]
fn the_second_header_family_counts_as_well() {
    let (mut tried, now) = (0, NOW);
    for row in rows() {
        let Some((ours, other)) = row.header_families() else {
            continue;
        };
        let mut request = signed(row, SECRET);
        for (name, _) in &mut request.headers {
            if name.starts_with(ours) {
                *name = name.replacen(ours, other, 1);
                tried += 1;
            }
        }
        assert!(
            scheme::detect(&request)
                .iter()
                .any(|found| found.name() == row.name())
        );
        let secrets = secrets(row);
        assert!(hookproof::verify(&request.body, &request, &secrets, now).is_ok());
    }
    assert!(tried > 0, "no row has two families");
}

#[test]
fn nothing_is_proposed_without_headers() {
    let none: [(&str, &str); 0] = [];
    assert!(scheme::detect(&none).is_empty());
    let ordinary = [
        ("Host", "hooks.example.com"),
        ("Content-Type", "application/json"),
    ];
    assert!(scheme::detect(&ordinary).is_empty());
}

#[test]
fn a_forged_request_is_proposed_and_does_not_verify() {
    for row in rows() {
        let forged = signed(row, "another-secret-of-32-characters!");
        let proposed = scheme::detect(&forged);
        assert!(proposed.iter().any(|found| found.name() == row.name()));
        let secrets = secrets(row);
        let verified = hookproof::verify(&forged.body, &forged, &secrets, NOW);
        assert!(verified.is_err(), "{}", row.name());
    }
}

#[test]
fn more_headers_come_first() {
    // Each shares its signature header with rows that stand before it in the catalogue.
    let hub = ("X-Hub-Signature", "sha256=00");
    let jira = [hub, ("X-Atlassian-Webhook-Identifier", "1")];
    assert_eq!(names(&scheme::detect(&jira)).first(), Some(&"jira"));
    let server = [hub, ("X-Event-Key", "repo:push"), ("X-Request-Id", "1")];
    assert_eq!(
        names(&scheme::detect(&server)).first(),
        Some(&"bitbucket-server")
    );
    // With as many headers, the row whose prefix is met comes first.
    let stream = [("Webhook-Signature", "time=1800000000,sig1=00")];
    assert_eq!(
        names(&scheme::detect(&stream)),
        ["cloudflare-stream", "gocardless"]
    );
    // And Twitch's four headers outdo any one of them.
    let twitch = signed(&scheme::TWITCH, SECRET);
    assert_eq!(names(&scheme::detect(&twitch)), ["twitch"]);
}

#[test]
fn a_wrong_prefix_a_repetition_or_a_missing_signed_header_is_not_proposed() {
    let v0 = [("Stripe-Signature", "t=1800000000,v0=00")];
    assert!(scheme::detect(&v0).is_empty());
    let twice = [
        ("Stripe-Signature", "t=1800000000,v1=00"),
        ("stripe-signature", "t=1800000000,v1=11"),
    ];
    assert!(scheme::detect(&twice).is_empty());
    let untimed = [("X-Slack-Signature", "v0=00")];
    assert!(scheme::detect(&untimed).is_empty());
    let long = [("Stripe-Signature", format!("v1={}", "0".repeat(9000)))];
    assert!(scheme::detect(&long).is_empty());
}
