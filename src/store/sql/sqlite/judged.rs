//! The statements against the rules in Rust, over many rows.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

use std::{collections::BTreeMap, time::Duration};

use rusqlite::{Connection, params};
use time::{OffsetDateTime, macros::datetime};

use super::{
    statements as sql,
    verbs::{Ruled, Verbs},
};
use crate::{
    Claim, Claiming, EventKey, Fence, Fingerprint, Receipt,
    clock::{Clock, micros},
    store::{Ruling, StoredRow},
};

const NOW: OffsetDateTime = datetime!(2027-01-15 08:00 UTC);

/// Finer than the database keeps it, which must make no difference.
struct Now;

impl Clock for Now {
    fn now(&self) -> OffsetDateTime {
        NOW + time::Duration::nanoseconds(999)
    }
}

/// Numbers that are the same in each run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.next() >> 8).unwrap() % choices.len()]
    }

    /// A moment around now: often exactly now, or a microsecond, a lease or two beside it.
    fn moment(&mut self) -> OffsetDateTime {
        let steps = [0, 1, 2, 999, 30_000_000, 60_000_000, 7_200_000_000];
        let by = self.one_of(&steps) * self.one_of(&[-4, -2, -1, 0, 1, 2, 4]);
        NOW + time::Duration::microseconds(by)
    }

    fn row(&mut self) -> StoredRow {
        let content = self.one_of(&[&b"content"[..], b"content", b"content", b"other"]);
        StoredRow {
            fingerprint: Fingerprint::of(content).as_bytes().to_vec(),
            state: self.one_of(&[0, 1, 1, 1, 2, 3, 3, 4]),
            attempts: self.one_of(&[0, 1, 2, 3, 19, 20, 21, i64::from(u32::MAX)]),
            fence: self.one_of(&[1, 77, micros(NOW), i64::MAX - 1, i64::MAX]),
            received_at: micros(self.moment()),
            changed_at: micros(self.moment()),
            until: self
                .one_of(&[true, true, true, false])
                .then(|| micros(self.moment())),
            expires_at: micros(self.moment()),
            result: self.one_of(&[None, Some(())]).map(|()| b"result".to_vec()),
        }
    }

    fn claiming(&mut self, id: &str) -> Claiming {
        let lease = self.one_of(&[0, 1, 999, 1_000, 60_000_000_000, u64::MAX]);
        Claiming::business(key(id))
            .fingerprint(Fingerprint::of(b"content"))
            .lease(Duration::from_nanos(lease))
            .retention(Duration::from_nanos(self.next()))
            .max_attempts(self.one_of(&[1, 2, 3, 20, u32::MAX]))
    }
}

fn key(id: &str) -> EventKey {
    EventKey::business("tenant", "shop", id).unwrap()
}

fn database() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(sql::SCHEMA).unwrap();
    connection
}

fn insert(connection: &Connection, key: &EventKey, row: &StoredRow) {
    let insert = "INSERT INTO webhook_receipt (key, tenant, provider, event_id, body_hash, state, \
                  attempts, fence, lease_until, received_at, changed_at, expires_at, result) \
                  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
    let values = params![
        key.digest(),
        key.tenant(),
        key.provider(),
        key.id(),
        row.fingerprint,
        row.state,
        row.attempts,
        row.fence,
        row.until,
        row.received_at,
        row.changed_at,
        row.expires_at,
        row.result
    ];
    connection.execute(insert, values).unwrap();
}

/// As a database keeps it: in whole microseconds.
fn as_kept(receipt: &Receipt) -> Receipt {
    StoredRow::of(receipt)
        .into_receipt(receipt.key.clone())
        .unwrap()
}

/// The answer, and the row that is stored afterwards.
fn by_the_rules(stored: Receipt, claiming: &Claiming) -> (&'static str, String, Receipt) {
    match stored.ruling(claiming, NOW) {
        Ruling::Answer(claim) => (name(&claim), format!("{claim:?}"), stored),
        Ruling::Bury(row) => ("Bury", format!("{:?}", Claim::Dead(row.clone())), row),
        Ruling::Take(row) => ("New", "New".to_owned(), as_kept(&row)),
    }
}

