//! The schema: created once, never downgraded, left alone where it is someone else's.

use hookproof::{
    Advance, EffectLedger, ObjectKey, OrderGuard, PostgresStore, Version, store::StoreErrorKind,
};
use sqlx::{Connection, PgConnection};

use super::{Bench, PATIENCE, batch, duplicate, number, races, run, settle, try_batch, win};

async fn refused(bench: &Bench) -> StoreErrorKind {
    bench.store().migrate().await.unwrap_err().kind()
}

#[test]
fn a_newer_schema_is_refused() {
    let bench = Bench::new();
    run(async {
        let mut other = bench.beside().await;
        let newer = "UPDATE webhook_receipt_meta SET version = version + 1";
        batch(&mut other, newer).await;
        assert_eq!(refused(&bench).await, StoreErrorKind::NewerSchema);
        assert!(!StoreErrorKind::NewerSchema.is_transient());
        let older = "UPDATE webhook_receipt_meta SET version = version - 1";
        batch(&mut other, older).await;
        bench.store().migrate().await.unwrap();
    });
}

/// A newer program that was faster, while this one waited for the lock.
#[test]
fn a_newer_schema_that_appears_meanwhile_is_refused() {
    let bench = Bench::bare(super::url(), &[], 2);
    run(async {
        let mut other = bench.beside().await;
        batch(
            &mut other,
            "BEGIN; SELECT pg_advisory_xact_lock(7521983170412265573)",
        )
        .await;
        let (kind, ()) = tokio::join!(refused(&bench), async {
            bench.waiting(1, "advisory").await;
            batch(&mut other, PostgresStore::SCHEMA).await;
            let newer = "UPDATE webhook_receipt_meta SET version = version + 1; COMMIT";
            batch(&mut other, newer).await;
        });
        assert_eq!(kind, StoreErrorKind::NewerSchema);
    });
}

/// The schema of version 1, as it was, with an event that was claimed in it: in progress, fence 5,
/// lease over.
const VERSION_1: &str = "\
CREATE TABLE webhook_receipt (
  key         uuid     NOT NULL PRIMARY KEY,
  attempts    bigint   NOT NULL,
  fence       bigint   NOT NULL,
  lease_until bigint,
  received_at bigint   NOT NULL,
  changed_at  bigint   NOT NULL,
  expires_at  bigint   NOT NULL,
  state       smallint NOT NULL CHECK (state BETWEEN 0 AND 4),
  body_hash   bytea    NOT NULL CHECK (octet_length(body_hash) = 16),
  tenant      text     COLLATE \"C\" NOT NULL,
  provider    text     COLLATE \"C\" NOT NULL,
  event_id    text     COLLATE \"C\" NOT NULL,
  result      bytea    CHECK (octet_length(result) <= 4096)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX webhook_receipt_expires ON webhook_receipt (expires_at);
CREATE SEQUENCE webhook_receipt_fence MINVALUE 0 START 0;
CREATE TABLE webhook_receipt_meta (
  one     integer NOT NULL PRIMARY KEY CHECK (one = 1),
  version bigint  NOT NULL
);
INSERT INTO webhook_receipt_meta (one, version) VALUES (1, 1);
INSERT INTO webhook_receipt (key, attempts, fence, lease_until, received_at, changed_at, expires_at,
  state, body_hash, tenant, provider, event_id)
SELECT {key}::uuid, 1, 5, 1, 0, 0, 9000000000000000, 1, {hash}, 'tenant', 'shop', 'e1';
";

async fn version_1(bench: &Bench) {
    let hex = |bytes: &[u8; 16]| bytes.map(|byte| format!("{byte:02x}")).concat();
    let hash = hex(hookproof::Fingerprint::of(b"content").as_bytes());
    let sql = VERSION_1
        .replace("{key}", &format!("'{}'", hex(super::key("e1").digest())))
        .replace("{hash}", &format!("decode('{hash}', 'hex')"));
    batch(&mut bench.beside().await, &sql).await;
}

