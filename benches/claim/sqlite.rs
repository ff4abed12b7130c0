//! SQLite: the claim of [`SqliteStore`] beside a bare `INSERT`.
//!
//! **The floor** is one prepared `INSERT` of the digest and a number, committed by itself, on a
//! connection of the caller's own thread, with the same log and the same synchronisation: no
//! receipt, no question whether the event is there, and the caller blocks. Every new claim needs
//! a commit too, so one claim at a time cannot be faster. Claims that wait at the same time share
//! one, as they do in a service: `8 at once`, `64 at once`. The same row by as many threads, each with
//! a connection, is the last row: they have to take turns.
//!
//! Batches (`claim_many`) are of 500 events; their ratio is to the bare `INSERT` like the others', and
//! beside it stands their rate over that of single claims in the same rounds.
//!
//! The time is the wall clock's, since most of it is waiting, for the disk and for the store's
//! threads. Leases are settled after the clock has stopped. The files are made anew, in cargo's
//! folder for temporary files, so that disk is what is measured.

use std::{cell::RefCell, fs, hint::black_box, path::PathBuf, time::Duration, time::Instant};

use futures_util::future::join_all;
use hookproof::{
    Claim, Claiming, EventKey, IdempotencyStore, Lease, SqliteStore, Verdict,
    store::{BatchStore, sql::Synchronous},
};
use hookproof_benches::{Mode, Time};
use pollster::block_on;
use rusqlite::{Connection, params};

const BUDGET: Duration = Duration::from_secs(6);
const LEAST_ROUNDS: usize = 10;
const BATCH: usize = 64;
const MANY: usize = 500;
const CASES: usize = 7;
/// Which case is that of batches.
const MANY_AT: usize = 5;
const THREADS: usize = 8;

pub fn run(mode: Mode) {
    let levels = [("normal", Synchronous::Normal), ("full", Synchronous::Full)];
    for (level, synchronous) in levels {
        let bench = Bench::new(level, synchronous);
        for (case, time) in bench.run(mode.budget(BUDGET)) {
            println!("{case:<34} synchronous={level:<7} {time}");
        }
        println!(
            "{:<34} synchronous={level:<7} {:.1}x the rate of single claims",
            "batches of 500",
            bench.gain()
        );
    }
}

