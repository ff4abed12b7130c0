//! Least privilege: each role does its part, and the server refuses it the rest.
//!
//! Roles belong to a whole server, so these tests start one of their own.

#[cfg(feature = "inbox")]
mod inbox;
#[cfg(feature = "inbox")]
mod review;

use std::sync::OnceLock;

use hookproof::{
    Claim, Claiming, EventKey, Fingerprint, IdempotencyStore, PostgresStore, State, Verdict,
    store::{BatchStore, StatsStore, StoreErrorKind},
    testing::ManualClock,
};
use sqlx::{PgPool, postgres::PgPoolOptions};

use super::{Bench, LEASE, Postgres, START, batch, number, options, run, try_batch};

const ROLES: [&str; 4] = ["gateway", "worker", "janitor", "auditor"];

/// The one server of these tests, with a user in each role.
fn server() -> &'static str {
    static SERVER: OnceLock<(Postgres, String)> = OnceLock::new();
    let (_, url) = SERVER.get_or_init(|| {
        let server = run(Postgres::start(&[]));
        let url = server.url();
        // The roles are there from the first run of the script on.
        let bench = Bench::with(&url, &[], 2);
        run(async {
            let mut owner = bench.beside().await;
            batch(&mut owner, PostgresStore::ROLES).await;
            for role in ROLES {
                let user = format!("CREATE ROLE shop_{role} LOGIN IN ROLE webhook_{role}");
                batch(&mut owner, &user).await;
            }
            let both = "CREATE ROLE shop_operator LOGIN IN ROLE webhook_gateway, webhook_worker";
            batch(&mut owner, both).await;
            // What the schema's owner has lent goes before the schema.
            batch(
                &mut owner,
                "DROP OWNED BY webhook_gateway, webhook_worker, webhook_janitor, webhook_auditor",
            )
            .await;
        });
        (server, url)
    });
    url
}

/// A schema with its roles, and a pool for each.
struct Shop {
    bench: Bench,
    pools: Vec<(&'static str, PgPool)>,
}

impl Shop {
    fn new(rows_by_tenant: bool) -> Self {
        let bench = Bench::with(server(), &[], 3);
        run(async {
            let mut owner = bench.beside().await;
            // Twice, since it may be run again.
            for _ in 0..2 {
                batch(&mut owner, PostgresStore::ROLES).await;
                if rows_by_tenant {
                    batch(&mut owner, PostgresStore::ROW_SECURITY).await;
                }
            }
        });
        let mut shop = Self {
            bench,
            pools: Vec::new(),
        };
        for role in ROLES {
            let pool = shop.pool(role, None);
            shop.pools.push((role, pool));
        }
        shop
    }

    fn pool(&self, role: &str, tenant: Option<&str>) -> PgPool {
        let mut as_role =
            options(&self.bench.url, &self.bench.schema).username(&format!("shop_{role}"));
        if let Some(tenant) = tenant {
            as_role = as_role.options([("hookproof.tenant", tenant)]);
        }
        run(async {
            PgPoolOptions::new()
                .max_connections(3)
                .connect_lazy_with(as_role)
        })
    }

    fn store(&self, pool: &PgPool) -> PostgresStore {
        PostgresStore::builder(pool.clone())
            .clock(self.bench.clock.clone())
            .on_abandoned(self.bench.abandoned.clone())
            .build()
    }

    fn role(&self, role: &str) -> PostgresStore {
        let (_, pool) = self.pools.iter().find(|(name, _)| *name == role).unwrap();
        self.store(pool)
    }