#[test]
fn a_schema_of_version_1_is_brought_up_to_date() {
    for by_hand in [false, true] {
        let bench = Bench::bare(super::url(), &[], 8);
        run(async {
            version_1(&bench).await;
            let mut other = bench.beside().await;
            if by_hand {
                batch(&mut other, PostgresStore::SCHEMA).await;
            }
            let stores: Vec<_> = (0..6).map(|_| bench.store()).collect();
            for started in races::all(stores.iter().map(PostgresStore::migrate)).await {
                started.unwrap();
            }
            let version = "SELECT version FROM webhook_receipt_meta";
            assert_eq!(number(&mut other, version).await, 2);
            // What was there is there, and steps and objects can be kept.
            let lease = win(&stores[0], "e1").await;
            assert_eq!((lease.attempt(), lease.fence().0), (2, 6));
            let slot = super::steps::due(&stores[1], &lease, "charge").await;
            stores[2].record(slot, "ch_123").await.unwrap();
            settle(&stores[3], lease, "done").await;
            let order = ObjectKey::new("", "order", "o1").unwrap();
            let first = stores[4].advance(&order, Version::number(1)).await.unwrap();
            assert_eq!(first, Advance::Applied { previous: None });
        });
    }
}

/// Version 2 refers to receipts, so the change needs them to itself for a moment.
#[test]
fn an_upgrade_waits_for_open_transactions_and_no_longer() {
    let bench = Bench::bare(super::url(), &[], 2);
    run(async {
        version_1(&bench).await;
        let mut other = bench.beside().await;
        batch(&mut other, "BEGIN; UPDATE webhook_receipt SET attempts = 1").await;
        let store = bench.store();
        let (upgraded, ()) = tokio::join!(store.migrate(), async {
            bench.waiting(1, "relation").await;
            batch(&mut other, "COMMIT").await;
        });
        upgraded.unwrap();
        let lease = win(&store, "e1").await;
        settle(&store, lease, "").await;
    });
}

#[test]
fn a_version_that_never_was_is_refused() {
    let bench = Bench::new();
    run(async {
        let mut other = bench.beside().await;
        batch(&mut other, "UPDATE webhook_receipt_meta SET version = 0").await;
        assert_eq!(refused(&bench).await, StoreErrorKind::Corrupt);
        batch(&mut other, "DELETE FROM webhook_receipt_meta").await;
        assert_eq!(refused(&bench).await, StoreErrorKind::Corrupt);
    });
}

#[test]
fn many_starts_at_once() {
    for level in ["read committed", "repeatable read", "serializable"] {
        let bench = Bench::bare(
            super::url(),
            &[("default_transaction_isolation", level)],
            12,
        );
        run(async {
            let stores: Vec<_> = (0..12).map(|_| bench.store()).collect();
            for started in races::all(stores.iter().map(PostgresStore::migrate)).await {
                started.unwrap();
            }
            let lease = win(&stores[0], "e1").await;
            settle(&stores[5], lease, "done").await;
            for store in &stores {
                duplicate(store, "e1").await;
            }
        });
    }
}

/// A start that is cancelled has done all of it or nothing, and holds up nobody.
#[test]
fn a_cancelled_start_is_whole() {
    for polls in 0..10 {
        let bench = Bench::bare(super::url(), &[], 1);
        run(async {
            let store = bench.store();
            let mut start = Box::pin(store.migrate());
            for _ in 0..polls {
                let done = std::future::poll_fn(|context| {
                    std::task::Poll::Ready(start.as_mut().poll(context).is_ready())
                });
                if done.await {
                    break;
                }
                tokio::task::yield_now().await;
            }
            drop(start);
            store.migrate().await.unwrap();
            let lease = win(&store, "e1").await;
            settle(&store, lease, "").await;
        });
    }
}

#[test]
fn the_schema_can_be_run_by_other_means_and_again() {
    let bench = Bench::bare(super::url(), &[], 2);
    run(async {
        let mut other = bench.beside().await;
        batch(&mut other, PostgresStore::SCHEMA).await;
        let store = bench.store();
        store.migrate().await.unwrap();
        let lease = win(&store, "e1").await;
        settle(&store, lease, "done").await;
        batch(&mut other, PostgresStore::SCHEMA).await;
        duplicate(&store, "e1").await;
    });
}

