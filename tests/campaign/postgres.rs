//! A PostgreSQL server.

use std::sync::{
    Arc, Mutex, OnceLock,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use hookproof::{
    Claiming, PostgresStore, Receipt, StoreError, Verdict,
    store::sql::{TxClaim, TxLease, TxSettleError},
};
use sqlx::{
    Connection, PgConnection, PgPool, Postgres as Engine,
    pool::PoolConnection,
    postgres::{PgConnectOptions, PgPoolOptions},
};

#[cfg(feature = "inbox")]
use super::plan::IN_AN_INBOX;
use super::{
    backend::{self, Arena, Backend, Effect, Hand, Shifted},
    common_server::postgres::{Postgres, URL},
    handler::Quiet,
    plan::{Fault, IN_TRANSACTIONS, ON_THE_POOL, Plan, Point, Way},
    run,
    wire::Told,
};

for_every_store!(Schema);
for_servers!(Schema);
#[cfg(feature = "inbox")]
for_inboxes!(Schema);
#[cfg(feature = "inbox")]
for_inboxes_on_servers!(Schema);

/// A schema of its own, on a server of its own if that is to be killed.
pub(crate) struct Schema {
    server: Option<Mutex<Postgres>>,
    url: String,
    name: String,
}

/// The server of those campaigns that spare it.
fn shared() -> &'static str {
    static SERVER: OnceLock<(Option<Postgres>, String)> = OnceLock::new();
    let (_, url) = SERVER.get_or_init(|| match std::env::var(URL) {
        Ok(url) => (None, url),
        Err(_) => {
            let server = run(Postgres::start(&[]));
            let url = server.url();
            (Some(server), url)
        }
    });
    url
}

/// Sessions find the schema, and can be told by its name.
fn options(url: &str, schema: &str) -> PgConnectOptions {
    let options: PgConnectOptions = url.parse().unwrap();
    options.options([("search_path", schema)])
}

impl Schema {
    async fn admin(&self) -> PgConnection {
        PgConnection::connect_with(&options(&self.url, &self.name))
            .await
            .unwrap()
    }
}

impl Arena for Schema {
    type Backend = Worker;

    fn new(plan: &Plan) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, SeqCst);
        let own = plan.fault == Fault::ServerKilled;
        let server = own.then(|| run(Postgres::start(&[])));
        let schema = Self {
            url: server
                .as_ref()
                .map_or_else(|| shared().to_owned(), Postgres::url),
            name: format!("hookproof_campaign_{}_{number}", std::process::id()),
            server: server.map(Mutex::new),
        };
        run(async {
            let mut admin = schema.admin().await;
            let sql = format!(
                "CREATE SCHEMA {0}; CREATE TABLE {0}.effects (event text COLLATE \"C\", \
                 attempt bigint, fence bigint); CREATE INDEX ON {0}.effects (event)",
                schema.name
            );
            let sql: &'static str = Box::leak(sql.into_boxed_str());
            sqlx::raw_sql(sql).execute(&mut admin).await.unwrap();
            let pool = PgPool::connect_with(options(&schema.url, &schema.name))
                .await
                .unwrap();
            PostgresStore::new(pool.clone()).migrate().await.unwrap();
            pool.close().await;
            admin.close().await.unwrap();
        });
        schema
    }

    fn place(&self) -> String {
        format!("{} {}", self.url, self.name)
    }

    fn number(&self, sql: &'static str) -> i64 {
        run(async {
            let mut admin = self.admin().await;
            sqlx::query_scalar(sql).fetch_one(&mut admin).await.unwrap()
        })
    }

    fn cut(&self) -> usize {
        run(async {
            let mut admin = self.admin().await;
            let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                       WHERE application_name = $1";
            let cut: i64 = sqlx::query_scalar(cut)
                .bind(&self.name)
                .fetch_one(&mut admin)
                .await
                .unwrap();
            usize::try_from(cut).unwrap()
        })
    }

    fn kill_server(&self) {
        let mut server = self.server.as_ref().unwrap().lock().unwrap();
        server.kill();
        run(server.start_again());
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        run(async {
            if let Ok(mut admin) = PgConnection::connect(&self.url).await {
                let sql = format!(
                    "SET lock_timeout = '5s'; DROP SCHEMA IF EXISTS {} CASCADE",
                    self.name
                );
                let sql: &'static str = Box::leak(sql.into_boxed_str());
                let _ = sqlx::raw_sql(sql).execute(&mut admin).await;
            }
        });
    }
}

