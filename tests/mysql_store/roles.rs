//! Least privilege: each role does its part, and the server refuses it the rest.
//!
//! Roles belong to a whole server, so these tests start one of their own.

#[cfg(feature = "inbox")]
mod inbox;
mod rest;
#[cfg(feature = "inbox")]
mod review;

use std::sync::OnceLock;

use hookproof::{
    Claim, IdempotencyStore, MySqlStore, State, Verdict, store::StoreErrorKind,
    testing::ManualClock,
};
use sqlx::{MySqlPool, mysql::MySqlPoolOptions};

use super::{Bench, LEASE, MySql, START, ask, batch, crash, key, options, run, try_batch, won};

const ROLES: [&str; 4] = ["gateway", "worker", "janitor", "auditor"];

/// The one server of these tests, with a user in each role.
fn server() -> &'static str {
    static SERVER: OnceLock<(MySql, String)> = OnceLock::new();
    let (_, url) = SERVER.get_or_init(|| {
        let server = run(MySql::start(&[]));
        let url = server.url();
        // The roles are there from the first run of the script on.
        let bench = Bench::with(&url, &[], 2);
        run(async {
            let mut owner = bench.beside().await;
            batch(&mut owner, MySqlStore::ROLES).await;
            for role in ROLES {
                let user = format!(
                    "CREATE USER shop_{role}; GRANT webhook_{role} TO shop_{role}; \
                     SET DEFAULT ROLE webhook_{role} /*!80000 TO */ /*M! FOR */ shop_{role}"
                );
                batch(&mut owner, &user).await;
            }
            // MariaDB has one default role a user, so an operator's is made of two.
            let operator = "CREATE ROLE shop_both; GRANT webhook_gateway TO shop_both; \
                            GRANT webhook_worker TO shop_both; \
                            CREATE USER shop_operator; GRANT shop_both TO shop_operator; \
                            SET DEFAULT ROLE shop_both /*!80000 TO */ /*M! FOR */ shop_operator";
            batch(&mut owner, operator).await;
        });
        (server, url)
    });
    url
}

/// A database with its roles, and a pool for each.
struct Shop {
    bench: Bench,
    pools: Vec<(&'static str, MySqlPool)>,
}

impl Shop {
    fn new() -> Self {
        let bench = Bench::with(server(), &[], 3);
        run(async {
            let mut owner = bench.beside().await;
            // Twice, since it may be run again.
            for _ in 0..2 {
                batch(&mut owner, MySqlStore::ROLES).await;
            }
        });
        let users = ["gateway", "worker", "janitor", "auditor", "operator"];
        let pools = users.map(|role| {
            let user = format!("shop_{role}");
            let options = options(&bench.url, &bench.schema).username(&user);
            let pool = MySqlPoolOptions::new().max_connections(3);
            (role, run(async { pool.connect_lazy_with(options) }))
        });
        Self {
            bench,
            pools: pools.into(),
        }
    }

    fn pool(&self, role: &str) -> &MySqlPool {
        let (_, pool) = self.pools.iter().find(|(name, _)| *name == role).unwrap();
        pool
    }

    fn role(&self, role: &str) -> MySqlStore {
        MySqlStore::builder(self.pool(role).clone())
            .clock(self.bench.clock.clone())
            .on_abandoned(self.bench.abandoned.clone())
            .build()
    }

    /// Runs a statement as a role: whether it is refused for want of a right to a table, a column, a
    /// database or the server, and for nothing else.
    async fn refuses(&self, role: &str, sql: &str) -> bool {
        let mut connection = self.pool(role).acquire().await.unwrap();
        match try_batch(&mut connection, sql).await {
            Ok(()) => false,
            Err(error) => {
                let error = error.into_database_error().unwrap();
                let error = error.downcast::<sqlx::mysql::MySqlDatabaseError>();
                let number = error.number();
                assert!(
                    matches!(number, 1142 | 1143 | 1044 | 1227),
                    "{role}: {sql}: {error}"
                );
                true
            }
        }
    }

    #[cfg(feature = "inbox")]
    async fn refused_to(&self, roles: &[&str], sql: &str) {
        for role in roles {
            assert!(self.refuses(role, sql).await, "{role}: {sql}");
        }
    }

