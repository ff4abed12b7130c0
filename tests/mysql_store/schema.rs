//! The schema: created once, never downgraded, left alone where it is someone else's.

use hookproof::{MySqlStore, store::StoreErrorKind};
use sqlx::{Connection, MySqlConnection};

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
        batch(&mut other, LOCK).await;
        let (kind, ()) = tokio::join!(refused(&bench), async {
            let waiting = format!(
                "SELECT COUNT(*) FROM information_schema.processlist \
                 WHERE db = '{}' AND state = 'User lock'",
                bench.schema
            );
            let since = std::time::Instant::now();
            while number(&mut other, &waiting).await == 0 {
                assert!(since.elapsed() < PATIENCE, "nobody waits");
            }
            batch(&mut other, MySqlStore::SCHEMA).await;
            let newer = "UPDATE webhook_receipt_meta SET version = 3; DO RELEASE_ALL_LOCKS()";
            batch(&mut other, newer).await;
        });
        assert_eq!(kind, StoreErrorKind::NewerSchema);
    });
}

/// The schema of version 1, as it was, with an event that was claimed in it: in progress, fence 5,
/// lease over.
const VERSION_1: &str = "\
CREATE TABLE webhook_receipt (
  `key`       binary(16)        NOT NULL PRIMARY KEY,
  slot        smallint unsigned NOT NULL,
  mark        bigint            NOT NULL,
  attempts    bigint            NOT NULL,
  fence       bigint            NOT NULL,
  lease_until bigint,
  received_at bigint            NOT NULL,
  changed_at  bigint            NOT NULL,
  expires_at  bigint            NOT NULL,
  state       tinyint           NOT NULL CHECK (state BETWEEN 0 AND 4),
  body_hash   binary(16)        NOT NULL,
  tenant      varbinary(255)    NOT NULL,
  provider    varbinary(255)    NOT NULL,
  event_id    varbinary(2048)   NOT NULL,
  result      varbinary(4096),
  KEY webhook_receipt_expires (expires_at)
) ENGINE = InnoDB;
CREATE TABLE webhook_receipt_slot (
  slot  smallint unsigned NOT NULL PRIMARY KEY,
  fence bigint            NOT NULL
) ENGINE = InnoDB;
CREATE TABLE webhook_receipt_meta (
  one     tinyint NOT NULL PRIMARY KEY CHECK (one = 1),
  version bigint  NOT NULL
) ENGINE = InnoDB;
{slots}
UPDATE webhook_receipt_slot SET fence = 7;
INSERT INTO webhook_receipt_meta (one, version) VALUES (1, 1);
INSERT INTO webhook_receipt (`key`, slot, mark, attempts, fence, lease_until, received_at,
  changed_at, expires_at, state, body_hash, tenant, provider, event_id)
  VALUES (x'{key}', {slot}, 1, 1, 5, 20, 10, 10, 9e15, 1, x'{hash}', 'tenant', 'shop', 'e1');
";

async fn version_1(bench: &Bench) {
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    let key = super::key("e1");
    let slot = u16::from_be_bytes([key.digest()[0], key.digest()[1]]);
    // The slots' statement is the same as ever.
    let mut statements = MySqlStore::SCHEMA.split_inclusive(";\n");
    let slots = statements.find(|sql| sql.starts_with("INSERT INTO webhook_receipt_slot"));
    let content = hookproof::Fingerprint::of(b"content");
    let sql = VERSION_1
        .replace("{slots}", slots.unwrap())
        .replace("{key}", &hex(key.digest()))
        .replace("{slot}", &slot.to_string())
        .replace("{hash}", &hex(content.as_bytes()));
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
                batch(&mut other, MySqlStore::SCHEMA).await;
            }
            let stores: Vec<_> = (0..6).map(|_| bench.store()).collect();
            for started in races::all(stores.iter().map(MySqlStore::migrate)).await {
                started.unwrap();
            }
            let version = "SELECT version FROM webhook_receipt_meta";
            assert_eq!(number(&mut other, version).await, 2);
            let reviews = "SELECT COUNT(*) FROM webhook_review";
            assert_eq!(number(&mut other, reviews).await, 0);
            // What was there is there, the slots' fences among it.
            let lease = win(&stores[0], "e1").await;
            assert_eq!((lease.attempt(), lease.fence().0), (2, 6));
            settle(&stores[3], lease, "done").await;
            let fences = "SELECT COUNT(*) FROM webhook_receipt_slot WHERE fence = 7";
            assert_eq!(number(&mut other, fences).await, 65_536);
        });
    }
}

/// Interrupted between any two statements, it is finished by the next start.
#[test]
fn an_interrupted_upgrade_is_finished_by_the_next() {
    let statements: Vec<_> = MySqlStore::SCHEMA.split_inclusive(";\n").collect();
    for done in 3..=statements.len() {
        let bench = Bench::bare(super::url(), &[], 2);
        run(async {
            version_1(&bench).await;
            let mut other = bench.beside().await;
            for statement in &statements[..done] {
                batch(&mut other, statement).await;
            }
            let store = bench.store();
            store.migrate().await.unwrap();
            let lease = win(&store, "e1").await;
            settle(&store, lease, "").await;
        });
    }
}

#[test]
fn a_version_that_never_was_is_refused() {
    let bench = Bench::new();
    run(async {
        let mut other = bench.beside().await;
        batch(&mut other, "UPDATE webhook_receipt_meta SET version = 0").await;
        assert_eq!(refused(&bench).await, StoreErrorKind::Corrupt);
    });
}