pub(crate) struct Worker {
    pool: PgPool,
    store: Arc<PostgresStore>,
}

impl Backend for Worker {
    type Store = PostgresStore;
    type Hand = Handler;
    type Hog = Vec<PoolConnection<Engine>>;

    const HAS_CLOCK_OF_HOST: bool = false;

    /// By the server's clock, unless it is the store's clock that is to be turned.
    fn open(place: &str, plan: &Plan, clock: Shifted) -> Self {
        let (url, schema) = place.split_once(' ').unwrap();
        let pool = PgPoolOptions::new()
            .max_connections(plan.connections)
            .acquire_timeout(plan.wait)
            // A connection that was cut is for the store to find.
            .test_before_acquire(false);
        let options = options(url, schema).application_name(schema);
        let pool = run(async { pool.connect_lazy_with(options) });
        let store = PostgresStore::builder(pool.clone()).on_abandoned(Quiet);
        let store = match plan.fault {
            Fault::ClockBack => store.clock(clock).build(),
            _ => store.build(),
        };
        Self {
            pool,
            store: Arc::new(store),
        }
    }

    fn store(&self) -> Arc<PostgresStore> {
        self.store.clone()
    }

    fn hand(&self) -> Handler {
        Handler {
            pool: self.pool.clone(),
            store: self.store.clone(),
        }
    }

    async fn hog(&self) -> Self::Hog {
        let mut all = Vec::new();
        while all.len() + 1 < self.pool.options().get_max_connections() as usize {
            all.extend(self.pool.acquire().await.ok());
        }
        all
    }

    fn cause(error: &StoreError) -> Told {
        backend::cause_on_a_server(error)
    }

    #[cfg(feature = "inbox")]
    fn work_inbox(post: &super::wire::Post, plan: &Plan) {
        super::inbox::work::<Self>(post, plan);
    }
}

pub(crate) struct Handler {
    pool: PgPool,
    store: Arc<PostgresStore>,
}

impl Hand for Handler {
    type Tx<'h> = Tx<'h>;

    fn disk_full(&mut self, is_full: bool) {
        assert!(!is_full);
    }

    async fn begin(&mut self) -> Result<Tx<'_>, StoreError> {
        Ok(Tx {
            tx: self.pool.begin().await?,
            store: &self.store,
        })
    }
}

pub(crate) struct Tx<'h> {
    tx: sqlx::Transaction<'static, Engine>,
    store: &'h PostgresStore,
}

impl backend::Tx for Tx<'_> {
    async fn claim(&mut self, claiming: Claiming) -> Result<TxClaim, StoreError> {
        self.store.claim_in(&mut self.tx, claiming).await
    }

    async fn act(&mut self, effect: &Effect) -> Result<(), StoreError> {
        sqlx::query("INSERT INTO effects VALUES ($1, $2, $3)")
            .bind(&effect.event)
            .bind(i64::from(effect.attempt))
            .bind(effect.fence)
            .execute(&mut *self.tx)
            .await?;
        Ok(())
    }

    async fn settle(&mut self, lease: TxLease, verdict: Verdict) -> Result<Receipt, TxSettleError> {
        self.store.settle_in(&mut self.tx, lease, verdict).await
    }

    async fn commit(self) -> Result<(), StoreError> {
        Ok(self.tx.commit().await?)
    }
}
