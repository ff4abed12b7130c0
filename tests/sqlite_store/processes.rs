//! Several processes on one file. A test plays the parent, and starts itself again as the child.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use hookproof::{
    Claim, EffectLedger, IdempotencyStore, SqliteStore,
    store::sql::{ImmediateTx, Synchronous, TxClaim},
};
use rusqlite::Connection;
use time::OffsetDateTime;

use super::{
    Bench, LEASE, ask, block_on, count, duplicate, key, settle,
    steps::{done, due},
    win,
};

const FILE: &str = "HOOKPROOF_TEST_FILE";

/// The file to work on, in a child.
pub(crate) fn as_child() -> Option<PathBuf> {
    std::env::var_os(FILE).map(Into::into)
}

/// This test once more, as another process.
pub(crate) fn child(test: &str, bench: &Bench) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(FILE, bench.path())
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

pub(crate) fn store(path: PathBuf) -> SqliteStore {
    SqliteStore::builder(path)
        .busy_timeout(Duration::from_secs(60))
        .synchronous(Synchronous::Normal)
        .open()
        .unwrap()
}

/// Starts on a missing file, so that all of them create the schema at once.
#[test]
fn each_key_is_new_in_one_process() {
    const KEYS: usize = 300;
    const THREADS: usize = 4;
    if let Some(path) = as_child() {
        let store = std::sync::Arc::new(store(path));
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let store = store.clone();
                std::thread::spawn(move || {
                    for n in 0..KEYS {
                        let id = format!("e{n}");
                        match block_on(store.claim(ask(&id))).unwrap() {
                            Claim::New(lease) => {
                                println!("WON {id}");
                                settle(&store, lease, &id);
                            }
                            Claim::InProgress { .. } | Claim::Duplicate(_) => {}
                            other => panic!("{other:?}"),
                        }
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        return;
    }
    let bench = Bench::new();
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
    let store = bench.open();
    for n in 0..KEYS {
        let id = format!("e{n}");
        assert_eq!(duplicate(&store, &id).result, id.as_bytes());
    }
}

#[test]
fn killed_between_claim_and_settle() {
    if let Some(path) = as_child() {
        let store = store(path);
        let Claim::New(lease) = block_on(store.claim(ask("e1"))).unwrap() else {
            panic!("the event is known");
        };
        println!("CLAIMED {}", lease.fence());
        loop {
            std::thread::park();
        }
    }
    let bench = Bench::new();
    let (mut child, mut output) = child("processes::killed_between_claim_and_settle", &bench);
    let fence: i64 = said(&mut output, "CLAIMED ").unwrap().parse().unwrap();
    bench.clock.set(OffsetDateTime::now_utc());
    child.kill().unwrap();
    child.wait().unwrap();

    let store = bench.open();
    match block_on(store.claim(ask("e1"))).unwrap() {
        Claim::InProgress { retry_after, .. } => assert!(retry_after <= LEASE),
        other => panic!("{other:?}"),
    }
    bench.clock.advance(LEASE);
    let lease = win(&store, "e1");
    assert_eq!((lease.attempt(), lease.fence().0), (2, fence + 1));
    settle(&store, lease, "done at last");
    drop(store);
    // S-12: a restart forgets nothing.
    assert_eq!(duplicate(&bench.open(), "e1").result, b"done at last");
}

/// The event's card is charged, its mail is not sent: after the restart the charge is skipped.
#[test]
fn killed_between_two_steps() {
    if let Some(path) = as_child() {
        let store = store(path);
        let lease = win(&store, "e1");
        let slot = due(&store, &lease, "charge");
        block_on(store.record(slot, "ch_123")).unwrap();
        let slot = due(&store, &lease, "email");
        println!("CHARGED {}", slot.effect_key());
        loop {
            std::thread::park();
        }
    }
    let bench = Bench::new();
    let (mut child, mut output) = child("processes::killed_between_two_steps", &bench);
    let email = said(&mut output, "CHARGED ").unwrap();
    bench.clock.set(OffsetDateTime::now_utc());
    child.kill().unwrap();
    child.wait().unwrap();

    bench.clock.advance(LEASE);
    let store = bench.open();
    let lease = win(&store, "e1");
    assert_eq!(lease.attempt(), 2);
    assert_eq!(done(&store, &lease, "charge"), "ch_123");
    let slot = due(&store, &lease, "email");
    // To the mailer it is the same mail.
    assert_eq!(slot.effect_key(), email);
    block_on(store.record(slot, "sent")).unwrap();
    settle(&store, lease, "charged and told");
    drop(store);
    let effects = block_on(bench.open().effects(&key("e1"))).unwrap();
    let texts = effects.iter().map(|effect| &*effect.text);
    assert_eq!(texts.collect::<Vec<_>>(), ["ch_123", "sent"]);
}

#[test]
fn killed_within_a_transaction() {
    if let Some(path) = as_child() {
        let store = store(path.clone());
        let mut connection = Connection::open(path).unwrap();
        let tx = ImmediateTx::begin(&mut connection).unwrap();
        let TxClaim::New(lease) = store.claim_in(&tx, ask("e1")).unwrap() else {
            panic!("the event is known");
        };
        tx.execute("INSERT INTO invoice VALUES ('e1')", []).unwrap();
        store
            .settle_in(&tx, lease, hookproof::Verdict::done(""))
            .unwrap();
        println!("ACTED e1");
        loop {
            std::thread::park();
        }
    }
    let bench = Bench::new();
    let store = bench.open();
    let other = bench.beside();
    other
        .execute_batch("CREATE TABLE invoice (event TEXT)")
        .unwrap();
    let (mut child, mut output) = child("processes::killed_within_a_transaction", &bench);
    said(&mut output, "ACTED ").unwrap();
    child.kill().unwrap();
    child.wait().unwrap();

    assert_eq!(count(&other, "SELECT count(*) FROM invoice"), 0);
    let lease = win(&store, "e1");
    assert_eq!(lease.attempt(), 1);
    settle(&store, lease, "");
}
