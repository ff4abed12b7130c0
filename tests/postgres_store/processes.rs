//! Several processes on one server. A test plays the parent, and starts itself again as the child.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader},
    process::{Child, ChildStdout, Command, Stdio},
    time::Instant,
};

use hookproof::{Claim, EffectLedger, IdempotencyStore, PostgresStore, Verdict};
use sqlx::postgres::PgPoolOptions;

use super::{
    Bench, LEASE, PATIENCE, URL, ask, batch, busy, duplicate, number, run, settle,
    steps::{done, due},
    win, win_in,
};

const SCHEMA: &str = "HOOKPROOF_TEST_SCHEMA";

/// The store to work on, in a child: in the schema that the parent has made.
pub(crate) fn as_child() -> Option<(PostgresStore, sqlx::PgPool)> {
    let schema = std::env::var(SCHEMA).ok()?;
    let options = super::options(&std::env::var(URL).unwrap(), &schema);
    let pool = PgPoolOptions::new().max_connections(4);
    let pool = run(async { pool.connect_lazy_with(options) });
    Some((PostgresStore::new(pool.clone()), pool))
}

/// This test once more, as another process.
pub(crate) fn child(test: &str, bench: &Bench) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(SCHEMA, &bench.schema)
        .env(URL, &bench.url)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

/// What the child says after `word`, or nothing at its end.
pub(crate) fn said(output: &mut impl BufRead, word: &str) -> Option<String> {
    let mut line = String::new();
    while output.read_line(&mut line).unwrap() > 0 {
        // The harness writes its own words onto the same lines.
        if let Some((_, said)) = line.split_once(word) {
            return Some(said.trim().to_owned());
        }
        line.clear();
    }
    None
}

pub(crate) fn wait_to_be_killed() -> ! {
    loop {
        std::thread::park();
    }
}

/// The answer, as often as it takes on a server that is too busy for one.
async fn claimed(store: &PostgresStore, id: &str) -> Claim {
    let since = Instant::now();
    loop {
        match store.claim(ask(id)).await {
            Ok(claim) => return claim,
            Err(error) => assert!(
                error.kind().is_transient() && since.elapsed() < PATIENCE,
                "{error:?}"
            ),
        }
    }
}