    /// Runs a statement as a role: the SQLSTATE that it is refused with, if it is.
    async fn sql(&self, role: &str, sql: &str) -> Option<String> {
        let (_, pool) = self.pools.iter().find(|(name, _)| *name == role).unwrap();
        refusal(pool, sql).await
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

async fn refusal(pool: &PgPool, sql: &str) -> Option<String> {
    let mut connection = pool.acquire().await.unwrap();
    match try_batch(&mut connection, sql).await {
        Ok(()) => None,
        Err(error) => Some(
            error
                .as_database_error()
                .unwrap()
                .code()
                .unwrap()
                .into_owned(),
        ),
    }
}

/// insufficient_privilege
const REFUSED: Option<&str> = Some("42501");

fn ask(tenant: &str, id: &str) -> Claiming {
    let key = EventKey::business(tenant, "shop", id).unwrap();
    Claiming::business(key)
        .fingerprint(Fingerprint::of(b"content"))
        .lease(LEASE)
}

fn later(clock: &ManualClock) {
    clock.set(START + std::time::Duration::from_secs(31 * 24 * 60 * 60));
}

#[test]
fn a_gateway_claims_and_settles() {
    let shop = Shop::new(false);
    let gateway = shop.role("gateway");
    run(async {
        // Its start-up, too.
        gateway.migrate().await.unwrap();
        let lease = super::won(gateway.claim(ask("a", "e1")).await.unwrap());
        let lease = gateway.renew(lease, LEASE).await.unwrap();
        gateway.settle(lease, Verdict::retry(LEASE)).await.unwrap();
        shop.bench.clock.advance(LEASE);
        let lease = super::won(gateway.claim(ask("a", "e1")).await.unwrap());
        assert_eq!(lease.attempt(), 2);
        gateway.settle(lease, Verdict::done("done")).await.unwrap();
        let batch = vec![ask("a", "e1"), ask("a", "e2"), ask("a", "e3")];
        let mut claims = gateway.claim_many(batch).await.unwrap().into_iter();
        assert!(matches!(claims.next(), Some(Ok(Claim::Duplicate(_)))));
        for claim in claims {
            gateway.release(super::won(claim.unwrap())).await.unwrap();
        }
        assert_eq!(gateway.stats().await.unwrap().total(), 3);

        let kind = gateway.purge(10).await.unwrap_err().kind();
        assert_eq!(kind, StoreErrorKind::Misuse);
        let kind = gateway
            .forget(ask("a", "e1").key())
            .await
            .unwrap_err()
            .kind();
        assert_eq!(kind, StoreErrorKind::Misuse);
    });
}

#[test]
fn a_gateway_changes_nothing_else() {
    let shop = Shop::new(false);
    run(async {
        let gateway = shop.role("gateway");
        super::crash(super::won(gateway.claim(ask("a", "e1")).await.unwrap()));
        for sql in [
            "DELETE FROM webhook_receipt",
            "TRUNCATE webhook_receipt",
            "UPDATE webhook_receipt SET body_hash = body_hash",
            "UPDATE webhook_receipt SET event_id = 'other'",
            "UPDATE webhook_receipt SET tenant = 'other'",
            "UPDATE webhook_receipt SET expires_at = 0",
            "UPDATE webhook_receipt SET janitor = NULL",
            "UPDATE webhook_receipt_meta SET version = 99",
            "SELECT setval('webhook_receipt_fence', 0)",
            "SELECT nextval('webhook_receipt_fence')",
            "UPDATE webhook_inbox SET body = ''",
            "UPDATE webhook_inbox SET tenant = 'other'",
            "DELETE FROM webhook_inbox",
            "UPDATE webhook_inbox_due SET tenant = 'other'",
            "UPDATE webhook_effect SET result = ''",
            "DELETE FROM webhook_effect",
            "UPDATE webhook_object SET tenant = 'other'",
            "DELETE FROM webhook_object",
        ] {
            assert_eq!(shop.sql("gateway", sql).await.as_deref(), REFUSED, "{sql}");
        }
    });
}

#[test]
fn a_worker_settles_and_does_not_insert() {
    let shop = Shop::new(false);
    let (gateway, worker) = (shop.role("gateway"), shop.role("worker"));
    run(async {
        let lease = super::won(gateway.claim(ask("a", "e1")).await.unwrap());
        let lease = worker.renew(lease, LEASE).await.unwrap();
        let done = worker.settle(lease, Verdict::done("done")).await.unwrap();
        assert_eq!(done.state, State::Processed);
        let lease = super::won(gateway.claim(ask("a", "e2")).await.unwrap());
        worker.release(lease).await.unwrap();
        assert_eq!(worker.stats().await.unwrap().total(), 2);
        assert!(worker.get(ask("a", "e1").key()).await.unwrap().is_some());

        let kind = worker.claim(ask("a", "new")).await.unwrap_err().kind();
        assert_eq!(kind, StoreErrorKind::Misuse);
        for sql in [
            "INSERT INTO webhook_receipt SELECT * FROM webhook_receipt",
            "DELETE FROM webhook_receipt",
            "UPDATE webhook_receipt SET expires_at = 0",
            "UPDATE webhook_receipt SET body_hash = body_hash",
            "INSERT INTO webhook_inbox SELECT * FROM webhook_inbox",
            "UPDATE webhook_inbox SET body = ''",
            "DELETE FROM webhook_inbox",
            "UPDATE webhook_effect SET result = ''",
            "DELETE FROM webhook_effect",
            "DELETE FROM webhook_object",
        ] {
            assert_eq!(shop.sql("worker", sql).await.as_deref(), REFUSED, "{sql}");
        }
    });
}

#[test]
fn a_janitor_deletes_and_changes_nothing() {
    let shop = Shop::new(false);
    let (gateway, janitor) = (shop.role("gateway"), shop.role("janitor"));
    run(async {
        for id in ["e1", "e2", "e3"] {
            let lease = super::won(gateway.claim(ask("a", id)).await.unwrap());
            gateway.settle(lease, Verdict::done("done")).await.unwrap();
        }
        assert!(
            janitor
                .forget(ask("a", "e1").key())
                .await
                .unwrap()
                .is_some()
        );
        later(&shop.bench.clock);
        super::crash(super::won(gateway.claim(ask("a", "e4")).await.unwrap()));
        assert_eq!(janitor.stats().await.unwrap().expired, 2);
        assert_eq!(janitor.purge(10).await.unwrap(), 2);

        let kind = janitor.claim(ask("a", "new")).await.unwrap_err().kind();
        assert_eq!(kind, StoreErrorKind::Misuse);
        let columns = [
            "key",
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
            assert_eq!(shop.sql("janitor", &sql).await.as_deref(), REFUSED, "{sql}");
        }
        // The column that lets it lock rows holds nothing.
        let sql = "UPDATE webhook_receipt SET janitor = TRUE";
        assert_eq!(shop.sql("janitor", sql).await.as_deref(), Some("23514"));
        let sql = "TRUNCATE webhook_receipt";
        assert_eq!(shop.sql("janitor", sql).await.as_deref(), REFUSED);
    });
}

#[test]
fn an_auditor_reads() {
    let shop = Shop::new(false);
    let (gateway, auditor) = (shop.role("gateway"), shop.role("auditor"));
    run(async {
        let lease = super::won(gateway.claim(ask("a", "e1")).await.unwrap());
        gateway.settle(lease, Verdict::done("done")).await.unwrap();
        let seen = auditor.get(ask("a", "e1").key()).await.unwrap();
        assert_eq!(seen.unwrap().result, b"done");
        assert_eq!(auditor.stats().await.unwrap().processed, 1);
        // A duplicate is answered by reading alone.
        let claim = auditor.claim(ask("a", "e1")).await.unwrap();
        assert!(matches!(claim, Claim::Duplicate(_)));

        let kind = auditor.claim(ask("a", "new")).await.unwrap_err().kind();
        assert_eq!(kind, StoreErrorKind::Misuse);
        for sql in [
            "INSERT INTO webhook_receipt SELECT * FROM webhook_receipt",
            "UPDATE webhook_receipt SET state = 0",
            "UPDATE webhook_receipt SET janitor = NULL",
            "DELETE FROM webhook_receipt",
            "SELECT 1 FROM webhook_receipt FOR UPDATE",
            "SELECT setval('webhook_receipt_fence', 0)",
        ] {
            assert_eq!(shop.sql("auditor", sql).await.as_deref(), REFUSED, "{sql}");
        }
    });
}

#[test]
fn no_role_creates_or_alters_anything() {
    let shop = Shop::new(false);
    run(async {
        for role in ROLES {
            for sql in [
                "CREATE TABLE mine (n integer)",
                "CREATE TABLE public.mine (n integer)",
                "CREATE FUNCTION mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
                "CREATE INDEX ON webhook_receipt (state)",
                "CREATE ROLE mine",
                "CREATE SCHEMA mine",
                "ALTER TABLE webhook_receipt ADD COLUMN mine integer",
                "ALTER TABLE webhook_receipt DISABLE ROW LEVEL SECURITY",
                "ALTER SEQUENCE webhook_receipt_fence RESTART",
                "DROP TABLE webhook_receipt",
                "CREATE POLICY mine ON webhook_receipt USING (TRUE)",
            ] {
                let refused = shop.sql(role, sql).await;
                assert_eq!(refused.as_deref(), REFUSED, "{role}: {sql}");
            }
        }
    });
}

/// Under row-level security each tenant has the table to itself.
#[test]
fn tenants_do_not_see_each_other() {
    let shop = Shop::new(true);
    let [a, b] = ["a", "b"].map(|tenant| shop.pool("gateway", Some(tenant)));
    let (of_a, of_b) = (shop.store(&a), shop.store(&b));
    run(async {
        of_a.migrate().await.unwrap();
        let lease = super::won(of_a.claim(ask("a", "e1")).await.unwrap());
        of_a.settle(lease, Verdict::done("of a")).await.unwrap();
        let lease = super::won(of_b.claim(ask("b", "e1")).await.unwrap());
        of_b.settle(lease, Verdict::done("of b")).await.unwrap();
        let lease = super::won(of_a.claim(ask("a", "e2")).await.unwrap());

        // Theirs cannot be seen, claimed, or settled.
        assert_eq!(of_b.get(ask("a", "e1").key()).await.unwrap(), None);
        assert_eq!(of_b.stats().await.unwrap().total(), 1);
        let kind = of_b.claim(ask("a", "e1")).await.unwrap_err().kind();
        assert_eq!(kind, StoreErrorKind::Misuse);
        let kind = of_b.claim(ask("a", "new")).await.unwrap_err().kind();
        assert_eq!(kind, StoreErrorKind::Misuse);
        let many = of_b.claim_many(vec![ask("b", "e2"), ask("a", "new")]).await;
        assert_eq!(many.unwrap_err().kind(), StoreErrorKind::Misuse);
        let lost = of_b.settle(lease, Verdict::done("by b")).await.unwrap_err();
        assert!(matches!(
            lost.fault,
            hookproof::store::SettleFault::LeaseLost
        ));
        let count = "SELECT count(*) FROM webhook_receipt";
        let mut connection = b.acquire().await.unwrap();
        assert_eq!(number(&mut connection, count).await, 1);
        drop(connection);
        // Nor can a row be handed over: the tenant is not for it to change.
        let hand_over = "UPDATE webhook_receipt SET tenant = 'b'";
        assert_eq!(refusal(&a, hand_over).await.as_deref(), REFUSED);
        // Still there, as it was.
        let seen = of_a.get(ask("a", "e1").key()).await.unwrap();
        assert_eq!(seen.unwrap().result, b"of a");

        // Without a tenant there is nothing to be seen, and nothing to be written.
        let nobody = shop.role("gateway");
        assert_eq!(nobody.stats().await.unwrap().total(), 0);
        let kind = nobody.claim(ask("", "e1")).await.unwrap_err().kind();
        assert_eq!(kind, StoreErrorKind::Misuse);

        // The others look after all.
        assert_eq!(shop.role("auditor").stats().await.unwrap().total(), 3);
        later(&shop.bench.clock);
        assert_eq!(shop.role("janitor").purge(10).await.unwrap(), 3);
        a.close().await;
        b.close().await;
    });
}

/// The tenant may be set for one transaction alone, for a pool that all tenants share.
#[test]
fn a_transaction_can_be_a_tenants() {
    let shop = Shop::new(true);
    let gateway = shop.role("gateway");
    run(async {
        let (_, pool) = &shop.pools[0];
        let mut tx = pool.begin().await.unwrap();
        batch(&mut tx, "SELECT set_config('hookproof.tenant', 'a', TRUE)").await;
        let lease = match gateway.claim_in(&mut tx, ask("a", "e1")).await.unwrap() {
            hookproof::store::sql::TxClaim::New(lease) => lease,
            other => panic!("{other:?}"),
        };
        let done = Verdict::done("done");
        gateway.settle_in(&mut tx, lease, done).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(shop.role("auditor").stats().await.unwrap().processed, 1);
        assert_eq!(gateway.stats().await.unwrap().total(), 0);
    });
}