    async fn refuses_all(&self, role: &str, statements: &[&str]) {
        for sql in statements {
            assert!(self.refuses(role, sql).await, "{role}: {sql}");
        }
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        run(async {
            for (_, pool) in &self.pools {
                pool.close().await;
            }
        });
    }
}

/// The store refuses as the server does.
#[track_caller]
fn refused<T: std::fmt::Debug>(answer: Result<T, hookproof::StoreError>) {
    assert_eq!(answer.unwrap_err().kind(), StoreErrorKind::Misuse);
}

fn later(clock: &ManualClock) {
    clock.set(START + std::time::Duration::from_secs(31 * 24 * 60 * 60));
}

#[test]
fn a_gateway_claims_and_settles() {
    let shop = Shop::new();
    let gateway = shop.role("gateway");
    run(async {
        // Its start-up, too.
        gateway.migrate().await.unwrap();
        let lease = won(gateway.claim(ask("e1")).await.unwrap());
        let lease = gateway.renew(lease, LEASE).await.unwrap();
        gateway.settle(lease, Verdict::retry(LEASE)).await.unwrap();
        shop.bench.clock.advance(LEASE);
        let lease = won(gateway.claim(ask("e1")).await.unwrap());
        assert_eq!(lease.attempt(), 2);
        gateway.settle(lease, Verdict::done("done")).await.unwrap();
        let claim = gateway.claim(ask("e1")).await.unwrap();
        assert!(matches!(claim, Claim::Duplicate(_)));
        let lease = won(gateway.claim(ask("e2")).await.unwrap());
        gateway.release(lease).await.unwrap();

        // Held up by somebody's transaction.
        let owner = shop.bench.store();
        let mut tx = shop.bench.pool.begin().await.unwrap();
        drop(super::win_in(&owner, &mut tx, "e3").await);
        super::busy(&gateway, "e3").await;
        tx.rollback().await.unwrap();

        refused(gateway.purge(10).await);
        refused(gateway.forget(&key("e1")).await);
    });
}

/// What a claim in a transaction needs beside the role.
#[test]
fn a_claim_in_a_transaction_takes_one_grant_more() {
    let shop = Shop::new();
    let gateway = shop.role("gateway");
    run(async {
        let mut owner = shop.bench.beside().await;
        let grant = "GRANT UPDATE ON webhook_receipt TO shop_gateway";
        batch(&mut owner, grant).await;
        let mut tx = shop.pool("gateway").begin().await.unwrap();
        let lease = super::win_in(&gateway, &mut tx, "e3").await;
        super::busy(&gateway, "e3").await;
        let done = Verdict::done("together");
        gateway.settle_in(&mut tx, lease, done).await.unwrap();
        tx.commit().await.unwrap();
        super::duplicate(&gateway, "e3").await;
        let revoke = "REVOKE UPDATE ON webhook_receipt FROM shop_gateway";
        batch(&mut owner, revoke).await;
    });
}

#[test]
fn a_gateway_changes_nothing_else() {
    let shop = Shop::new();
    run(async {
        let gateway = shop.role("gateway");
        crash(won(gateway.claim(ask("e1")).await.unwrap()));
        let statements = [
            "DELETE FROM webhook_receipt",
            "TRUNCATE webhook_receipt",
            "UPDATE webhook_receipt SET body_hash = body_hash",
            "UPDATE webhook_receipt SET event_id = 'other'",
            "UPDATE webhook_receipt SET tenant = 'other'",
            "UPDATE webhook_receipt SET expires_at = 0",
            "UPDATE webhook_receipt SET slot = 0",
            "UPDATE webhook_receipt_meta SET version = 99",
            "UPDATE webhook_receipt_slot SET fence = 0",
            "DELETE FROM webhook_receipt_slot",
            "INSERT INTO webhook_receipt_slot VALUES (1, 0)",
            "REPLACE INTO webhook_receipt SELECT * FROM webhook_receipt",
            "UPDATE webhook_inbox SET body = ''",
            "UPDATE webhook_inbox SET tenant = 'other'",
            "DELETE FROM webhook_inbox",
            "UPDATE webhook_inbox_due SET tenant = 'other'",
            "UPDATE webhook_effect SET result = ''",
            "DELETE FROM webhook_effect",
            "UPDATE webhook_object SET tenant = 'other'",
            "DELETE FROM webhook_object",
            "REPLACE INTO webhook_review SELECT * FROM webhook_review",
        ];
        shop.refuses_all("gateway", &statements).await;
    });
}

#[test]
fn a_worker_settles_and_does_not_insert() {
    let shop = Shop::new();
    let (gateway, worker) = (shop.role("gateway"), shop.role("worker"));
    run(async {
        let lease = won(gateway.claim(ask("e1")).await.unwrap());
        let lease = worker.renew(lease, LEASE).await.unwrap();
        let done = worker.settle(lease, Verdict::done("done")).await.unwrap();
        assert_eq!(done.state, State::Processed);
        let lease = won(gateway.claim(ask("e2")).await.unwrap());
        worker.release(lease).await.unwrap();
        assert!(worker.get(&key("e1")).await.unwrap().is_some());

        refused(worker.claim(ask("new")).await);
        let statements = [
            "INSERT INTO webhook_receipt SELECT * FROM webhook_receipt",
            "DELETE FROM webhook_receipt",
            "UPDATE webhook_receipt SET expires_at = 0",
            "UPDATE webhook_receipt SET body_hash = body_hash",
            "UPDATE webhook_receipt_slot SET fence = 0",
            "INSERT INTO webhook_inbox SELECT * FROM webhook_inbox",
            "UPDATE webhook_inbox SET body = ''",
            "DELETE FROM webhook_inbox",
            "UPDATE webhook_effect SET result = ''",
            "DELETE FROM webhook_effect",
            "DELETE FROM webhook_object",
            "INSERT INTO webhook_review SELECT * FROM webhook_review",
        ];
        shop.refuses_all("worker", &statements).await;
    });
}

#[test]
fn a_janitor_deletes_and_changes_nothing() {
    let shop = Shop::new();
    let (gateway, janitor) = (shop.role("gateway"), shop.role("janitor"));
    run(async {
        for id in ["e1", "e2", "e3"] {
            let lease = won(gateway.claim(ask(id)).await.unwrap());
            gateway.settle(lease, Verdict::done("done")).await.unwrap();
        }
        assert!(janitor.forget(&key("e1")).await.unwrap().is_some());
        later(&shop.bench.clock);
        crash(won(gateway.claim(ask("e4")).await.unwrap()));
        assert_eq!(janitor.purge(10).await.unwrap(), 2);

        refused(janitor.claim(ask("new")).await);
        let columns = [
            "`key`",
            "slot",
            "mark",
            "attempts",
            "fence",
            "lease_until",
            "received_at",
            "changed_at",
            "expires_at",
            "state",
            "body_hash",
            "tenant",
            "provider",
            "event_id",
            "result",
        ];
        for column in columns {
            let sql = format!("UPDATE webhook_receipt SET {column} = {column}");
            assert!(shop.refuses("janitor", &sql).await, "{sql}");
        }
        let statements = [
            "TRUNCATE webhook_receipt",
            "INSERT INTO webhook_receipt SELECT * FROM webhook_receipt",
            "DELETE FROM webhook_receipt_slot",
            "UPDATE webhook_object SET tenant = 'other'",
            "UPDATE webhook_inbox SET body = ''",
            "UPDATE webhook_inbox_due SET due_at = 0",
            "INSERT INTO webhook_review SELECT * FROM webhook_review",
            "DELETE FROM webhook_effect",
        ];
        shop.refuses_all("janitor", &statements).await;
    });
}

#[test]
fn an_auditor_reads() {
    let shop = Shop::new();
    let (gateway, auditor) = (shop.role("gateway"), shop.role("auditor"));
    run(async {
        let lease = won(gateway.claim(ask("e1")).await.unwrap());
        gateway.settle(lease, Verdict::done("done")).await.unwrap();
        let seen = auditor.get(&key("e1")).await.unwrap();
        assert_eq!(seen.unwrap().result, b"done");
        // A duplicate is answered by reading alone.
        let claim = auditor.claim(ask("e1")).await.unwrap();
        assert!(matches!(claim, Claim::Duplicate(_)));

        refused(auditor.claim(ask("new")).await);
        refused(auditor.forget(&key("e1")).await);
        let statements = [
            "INSERT INTO webhook_receipt SELECT * FROM webhook_receipt",
            "UPDATE webhook_receipt SET state = 0",
            "DELETE FROM webhook_receipt",
            "UPDATE webhook_receipt_slot SET fence = 0",
            "DELETE FROM webhook_inbox_due",
            "DELETE FROM webhook_inbox",
            "INSERT INTO webhook_effect SELECT * FROM webhook_effect",
            "INSERT INTO webhook_object SELECT * FROM webhook_object",
            "INSERT INTO webhook_review SELECT * FROM webhook_review",
        ];
        shop.refuses_all("auditor", &statements).await;
    });
}

#[test]
fn no_role_creates_or_alters_anything() {
    let shop = Shop::new();
    run(async {
        for role in ROLES {
            let statements = [
                "CREATE TABLE mine (n integer)",
                "CREATE VIEW mine AS SELECT * FROM webhook_receipt",
                "CREATE FUNCTION mine() RETURNS integer RETURN 1",
                "CREATE TRIGGER mine BEFORE INSERT ON webhook_receipt FOR EACH ROW SET @mine = 1",
                "CREATE INDEX mine ON webhook_receipt (state)",
                "CREATE ROLE mine",
                "CREATE DATABASE mine",
                "ALTER TABLE webhook_receipt ADD COLUMN mine integer",
                "DROP TABLE webhook_receipt",
                "LOCK TABLES webhook_receipt WRITE",
                "GRANT SELECT ON webhook_receipt TO shop_auditor",
                "SET GLOBAL innodb_flush_log_at_trx_commit = 0",
                "SELECT * FROM mysql.user",
            ];
            shop.refuses_all(role, &statements).await;
        }
    });
}