fn name(claim: &Claim) -> &'static str {
    match claim {
        Claim::New(_) => "New",
        Claim::Duplicate(_) => "Duplicate",
        Claim::InProgress { .. } => "InProgress",
        Claim::Conflict(_) => "Conflict",
        Claim::Dead(_) => "Dead",
    }
}

#[test]
fn claims_are_judged_as_in_rust() {
    let connection = database();
    let mut verbs = Verbs::new(&connection, &Now);
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut seen = BTreeMap::<_, usize>::new();
    for n in 0..20_000 {
        let id = format!("e{n}");
        let (row, claiming) = (numbers.row(), numbers.claiming(&id));
        insert(&connection, &claiming.key, &row);
        let stored = row.clone().into_receipt(key(&id)).unwrap();
        let (kind, answer, after) = by_the_rules(stored, &claiming);
        *seen.entry(kind).or_default() += 1;

        let told = match verbs.claim(&claiming).unwrap() {
            Ruled::Won(receipt) => {
                assert_eq!(receipt, after, "{row:?} {claiming:?}");
                "New".to_owned()
            }
            Ruled::Answer(claim) => format!("{claim:?}"),
        };
        assert_eq!(told, answer, "{row:?} {claiming:?}");
        assert_eq!(verbs.find(&claiming.key).unwrap(), Some(after));
    }
    // That the rows were of every kind.
    for kind in ["New", "Duplicate", "InProgress", "Conflict", "Dead", "Bury"] {
        assert!(seen.get(kind).is_some_and(|n| *n > 500), "{kind}: {seen:?}");
    }
}

#[test]
fn first_claims_are_as_in_rust() {
    let connection = database();
    let mut verbs = Verbs::new(&connection, &Now);
    let mut numbers = Numbers(7);
    for n in 0..1_000 {
        let used = numbers.one_of(&[0, 1, micros(NOW), 1 << 60, i64::MAX - 1, i64::MAX]);
        connection
            .execute("UPDATE webhook_receipt_meta SET fence = ?1", [used])
            .unwrap();
        let claiming = numbers.claiming(&format!("e{n}"));
        let first = as_kept(&Receipt::first(&claiming, NOW, Fence(used)));
        match verbs.claim(&claiming).unwrap() {
            Ruled::Won(receipt) => assert_eq!(receipt, first),
            Ruled::Answer(claim) => panic!("{claim:?}"),
        }
        assert_eq!(verbs.find(&claiming.key).unwrap(), Some(first));
    }
}

#[test]
fn purges_take_what_rust_would() {
    let connection = database();
    let mut numbers = Numbers(42);
    let (mut kept, mut gone, mut highest) = (vec![], 0, 0);
    for n in 0..5_000 {
        let (key, row) = (key(&format!("e{n}")), numbers.row());
        insert(&connection, &key, &row);
        let receipt = row.into_receipt(key).unwrap();
        match receipt.is_purgeable(NOW) {
            true => {
                gone += 1;
                highest = receipt.fence.0.max(highest);
            }
            false => kept.push(receipt),
        }
    }
    let spared = kept.iter().filter(|row| row.expires_at <= NOW).count();
    assert!(gone > 1_000 && spared > 100, "{gone} gone, {spared} spared");

    let mut verbs = Verbs::new(&connection, &Now);
    assert_eq!(verbs.purge(100).unwrap(), 100);
    assert_eq!(verbs.purge(i64::MAX).unwrap(), gone - 100);
    assert_eq!(verbs.purge(i64::MAX).unwrap(), 0);
    for receipt in kept {
        assert_eq!(verbs.find(&receipt.key).unwrap(), Some(receipt));
    }
    let remembered: i64 = connection
        .query_row("SELECT fence FROM webhook_receipt_meta", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(remembered, highest);
}
