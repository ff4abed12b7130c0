//! The statements against the rules in Rust, over many rows.
//!
//! Each row appears between a claim's look and its statement, so that the statement judges alone. On
//! the pool the look inserts what it does not find, so there it finds a row that it would take over. In
//! a transaction that the driver does not know of it only looks.

use std::{collections::BTreeMap, time::Duration};

use hookproof::{
    Claim, Claiming, EventKey, Fence, Fingerprint, IdempotencyStore, Lease, Receipt,
    store::{BatchStore, Ruling, StatsStore, StoreStats, StoredRow, sql::TxClaim},
};
use sqlx::PgConnection;
use time::OffsetDateTime;

use super::{Bench, Between, START as NOW, batch, number, run, statement};

fn micros(at: OffsetDateTime) -> i64 {
    i64::try_from(at.unix_timestamp_nanos() / 1_000).unwrap()
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

/// A row that any of these claims would take over.
fn claimable() -> StoredRow {
    StoredRow {
        fingerprint: Fingerprint::of(b"content").as_bytes().to_vec(),
        state: 3,
        attempts: 1,
        fence: 1,
        until: None,
        received_at: micros(NOW),
        changed_at: micros(NOW),
        expires_at: micros(NOW),
        result: None,
    }
}

fn key(id: &str) -> EventKey {
    EventKey::business("tenant", "shop", id).unwrap()
}

pub(crate) async fn insert(connection: &mut PgConnection, key: &EventKey, row: StoredRow) {
    let insert = "INSERT INTO webhook_receipt (key, tenant, provider, event_id, body_hash, state, \
                  attempts, fence, lease_until, received_at, changed_at, expires_at, result) \
                  VALUES (encode($1, 'hex')::uuid, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, \
                  $13)";
    sqlx::query(insert)
        .bind(key.digest().as_slice())
        .bind(key.tenant())
        .bind(key.provider())
        .bind(key.id())
        .bind(row.fingerprint)
        .bind(row.state)
        .bind(row.attempts)
        .bind(row.fence)
        .bind(row.until)
        .bind(row.received_at)
        .bind(row.changed_at)
        .bind(row.expires_at)
        .bind(row.result)
        .execute(connection)
        .await
        .unwrap();
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

fn stands_for(lease: &Lease, row: &Receipt) {
    assert_eq!(
        (lease.fence(), lease.attempt()),
        (row.fence, row.attempts),
        "the lease is of another row"
    );
    assert_eq!(Some(lease.until()), row.until);
}

#[test]
fn claims_are_judged_as_in_rust() {
    let bench = Bench::new();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut seen = BTreeMap::<_, usize>::new();
    for n in 0..2_500 {
        let id = format!("e{n}");
        let (row, claiming) = (numbers.row(), numbers.claiming(&id));
        let stored = row.clone().into_receipt(key(&id)).unwrap();
        let (kind, answer, after) = by_the_rules(stored, &claiming);
        *seen.entry(kind).or_default() += 1;

        let (pool, of, appears) = (bench.pool.clone(), key(&id), row.clone());
        if n % 2 == 0 {
            run(async {
                let mut connection = bench.pool.acquire().await.unwrap();
                insert(&mut connection, &of, claimable()).await;
            });
        }
        let clock = Between::look_and_claim(async move {
            let mut connection = pool.acquire().await.unwrap();
            let remove = "DELETE FROM webhook_receipt WHERE event_id = $1";
            let remove = sqlx::query(remove).bind(of.id());
            remove.execute(&mut *connection).await.unwrap();
            insert(&mut connection, &of, appears).await;
        });
        let store = bench.builder().clock(clock).build();
        let told = run(async {
            if n % 2 == 0 {
                return match store.claim(claiming.clone()).await.unwrap() {
                    Claim::New(lease) => {
                        stands_for(&lease, &after);
                        super::crash(lease);
                        "New".to_owned()
                    }
                    claim => format!("{claim:?}"),
                };
            }
            let mut tx = bench.pool.acquire().await.unwrap();
            batch(&mut tx, "BEGIN").await;
            let told = match store.claim_in(&mut tx, claiming.clone()).await.unwrap() {
                TxClaim::New(lease) => {
                    stands_for(&lease, &after);
                    "New".to_owned()
                }
                claim => format!("{claim:?}"),
            };
            batch(&mut tx, "COMMIT").await;
            told
        });
        assert_eq!(told, answer, "{row:?} {claiming:?}");
        let kept = run(store.get(claiming.key())).unwrap();
        assert_eq!(kept, Some(after), "{row:?} {claiming:?}");
    }
    // That the rows were of every kind.
    for kind in ["New", "Duplicate", "InProgress", "Conflict", "Dead", "Bury"] {
        assert!(seen.get(kind).is_some_and(|n| *n > 60), "{kind}: {seen:?}");
    }
}

/// The same rows, all at once: they appear between the look and the one statement.
#[test]
fn claims_of_batches_are_judged_as_in_rust() {
    let bench = Bench::new();
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let mut seen = BTreeMap::<_, usize>::new();
    for round in 0..5 {
        let asked: Vec<_> = (0..500)
            .map(|n| format!("e{round}/{n}"))
            .map(|id| (key(&id), numbers.row(), numbers.claiming(&id)))
            .collect();
        let (pool, rows) = (bench.pool.clone(), asked.clone());
        let clock = Between::look_and_claim(async move {
            let mut connection = pool.acquire().await.unwrap();
            for (key, row, _) in rows {
                insert(&mut connection, &key, row).await;
            }
        });
        let store = bench.builder().clock(clock).build();
        let claimings = asked.iter().map(|(_, _, claiming)| claiming.clone());
        let told = run(store.claim_many(claimings.collect())).unwrap();
        assert_eq!(told.len(), asked.len());
        for ((key, row, claiming), told) in asked.into_iter().zip(told) {
            let stored = row.clone().into_receipt(key).unwrap();
            let (kind, answer, after) = by_the_rules(stored, &claiming);
            *seen.entry(kind).or_default() += 1;
            let told = match told.unwrap() {
                Claim::New(lease) => {
                    stands_for(&lease, &after);
                    super::crash(lease);
                    "New".to_owned()
                }
                claim => format!("{claim:?}"),
            };
            assert_eq!(told, answer, "{row:?} {claiming:?}");
            let kept = run(store.get(claiming.key())).unwrap();
            assert_eq!(kept, Some(after), "{row:?} {claiming:?}");
        }
    }
    for kind in ["New", "Duplicate", "InProgress", "Conflict", "Dead", "Bury"] {
        assert!(seen.get(kind).is_some_and(|n| *n > 60), "{kind}: {seen:?}");
    }
}

#[test]
fn numbers_are_as_in_rust() {
    let bench = Bench::new();
    let store = bench.store();
    let mut numbers = Numbers(99);
    let mut expected = StoreStats::at(NOW);
    run(async {
        let mut beside = bench.beside().await;
        for n in 0..1_500 {
            let (key, row) = (key(&format!("e{n}")), numbers.row());
            insert(&mut beside, &key, row.clone()).await;
            expected.add(&row.into_receipt(key).unwrap());
        }
        assert_eq!(store.stats().await.unwrap(), expected);
    });
    assert!(expected.received > 60 && expected.overdue > 60 && expected.expired > 60);
}

#[test]
fn first_claims_are_as_in_rust() {
    let bench = Bench::new();
    let store = bench.store();
    let mut numbers = Numbers(7);
    run(async {
        let mut beside = bench.beside().await;
        for n in 0..300 {
            let used = numbers.one_of(&[0, 1, micros(NOW), 1 << 60, i64::MAX - 1, i64::MAX]);
            let raise = format!("SELECT setval('webhook_receipt_fence', {used})");
            number(&mut beside, &raise).await;
            let claiming = numbers.claiming(&format!("e{n}"));
            let first = as_kept(&Receipt::first(&claiming, NOW, Fence(used)));
            if n % 2 == 0 {
                match store.claim(claiming.clone()).await.unwrap() {
                    Claim::New(lease) => {
                        stands_for(&lease, &first);
                        super::crash(lease);
                    }
                    other => panic!("{other:?}"),
                }
            } else {
                let mut tx = bench.pool.begin().await.unwrap();
                match store.claim_in(&mut tx, claiming.clone()).await.unwrap() {
                    TxClaim::New(lease) => stands_for(&lease, &first),
                    other => panic!("{other:?}"),
                }
                tx.commit().await.unwrap();
            }
            let kept = store.get(claiming.key()).await.unwrap();
            assert_eq!(kept, Some(first));
        }
    });
}

#[test]
fn purges_take_what_rust_would() {
    let bench = Bench::new();
    let store = bench.store();
    let mut numbers = Numbers(42);
    let (mut kept, mut gone, mut highest) = (vec![], 0, 0);
    run(async {
        let mut beside = bench.beside().await;
        for n in 0..1_500 {
            let (key, row) = (key(&format!("e{n}")), numbers.row());
            insert(&mut beside, &key, row.clone()).await;
            let receipt = row.into_receipt(key).unwrap();
            if receipt.is_purgeable(NOW) {
                gone += 1;
                highest = receipt.fence.0.max(highest);
            } else {
                kept.push(receipt);
            }
        }
        let spared = kept.iter().filter(|row| row.expires_at <= NOW).count();
        assert!(gone > 300 && spared > 30, "{gone} gone, {spared} spared");

        assert_eq!(store.purge(100).await.unwrap(), 100);
        assert_eq!(store.purge(usize::MAX).await.unwrap(), gone - 100);
        assert_eq!(store.purge(usize::MAX).await.unwrap(), 0);
        for receipt in kept {
            let stored = store.get(&receipt.key).await.unwrap();
            assert_eq!(stored, Some(receipt));
        }
        let remembered = number(
            &mut beside,
            statement("SELECT last_value FROM webhook_receipt_fence"),
        );
        assert_eq!(remembered.await, highest);
    });
}
