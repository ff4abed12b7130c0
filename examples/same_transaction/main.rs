//! The receipt and the business row are one commit, so the event's effect happens exactly once,
//! whatever crashes in between.
//!
//! `cargo run --example same_transaction` uses SQLite, in a temporary file. With the address of a
//! PostgreSQL database it uses that, in a schema which it drops again:
//!
//! ```text
//! HOOKPROOF_POSTGRES_URL=postgres://localhost/shop \
//!     cargo run --example same_transaction --features sqlx-postgres
//! ```
#![allow(clippy::print_stdout)]

#[cfg(feature = "sqlx-postgres")]
mod postgres;
mod sqlite;

use std::error::Error;

use hookproof::{Claiming, Secrets, scheme, testing::sign};
use time::OffsetDateTime;

type Failure = Box<dyn Error>;

/// What becomes of a delivery, of which the process may die before the commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Lives,
    DiesBeforeTheCommit,
}

/// What was done.
#[derive(Debug, PartialEq, Eq)]
enum Done {
    Booked,
    /// Nothing of it is there: neither the invoice nor the receipt.
    RolledBack,
    Known(Vec<u8>),
}

/// One delivery of Stripe's, sent and verified.
fn delivery(id: &str) -> Result<Claiming, Failure> {
    let secret = "whsec_example-secret-of-the-account";
    let secrets = Secrets::new(&scheme::STRIPE, [secret])?;
    let (now, body) = (OffsetDateTime::now_utc(), format!(r#"{{"id":"{id}"}}"#));
    let request = sign(&scheme::STRIPE, secret, body.as_bytes(), now)?;
    let delivery = hookproof::verify(&request.body, &request.headers, &secrets, now)?;
    Ok(Claiming::new(&delivery, delivery.event_key("acme")?))
}

/// What must hold after these fates, in any database: `deliver` acts, `invoices` counts.
const STORY: [(&str, Fate, &str); 5] = [
    ("evt_1", Fate::Lives, "booked"),
    ("evt_1", Fate::Lives, "known"),
    ("evt_2", Fate::DiesBeforeTheCommit, "rolled back"),
    ("evt_2", Fate::Lives, "booked"),
    ("evt_2", Fate::Lives, "known"),
];

fn check(id: &str, fate: Fate, done: &Done, expected: &str) {
    let name = match done {
        Done::Booked => "booked",
        Done::RolledBack => "rolled back",
        Done::Known(result) => {
            assert_eq!(result, format!("invoice of {id}").as_bytes());
            "known"
        }
    };
    println!("{id}, {fate:?}: {name}");
    assert_eq!(name, expected);
}

fn main() -> Result<(), Failure> {
    #[cfg(feature = "sqlx-postgres")]
    if let Ok(url) = std::env::var("HOOKPROOF_POSTGRES_URL") {
        return tokio::runtime::Runtime::new()?.block_on(postgres::run(&url));
    }
    sqlite::run()
}
