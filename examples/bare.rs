//! The four calls without framework, runtime or database: verify → claim → dispatch → settle.
//!
//! `cargo run --example bare`
#![allow(clippy::print_stdout, clippy::arithmetic_side_effects)]

use std::{error::Error, time::Duration};

use hookproof::{
    Claim, Claiming, IdempotencyStore, MemoryStore, Rejection, Secrets, Verdict, scheme,
    testing::{block_on, sign},
};
use time::OffsetDateTime;

/// What an HTTP handler does with one request. Returns the status to answer with.
async fn on_request(
    raw_body: &[u8],
    headers: &[(String, String)],
    secrets: &Secrets,
    store: &impl IdempotencyStore,
    now: OffsetDateTime,
) -> Result<u16, Box<dyn Error>> {
    // 1. The request is authentic.
    let delivery = match hookproof::verify(raw_body, &headers, secrets, now) {
        Ok(delivery) => delivery,
        Err(rejection) => {
            println!("401 {} ({})", Rejection::WIRE_TEXT, rejection.kind());
            return Ok(401);
        }
    };
    let key = delivery.event_key("acme")?;

    // 2. The event is new.
    let claiming = Claiming::new(&delivery, key).lease(Duration::from_secs(30));
    match store.claim(claiming).await? {
        Claim::New(lease) => {
            // 3. Act. The effect key makes the other side ignore a repetition.
            let result = format!(
                "charged with idempotency key {}",
                lease.effect_key("charge")
            );

            // 4. The action is done: written after the real result, never before.
            let receipt = store.settle(lease, Verdict::done(result)).await?;
            println!("200 new: {}", String::from_utf8_lossy(&receipt.result));
            Ok(200)
        }
        Claim::Duplicate(receipt) => {
            println!(
                "200 duplicate: {}",
                String::from_utf8_lossy(&receipt.result)
            );
            Ok(200)
        }
        Claim::InProgress { retry_after, .. } => {
            println!("409 in progress, again in {retry_after:?}");
            Ok(409)
        }
        Claim::Conflict(conflict) => {
            println!("202 other content under {:?}", conflict.receipt.key);
            Ok(202)
        }
        Claim::Dead(receipt) => {
            println!("200 given up: {:?}", receipt.key);
            Ok(200)
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // At start-up: a bad secret is refused here, not by the first delivery.
    let secret = "whsec_example-secret-of-the-account";
    let secrets = Secrets::new(&scheme::STRIPE, [secret])?;
    let store = MemoryStore::new();

    let now = OffsetDateTime::now_utc();
    let body = br#"{"id":"evt_1","type":"invoice.paid"}"#;
    let request = sign(&scheme::STRIPE, secret, body, now)?;
    let deliver =
        |body: &[u8], now| block_on(on_request(body, &request.headers, &secrets, &store, now));

    assert_eq!(deliver(body, now)?, 200);
    assert_eq!(deliver(body, now)?, 200);
    assert_eq!(deliver(b"{\"id\":\"evt_2\"}", now)?, 401);
    assert_eq!(deliver(body, now + Duration::from_secs(301))?, 401);

    let receipt = block_on(store.get(&hookproof::EventKey::business("acme", "stripe", "evt_1")?))?;
    assert_eq!(receipt.map(|receipt| receipt.attempts), Some(1));
    Ok(())
}