/// What `migrate` locks.
const LOCK: &str = "SELECT GET_LOCK(CONCAT('hookproof.', SHA1(DATABASE())), 0)";

#[test]
fn many_starts_at_once() {
    for setting in [
        "SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
        "SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        "sql_mode = 'ANSI_QUOTES'",
    ] {
        let bench = Bench::bare(super::url(), &[setting], 12);
        run(async {
            let stores: Vec<_> = (0..12).map(|_| bench.store()).collect();
            for started in races::all(stores.iter().map(MySqlStore::migrate)).await {
                started.unwrap();
            }
            let lease = win(&stores[0], "e1").await;
            settle(&stores[5], lease, "done").await;
            for store in &stores {
                duplicate(store, "e1").await;
            }
            let slots = "SELECT COUNT(*) FROM webhook_receipt_slot";
            assert_eq!(number(&mut bench.beside().await, slots).await, 65_536);
        });
    }
}

/// The statements are transactions of their own, so a start may end between any two of them.
#[test]
fn an_interrupted_start_is_finished_by_the_next() {
    let statements: Vec<_> = MySqlStore::SCHEMA.split_inclusive(";\n").collect();
    assert_eq!(statements.len(), 10);
    for done in 0..=statements.len() {
        let bench = Bench::bare(super::url(), &[], 2);
        run(async {
            let mut other = bench.beside().await;
            for statement in &statements[..done] {
                batch(&mut other, statement).await;
            }
            let store = bench.store();
            store.migrate().await.unwrap();
            let lease = win(&store, "e1").await;
            settle(&store, lease, "").await;
            let slots = "SELECT COUNT(*) FROM webhook_receipt_slot";
            assert_eq!(number(&mut other, slots).await, 65_536);
        });
    }
}

/// Somebody has deleted from it: said at the start, and by a claim that needs what is missing.
#[test]
fn missing_slots_are_misuse() {
    use hookproof::IdempotencyStore;
    let bench = Bench::new();
    run(async {
        let mut other = bench.beside().await;
        batch(&mut other, "DELETE FROM webhook_receipt_slot").await;
        assert_eq!(refused(&bench).await, StoreErrorKind::Misuse);
        let store = bench.store();
        let error = store.claim(super::ask("e1")).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Misuse);
        let mut tx = bench.pool.begin().await.unwrap();
        let error = store.claim_in(&mut tx, super::ask("e1")).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Misuse);
    });
}

/// A start that is cancelled holds up nobody, and the next one finishes it.
#[test]
fn a_cancelled_start_holds_nobody_up() {
    for polls in 0..16 {
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
        batch(&mut other, MySqlStore::SCHEMA).await;
        let store = bench.store();
        store.migrate().await.unwrap();
        let lease = win(&store, "e1").await;
        settle(&store, lease, "done").await;
        batch(&mut other, MySqlStore::SCHEMA).await;
        duplicate(&store, "e1").await;
    });
}

/// A restart must not wait for whoever is at the tables.
#[test]
fn starting_with_a_current_schema_takes_no_lock() {
    let bench = Bench::new();
    let hasty = Bench::of(&bench.url, &bench.schema, &["lock_wait_timeout = 1"], 2);
    run(async {
        let mut other = bench.beside().await;
        batch(&mut other, LOCK).await;
        batch(
            &mut other,
            "BEGIN; SELECT 1 FROM webhook_receipt FOR UPDATE; \
             SELECT 1 FROM webhook_receipt_slot FOR UPDATE",
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
        "CREATE TABLE webhook_receipt (`key` text)",
        "CREATE TABLE webhook_receipt (`key` binary(16) PRIMARY KEY, expires_at bigint)",
        "CREATE TABLE webhook_receipt_meta (one int)",
    ] {
        let bench = Bench::bare(super::url(), &[], 2);
        run(async {
            batch(&mut bench.beside().await, other).await;
            assert_eq!(refused(&bench).await, StoreErrorKind::Misuse, "{other}");
        });
    }
}

/// Nowhere to create it in.
#[test]
fn a_connection_in_no_database_is_misuse() {
    // `USE` cannot be undone, but a database can be dropped beneath it.
    let bench = Bench::bare(super::url(), &[], 1);
    run(async {
        let options = super::options(&bench.url, &bench.schema);
        let pool = sqlx::mysql::MySqlPoolOptions::new()
            .max_connections(1)
            .connect_with(options)
            .await
            .unwrap();
        let mut session = pool.acquire().await.unwrap();
        batch(&mut session, &format!("DROP DATABASE {}", bench.schema)).await;
        drop(session);
        let error = MySqlStore::new(pool.clone()).migrate().await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Misuse);
        pool.close().await;
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
        let options = super::options(&bench.url, "mysql")
            .host("127.0.0.1")
            .port(port);
        let pool = sqlx::mysql::MySqlPoolOptions::new()
            .acquire_timeout(std::time::Duration::from_millis(100))
            .connect_lazy_with(options);
        let store = MySqlStore::new(pool);
        let error = store.migrate().await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    });
}

#[test]
fn rows_that_are_none_are_refused() {
    let bench = Bench::new();
    run(async {
        let mut other: MySqlConnection = bench.beside().await;
        for state in [5, -1] {
            let insert = format!(
                "INSERT INTO webhook_receipt (`key`, slot, mark, attempts, fence, received_at, \
                 changed_at, expires_at, state, body_hash, tenant, provider, event_id) \
                 VALUES ('', 0, 0, 1, 1, 0, 0, 0, {state}, '', '', '', '')"
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
