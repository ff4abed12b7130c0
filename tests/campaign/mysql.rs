//! A MariaDB or MySQL server.

use std::sync::{
    Arc, Mutex, OnceLock,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use hookproof::{
    Claiming, MySqlStore, Receipt, StoreError, Verdict,
    store::sql::{TxClaim, TxLease, TxSettleError},
};
use sqlx::{
    Connection, MySql as Engine, MySqlConnection, MySqlPool,
    mysql::{MySqlConnectOptions, MySqlPoolOptions},
    pool::PoolConnection,
};

#[cfg(feature = "inbox")]
use super::plan::IN_AN_INBOX;
use super::{
    backend::{self, Arena, Backend, Effect, Hand, Shifted},
    common_server::mysql::{MySql, URL},
    handler::Quiet,
    plan::{Fault, IN_TRANSACTIONS, ON_THE_POOL, Plan, Point, Way},
    run,
    wire::Told,
};

for_every_store!(Database);
for_servers!(Database);
#[cfg(feature = "inbox")]
for_inboxes!(Database);
#[cfg(feature = "inbox")]
for_inboxes_on_servers!(Database);

/// A database of its own, on a server of its own if that is to be killed.
pub(crate) struct Database {
    server: Option<Mutex<MySql>>,
    url: String,
    name: String,
}

/// The server of those campaigns that spare it.
fn shared() -> &'static str {
    static SERVER: OnceLock<(Option<MySql>, String)> = OnceLock::new();
    let (_, url) = SERVER.get_or_init(|| match std::env::var(URL) {
        Ok(url) => (None, url),
        Err(_) => {
            let server = run(MySql::start(&[]));
            let url = server.url();
            (Some(server), url)
        }
    });
    url
}

fn options(url: &str, database: &str) -> MySqlConnectOptions {
    let options: MySqlConnectOptions = url.parse().unwrap();
    options.database(database)
}

impl Database {
    async fn admin(&self) -> MySqlConnection {
        MySqlConnection::connect_with(&options(&self.url, &self.name))
            .await
            .unwrap()
    }
}

impl Arena for Database {
    type Backend = Worker;

    fn new(plan: &Plan) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, SeqCst);
        let own = plan.fault == Fault::ServerKilled;
        let server = own.then(|| run(MySql::start(&[])));
        let database = Self {
            url: server
                .as_ref()
                .map_or_else(|| shared().to_owned(), MySql::url),
            name: format!("hookproof_campaign_{}_{number}", std::process::id()),
            server: server.map(Mutex::new),
        };
        run(async {
            let mut admin = MySqlConnection::connect(&database.url).await.unwrap();
            let sql = format!(
                "CREATE DATABASE {0}; CREATE TABLE {0}.effects (event varbinary(64), attempt bigint, \
                 fence bigint, INDEX (event)) ENGINE = InnoDB",
                database.name
            );
            let sql: &'static str = Box::leak(sql.into_boxed_str());
            sqlx::raw_sql(sql).execute(&mut admin).await.unwrap();
            admin.close().await.unwrap();
            let options = options(&database.url, &database.name);
            let pool = MySqlPool::connect_with(options).await.unwrap();
            MySqlStore::new(pool.clone()).migrate().await.unwrap();
            pool.close().await;
        });
        database
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
            let sessions = "SELECT CAST(id AS SIGNED) FROM information_schema.processlist \
                            WHERE db = ? AND id <> CONNECTION_ID()";
            let sessions: Vec<i64> = sqlx::query_scalar(sessions)
                .bind(&self.name)
                .fetch_all(&mut admin)
                .await
                .unwrap();
            let mut cut = 0;
            for session in sessions {
                let kill: &'static str = Box::leak(format!("KILL {session}").into_boxed_str());
                // It may have ended by itself.
                let killed = sqlx::raw_sql(kill).execute(&mut admin).await;
                cut += usize::from(killed.is_ok());
            }
            cut
        })
    }

    fn kill_server(&self) {
        let mut server = self.server.as_ref().unwrap().lock().unwrap();
        server.kill();
        run(server.start_again());
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        run(async {
            if let Ok(mut admin) = MySqlConnection::connect(&self.url).await {
                let sql = format!(
                    "SET lock_wait_timeout = 5; DROP DATABASE IF EXISTS {}",
                    self.name
                );
                let sql: &'static str = Box::leak(sql.into_boxed_str());
                let _ = sqlx::raw_sql(sql).execute(&mut admin).await;
            }
        });
    }
}

pub(crate) struct Worker {
    pool: MySqlPool,
    store: Arc<MySqlStore>,
}

impl Backend for Worker {
    type Store = MySqlStore;
    type Hand = Handler;
    type Hog = Vec<PoolConnection<Engine>>;

    const HAS_CLOCK_OF_HOST: bool = false;

    /// By the server's clock, unless it is the store's clock that is to be turned.
    fn open(place: &str, plan: &Plan, clock: Shifted) -> Self {
        let (url, schema) = place.split_once(' ').unwrap();
        let pool = MySqlPoolOptions::new()
            .max_connections(plan.connections)
            .acquire_timeout(plan.wait)
            // A connection that was cut is for the store to find.
            .test_before_acquire(false);
        let options = options(url, schema);
        let pool = run(async { pool.connect_lazy_with(options) });
        let store = MySqlStore::builder(pool.clone()).on_abandoned(Quiet);
        let store = match plan.fault {
            Fault::ClockBack => store.clock(clock).build(),
            _ => store.build(),
        };
        Self {
            pool,
            store: Arc::new(store),
        }
    }

    fn store(&self) -> Arc<MySqlStore> {
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
    pool: MySqlPool,
    store: Arc<MySqlStore>,
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
    store: &'h MySqlStore,
}

impl backend::Tx for Tx<'_> {
    async fn claim(&mut self, claiming: Claiming) -> Result<TxClaim, StoreError> {
        self.store.claim_in(&mut self.tx, claiming).await
    }

    async fn act(&mut self, effect: &Effect) -> Result<(), StoreError> {
        sqlx::query("INSERT INTO effects VALUES (?, ?, ?)")
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