/// A restart must not wait for whoever is at the tables.
#[test]
fn starting_with_a_current_schema_takes_no_lock() {
    let bench = Bench::new();
    let hasty = Bench::of(&bench.url, &bench.schema, &[("lock_timeout", "1ms")], 2);
    run(async {
        let mut other = bench.beside().await;
        batch(
            &mut other,
            "BEGIN; SELECT pg_advisory_xact_lock(7521983170412265573); \
             LOCK TABLE webhook_receipt IN SHARE UPDATE EXCLUSIVE MODE",
        )
        .await;
        hasty.store().migrate().await.unwrap();
        batch(&mut other, "ROLLBACK").await;
    });
}

/// Claims before `migrate` say what is missing.
#[test]
fn a_database_without_receipts_is_misuse() {
    use hookproof::IdempotencyStore;
    let bench = Bench::bare(super::url(), &[], 2);
    let store = bench.store();
    run(async {
        let error = store.claim(super::ask("e1")).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Misuse);
        let mut tx = bench.pool.begin().await.unwrap();
        let error = store.claim_in(&mut tx, super::ask("e1")).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Misuse);
    });
}

#[test]
fn tables_of_other_hands_are_refused() {
    for other in [
        "CREATE TABLE webhook_receipt (key text)",
        "CREATE TABLE webhook_receipt (key uuid PRIMARY KEY, expires_at bigint)",
        "CREATE TABLE webhook_receipt_meta (one int)",
        "CREATE TABLE webhook_object (key uuid PRIMARY KEY, deleted_at bigint)",
        "CREATE TABLE webhook_effect (key uuid, name text)",
    ] {
        let bench = Bench::bare(super::url(), &[], 2);
        run(async {
            batch(&mut bench.beside().await, other).await;
            assert_eq!(refused(&bench).await, StoreErrorKind::Misuse, "{other}");
        });
    }
}

/// It could not hold every id.
#[test]
fn a_database_of_another_encoding_is_refused() {
    let bench = Bench::bare(super::url(), &[], 2);
    run(async {
        let mut admin = bench.beside().await;
        let name = &bench.schema;
        let create =
            format!("CREATE DATABASE {name} ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'");
        batch(&mut admin, &create).await;
        let options = super::options(&bench.url, "public").database(name);
        let pool = sqlx::PgPool::connect_lazy_with(options);
        let error = PostgresStore::new(pool.clone())
            .migrate()
            .await
            .unwrap_err();
        pool.close().await;
        // The session may still be on its way out.
        let drop = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        );
        batch(&mut admin, &drop).await;
        let since = std::time::Instant::now();
        while try_batch(&mut admin, &format!("DROP DATABASE {name}"))
            .await
            .is_err()
        {
            assert!(since.elapsed() < PATIENCE, "the database cannot be dropped");
        }
        assert_eq!(error.kind(), StoreErrorKind::Misuse);
    });
}

#[test]
fn a_server_that_is_not_there_is_unavailable() {
    let bench = Bench::bare(super::url(), &[], 2);
    run(async {
        // Bound and never listening to anyone.
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        drop(socket);
        let options = super::options(&bench.url, "public")
            .host("127.0.0.1")
            .port(port);
        let pool = sqlx::postgres::PgPoolOptions::new()
            .acquire_timeout(std::time::Duration::from_millis(100))
            .connect_lazy_with(options);
        let store = PostgresStore::new(pool);
        let error = store.migrate().await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    });
}

#[test]
fn rows_that_are_none_are_refused() {
    let bench = Bench::new();
    run(async {
        let mut other: PgConnection = bench.beside().await;
        for (state, hash, result) in [
            ("5", "decode(md5(''), 'hex')", "NULL"),
            ("-1", "decode(md5(''), 'hex')", "NULL"),
            ("2", "'\\x00'", "NULL"),
            (
                "2",
                "decode(md5(''), 'hex')",
                "decode(repeat('00', 4097), 'hex')",
            ),
        ] {
            let insert = format!(
                "INSERT INTO webhook_receipt (key, attempts, fence, received_at, changed_at, \
                 expires_at, state, body_hash, tenant, provider, event_id, result) VALUES \
                 (md5('')::uuid, 1, 1, 0, 0, 0, {state}, {hash}, '', '', '', {result})"
            );
            try_batch(&mut other, &insert).await.unwrap_err();
        }
        assert_eq!(
            number(&mut other, "SELECT count(*) FROM webhook_receipt").await,
            0
        );
        other.close().await.unwrap();
    });
}