/// Starts without tables, so that all of them create the schema at once.
#[test]
fn each_key_is_new_in_one_process() {
    const KEYS: usize = 150;
    const TASKS: usize = 4;
    if let Some((store, _)) = as_child() {
        let store = &store;
        run(async {
            store.migrate().await.unwrap();
            let work = (0..TASKS).map(|_| async move {
                for n in 0..KEYS {
                    let id = format!("e{n}");
                    match claimed(store, &id).await {
                        Claim::New(lease) => {
                            println!("WON {id}");
                            settle(store, lease, &id).await;
                        }
                        Claim::InProgress { .. } | Claim::Duplicate(_) => {}
                        other => panic!("{other:?}"),
                    }
                }
            });
            super::races::all(work).await;
        });
        return;
    }
    let bench = Bench::bare(super::url(), &[], 4);
    let children: Vec<_> = (0..3)
        .map(|_| child("processes::each_key_is_new_in_one_process", &bench))
        .collect();
    let mut won = HashMap::<_, usize>::new();
    for (mut child, mut output) in children {
        while let Some(id) = said(&mut output, "WON ") {
            *won.entry(id).or_default() += 1;
        }
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(won.len(), KEYS);
    assert!(won.values().all(|times| *times == 1), "{won:?}");
    let store = bench.builder().build();
    run(async {
        for n in 0..KEYS {
            let id = format!("e{n}");
            assert_eq!(duplicate(&store, &id).await.result, id.as_bytes());
        }
    });
}

#[test]
fn killed_between_claim_and_settle() {
    if let Some((store, _)) = as_child() {
        let lease = run(win(&store, "e1"));
        println!("CLAIMED {}", lease.fence());
        wait_to_be_killed();
    }
    let bench = Bench::new();
    let (mut child, mut output) = child("processes::killed_between_claim_and_settle", &bench);
    let fence: i64 = said(&mut output, "CLAIMED ").unwrap().parse().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    run(async {
        busy(&bench.builder().build(), "e1").await;
        // By a clock of this test's from here on: after the end of the lease.
        let end = "SELECT max(lease_until) FROM webhook_receipt";
        let end = number(&mut bench.beside().await, end).await;
        let end = i128::from(end) * 1_000;
        let end = time::OffsetDateTime::from_unix_timestamp_nanos(end).unwrap();
        let store = bench.store();
        bench.clock.set(end - LEASE);
        busy(&store, "e1").await;
        bench.clock.set(end);
        let lease = win(&store, "e1").await;
        assert_eq!((lease.attempt(), lease.fence().0), (2, fence + 1));
        settle(&store, lease, "done at last").await;
        // S-12: a restart forgets nothing.
        let again = bench.builder().build();
        assert_eq!(duplicate(&again, "e1").await.result, b"done at last");
    });
}

/// The event's card is charged, its mail is not sent: the next attempt skips the charge.
#[test]
fn killed_between_two_steps() {
    if let Some((store, _)) = as_child() {
        run(async {
            let lease = win(&store, "e1").await;
            let slot = due(&store, &lease, "charge").await;
            store.record(slot, "ch_123").await.unwrap();
            let slot = due(&store, &lease, "email").await;
            println!("CHARGED {}", slot.effect_key());
            wait_to_be_killed();
        });
    }
    let bench = Bench::new();
    let (mut child, mut output) = child("processes::killed_between_two_steps", &bench);
    let email = said(&mut output, "CHARGED ").unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    run(async {
        // By a clock of this test's, after the end of the lease.
        let end = "SELECT max(lease_until) FROM webhook_receipt";
        let end = number(&mut bench.beside().await, end).await;
        let end = time::OffsetDateTime::from_unix_timestamp_nanos(i128::from(end) * 1_000);
        bench.clock.set(end.unwrap());
        let store = bench.store();
        let lease = win(&store, "e1").await;
        assert_eq!(lease.attempt(), 2);
        assert_eq!(done(&store, &lease, "charge").await, "ch_123");
        let slot = due(&store, &lease, "email").await;
        // To the mailer it is the same mail.
        assert_eq!(slot.effect_key(), email);
        store.record(slot, "sent").await.unwrap();
        settle(&store, lease, "charged and told").await;
        let effects = store.effects(&super::key("e1")).await.unwrap();
        let texts = effects.iter().map(|effect| &*effect.text);
        assert_eq!(texts.collect::<Vec<_>>(), ["ch_123", "sent"]);
    });
}

#[test]
fn killed_within_a_transaction() {
    if let Some((store, pool)) = as_child() {
        let mut tx = run(pool.begin()).unwrap();
        run(async {
            let lease = win_in(&store, &mut tx, "e1").await;
            batch(&mut tx, "INSERT INTO invoice VALUES ('e1')").await;
            let done = Verdict::done("");
            store.settle_in(&mut tx, lease, done).await.unwrap();
        });
        println!("ACTED e1");
        wait_to_be_killed();
    }
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut other = bench.beside().await;
        batch(&mut other, "CREATE TABLE invoice (event text)").await;
        let (mut child, mut output) = child("processes::killed_within_a_transaction", &bench);
        said(&mut output, "ACTED ").unwrap();
        busy(&store, "e1").await;
        child.kill().unwrap();
        child.wait().unwrap();
        // Until the server has noticed, somebody is at it as far as anyone knows.
        let since = std::time::Instant::now();
        let lease = loop {
            match store.claim(ask("e1")).await.unwrap() {
                Claim::New(lease) => break lease,
                Claim::InProgress { .. } => assert!(since.elapsed() < super::PATIENCE),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(lease.attempt(), 1);
        let invoices = "SELECT count(*) FROM invoice";
        assert_eq!(number(&mut other, invoices).await, 0);
        settle(&store, lease, "").await;
    });
}