/// Its name, and what times one batch.
type Case = (&'static str, fn(&Bench, &[EventKey]) -> Duration);

struct Bench {
    level: &'static str,
    folder: PathBuf,
    bare: Connection,
    store: SqliteStore,
    /// What a batch gains over single claims, in each round.
    gains: RefCell<Vec<f64>>,
}

impl Bench {
    fn new(level: &'static str, synchronous: Synchronous) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("claim-{level}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder for the databases");
        let bare = Connection::open(folder.join("bare.sqlite")).expect("a database");
        bare.execute_batch(&format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = {level};
             CREATE TABLE seen (key BLOB PRIMARY KEY, expires_at INTEGER) STRICT, WITHOUT ROWID;"
        ))
        .expect("a table");
        let store = SqliteStore::builder(folder.join("store.sqlite")).synchronous(synchronous);
        let store = store.open().expect("a store");
        Self {
            level,
            folder,
            bare,
            store,
            gains: RefCell::default(),
        }
    }

    fn run(&self, budget: Duration) -> Vec<(&'static str, Time)> {
        let cases: [Case; CASES] = [
            ("bare INSERT", Self::insert),
            ("SqliteStore claim, new", Self::one_by_one),
            ("SqliteStore claim, new, 8 at once", Self::at_once::<8>),
            ("SqliteStore claim, new, 64 at once", Self::at_once::<64>),
            ("SqliteStore claim, duplicate", Self::again),
            ("SqliteStore batch of 500, new", Self::many),
            ("bare INSERT, 8 threads", Self::threads),
        ];
        let rounds = if budget.is_zero() { 1 } else { LEAST_ROUNDS };
        let begin = Instant::now();
        let mut results = [const { Vec::new() }; CASES];
        let mut round = 0;
        while round < rounds || begin.elapsed() < budget {
            for turn in 0..cases.len() {
                let which = (round + turn) % cases.len();
                let (name, case) = cases[which];
                let key = |n| EventKey::business(name, "bench", &format!("{round}/{n}"));
                let events = if which == MANY_AT { MANY } else { BATCH };
                let keys: Vec<_> = (0..events).map(|n| key(n).expect("a sound key")).collect();
                let time = case(self, &keys);
                results[which].push(time.as_nanos() as f64 / events as f64);
            }
            let (single, many) = (results[1][round], results[MANY_AT][round]);
            self.gains.borrow_mut().push(single / many);
            round += 1;
        }
        let time = |all: &Vec<f64>| Time::of(all, &results[0]).expect("at least one round");
        let named = cases.iter().zip(&results);
        named.map(|((name, _), all)| (*name, time(all))).collect()
    }

    fn insert(&self, keys: &[EventKey]) -> Duration {
        let begin = Instant::now();
        insert(&self.bare, keys);
        begin.elapsed()
    }

    fn one_by_one(&self, keys: &[EventKey]) -> Duration {
        let claimings: Vec<_> = keys.iter().cloned().map(Claiming::business).collect();
        let mut claims = Vec::with_capacity(keys.len());
        let begin = Instant::now();
        for claiming in claimings {
            claims.push(block_on(self.store.claim(claiming)).expect("SQLite answers"));
        }
        let taken = begin.elapsed();
        claims.into_iter().for_each(|claim| self.settle(won(claim)));
        taken
    }

    fn many(&self, keys: &[EventKey]) -> Duration {
        let claimings: Vec<_> = keys.iter().cloned().map(Claiming::business).collect();
        let begin = Instant::now();
        let claims = block_on(self.store.claim_many(claimings)).expect("SQLite answers");
        let taken = begin.elapsed();
        for claim in claims {
            self.settle(won(claim.expect("SQLite answers")));
        }
        taken
    }

    fn gain(&self) -> f64 {
        let mut gains = self.gains.borrow_mut();
        gains.sort_by(f64::total_cmp);
        gains[gains.len() / 2]
    }

    /// By so many clients, each with one claim after the other.
    fn at_once<const CLIENTS: usize>(&self, keys: &[EventKey]) -> Duration {
        let claimings: Vec<_> = keys.iter().cloned().map(Claiming::business).collect();
        let begin = Instant::now();
        let clients = claimings.chunks(BATCH / CLIENTS).map(async |claimings| {
            let mut claims = Vec::with_capacity(claimings.len());
            for claiming in claimings {
                claims.push(self.store.claim(claiming.clone()).await);
            }
            claims
        });
        let claims = block_on(join_all(clients)).into_iter().flatten();
        let taken = begin.elapsed();
        for claim in claims {
            self.settle(won(claim.expect("SQLite answers")));
        }
        taken
    }

    fn again(&self, keys: &[EventKey]) -> Duration {
        self.one_by_one(keys);
        let claimings: Vec<_> = keys.iter().cloned().map(Claiming::business).collect();
        let begin = Instant::now();
        for claiming in claimings {
            match block_on(self.store.claim(claiming)) {
                Ok(Claim::Duplicate(receipt)) => drop(black_box(receipt)),
                other => panic!("a duplicate, not {other:?}"),
            }
        }
        begin.elapsed()
    }

    /// Each waits for the others' locks for as long as it takes.
    fn threads(&self, keys: &[EventKey]) -> Duration {
        let file = self.folder.join("bare.sqlite");
        let connections: Vec<_> = (0..THREADS)
            .map(|_| {
                let connection = Connection::open(&file).expect("a database");
                connection
                    .busy_timeout(Duration::from_secs(60))
                    .expect("a timeout");
                connection
                    .pragma_update(None, "synchronous", self.level)
                    .expect("a level");
                connection
            })
            .collect();
        let begin = Instant::now();
        std::thread::scope(|scope| {
            for (bare, keys) in connections.into_iter().zip(keys.chunks(BATCH / THREADS)) {
                scope.spawn(move || insert(&bare, keys));
            }
        });
        begin.elapsed()
    }

    fn settle(&self, lease: Lease) {
        block_on(self.store.settle(lease, Verdict::done(""))).expect("the lease stands");
    }
}

fn insert(bare: &Connection, keys: &[EventKey]) {
    let insert = "INSERT INTO seen (key, expires_at) VALUES (?1, ?2)";
    let mut insert = bare.prepare(insert).expect("a statement");
    for key in keys {
        let values = params![key.digest().as_slice(), 1_800_000_000_i64];
        insert.execute(values).expect("a new row");
    }
}

fn won(claim: Claim) -> Lease {
    match claim {
        Claim::New(lease) => lease,
        other => panic!("a new event, not {other:?}"),
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.store.close();
        // What is left is in cargo's folder for temporary files.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
