//! Accept now, process later: deliveries go into an inbox in an SQLite file and are answered 200; a
//! worker acts on them afterwards, repeats what fails, and gives up what cannot succeed.
//!
//! `cargo run --example inbox_worker`; it works in a temporary file and checks what came of it.

#![allow(clippy::print_stdout, clippy::arithmetic_side_effects)]

use std::{
    collections::BTreeMap,
    error::Error,
    sync::{Arc, Mutex},
    time::Duration,
};

use hookproof::{
    EventKey, Gate, IdempotencyStore, Secrets, SqliteStore, State, Verdict,
    inbox::{Backoff, Dropping, InboxStore, Job, Listing, Notice, Requeued, Worker},
    scheme,
    testing::{Signed, sign},
};
use time::OffsetDateTime;

const SECRET: &str = "whsec_T3st0nlyAlphaKey4711xyz";

type Failure = Box<dyn Error + Send + Sync>;

/// What a sender sends.
fn delivery(id: &str, customer: &str) -> Result<Signed, Failure> {
    let body = format!(r#"{{"id":"{id}","type":"invoice.paid","customer":"{customer}"}}"#);
    Ok(sign(
        &scheme::STRIPE,
        SECRET,
        body.as_bytes(),
        OffsetDateTime::now_utc(),
    )?)
}

/// The work. It is told each time which attempt it is, and how the other side knows a repetition.
async fn act(job: Job, invoices: Arc<Mutex<BTreeMap<String, String>>>) -> Result<Verdict, Failure> {
    let event: serde_json::Value = serde_json::from_slice(job.body())?;
    match event.get("customer").and_then(|name| name.as_str()) {
        Some("flaky") if job.attempt() < 3 => Err("the ledger is down".into()),
        Some("unknown") => Ok(Verdict::dead("unknown customer")),
        Some(customer) => {
            let mut invoices = invoices.lock().map_err(|_| "poisoned")?;
            let before = invoices.insert(job.effect_key("invoice"), customer.to_owned());
            assert_eq!(before, None, "an invoice was made twice");
            Ok(Verdict::done(format!("invoice for {customer}")))
        }
        None => Err("no customer".into()),
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let store = Arc::new(SqliteStore::open(folder.path().join("webhooks.sqlite"))?);
    let secrets = Secrets::new(&scheme::STRIPE, [SECRET])?;
    let gate = Gate::new(secrets, store.clone()).tenant("acme");

    // Per request. The answer comes after the commit, and takes no longer for slow work.
    for (id, customer) in [("evt_1", "ann"), ("evt_2", "flaky"), ("evt_3", "unknown")] {
        let request = delivery(id, customer)?;
        let now = OffsetDateTime::now_utc();
        let outcome = gate.accept(&request.body, &request, now).await;
        println!("{outcome}");
        assert_eq!(
            (outcome.status(), outcome.decision().label()),
            (200, "accepted")
        );
        // The sender did not hear the answer and comes again.
        let outcome = gate.accept(&request.body, &request, now).await;
        assert_eq!(
            (outcome.status(), outcome.decision().label()),
            (200, "pending")
        );
    }

    // Beside it: in this process, or in any other on the same file.
    let invoices = Arc::new(Mutex::new(BTreeMap::new()));
    let worker = Worker::new(store.clone(), |job| act(job, invoices.clone()))
        .concurrency(4)
        .lease(Duration::from_secs(30))
        .backoff(Backoff::new(
            Duration::from_millis(10),
            Duration::from_secs(1),
        ))
        .poll(Duration::from_millis(5))
        .observer(|notice: &Notice<'_>| println!("{notice}"));
    // A service passes its own signal, such as `tokio::signal::ctrl_c()`.
    let tally = worker.run(ended(&store, 3), tokio::time::sleep).await;
    println!("{tally:?}");
    assert_eq!((tally.processed, tally.failed, tally.dead), (2, 2, 1));
    assert_eq!(invoices.lock().map_err(|_| "poisoned")?.len(), 2);

    // An event that ended answers with how it ended.
    let request = delivery("evt_1", "ann")?;
    let now = OffsetDateTime::now_utc();
    let outcome = gate.accept(&request.body, &request, now).await;
    assert_eq!(
        (outcome.status(), outcome.body()),
        (200, &b"invoice for ann"[..])
    );

    // The operator: what died, why, and once more now that the cause is gone.
    let dead = store.list(Listing::of(State::Dead)).await?;
    let key: &EventKey = &dead.first().ok_or("none died")?.key;
    println!("dead: {key:?}");
    assert!(matches!(store.requeue(key).await?, Requeued::Waiting(_)));
    let worker = Worker::new(store.clone(), |_| async { Ok(Verdict::done("by hand")) })
        .poll(Duration::from_millis(5));
    worker.run(ended(&store, 3), tokio::time::sleep).await;
    let receipt = store.get(key).await?.ok_or("forgotten")?;
    assert_eq!(
        (receipt.state, &*receipt.result),
        (State::Processed, &b"by hand"[..])
    );

    // Bodies need not be kept as long as receipts.
    assert_eq!(
        store
            .drop_bodies(Dropping::processed(Duration::ZERO))
            .await?,
        3
    );
    assert_eq!(store.parked(key).await?, None);
    println!("three events, each done once");
    Ok(())
}

/// Until so many events are done or dead.
async fn ended(store: &SqliteStore, events: usize) {
    loop {
        let mut ended = 0;
        for state in [State::Processed, State::Dead] {
            ended += store
                .list(Listing::of(state))
                .await
                .map_or(0, |page| page.len());
        }
        if ended == events {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
