//! What it costs to verify one delivery.
//!
//! ```text
//! cargo bench --manifest-path benches/Cargo.toml --bench verify -- --ratios
//! cargo bench --manifest-path benches/Cargo.toml --bench verify --features peers -- --ratios
//! ```
//!
//! **Measured:** [`hookproof::verify`] of an authentic delivery, with a key ring of one secret, for
//! bodies of 256 B to 1 MiB under three schemes. The rows `…-http` read the request's headers from
//! an `http::HeaderMap`, the plain one from a `Vec` of name/value strings; either holds the eleven
//! or more headers that such a request has behind a proxy. Making the [`Secrets`] is start-up and not
//! timed.
//!
//! **The floor** is the least that any verification must do, with nothing read and nothing
//! checked: clone an HMAC state that has its key schedule done (the `hmac` and `sha2` crates that
//! hookproof uses, with the same features), update it with the same pieces in the same order,
//! decode the hex or base64 of the signature, `verify_slice`. Its inputs are at hand; it finds no
//! header, parses no timestamp and judges no age. Each scheme has its own floor, and each ratio is
//! to the floor of the same scheme and size. The row `by-hand-http` is the floor with just that added
//! in the plainest way, and so shows how much of the rest is header look-ups.
//!
//! **How:** see [`hookproof_benches`]. Batches of floor, hookproof and peers take turns; the time
//! is the fastest tenth's, the ratio the median over all rounds. Allocations are those of one run,
//! counted by the allocator outside of the timing. That hookproof makes none is asserted.
//!
//! **The peers** (feature `peers`, or `peer-…` for one of them) verify the same requests, each with
//! its key or client made ahead where its API lets one. They read the system's clock, which
//! hookproof is given. Not all of them can be had for verification alone:
//!
//! * `svix` does not compile without its HTTP and TLS client stack.
//! * `async-stripe-webhook` has one entry point, which also parses the JSON body into the event's
//!   type; its row is verification and parsing together.

mod floor;
mod peers;
mod request;

use std::{hint::black_box, time::Duration};

use floor::{by_hand, floor};
use hmac::{Hmac, KeyInit as _};
use hookproof::Secrets;
use hookproof_benches::{Group, Mode, Row};
use request::{Kind, Request};
use sha2::Sha256;
use time::OffsetDateTime;

const SIZES: [usize; 5] = [256, 1024, 8 * 1024, 64 * 1024, 1024 * 1024];
const BUDGET: Duration = Duration::from_millis(1500);
const TARGET: f64 = 1.05;

fn main() {
    let mode = Mode::from_args();
    let mut worst: Option<(f64, String)> = None;
    for kind in [Kind::GitHub, Kind::Stripe, Kind::StandardWebhooks] {
        for size in SIZES {
            for row in measure(kind, size, mode) {
                let (case, scheme, note) = (&row.name, kind.name(), peers::note(&row.name));
                let line = format!("{case:<26} {scheme:<17} {size:>8} B {row}  {note}");
                println!("{}", line.trim_end());
                if !case.starts_with("hookproof") {
                    continue;
                }
                assert_eq!(row.allocations, 0, "{line}");
                if let Some(time) = row.time
                    && worst.as_ref().is_none_or(|(ratio, _)| time.ratio > *ratio)
                {
                    worst = Some((time.ratio, line));
                }
            }
        }
    }
    if let Some((_, line)) = worst {
        println!(
            "\nhookproof's worst row (target {TARGET}x):\n{}",
            line.trim_end()
        );
    }
}

fn measure(kind: Kind, size: usize, mode: Mode) -> Vec<Row> {
    let now = OffsetDateTime::now_utc();
    let request = Request::signed(kind, size, now);
    let Request {
        map, pairs, body, ..
    } = &request;
    let secrets = Secrets::new(kind.scheme(), [kind.secret()]).expect("the secret is sound");
    let key = Hmac::<Sha256>::new_from_slice(&kind.key()).expect("HMAC takes any key");

    let mut group = Group::default();
    group.case("floor", || {
        assert!(floor(black_box(&key), black_box(&request)), "authentic");
    });
    group.case("by-hand-http", || {
        by_hand(
            black_box(&key),
            kind,
            black_box(map),
            black_box(body),
            black_box(now),
        )
        .expect("the request is authentic");
    });
    group.case("hookproof-http", || {
        hookproof::verify(black_box(body), black_box(map), &secrets, black_box(now))
            .expect("the request is authentic")
    });
    group.case("hookproof", || {
        hookproof::verify(black_box(body), black_box(pairs), &secrets, black_box(now))
            .expect("the request is authentic")
    });
    peers::add(&mut group, &request);
    group.run(mode.budget(BUDGET))
}
