//! A schema with the tables, a pool for its clients, and numbers for new events.

use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
};

use hookproof::{EventKey, PostgresStore};
use sqlx::{
    Connection, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use crate::load::Clients;

#[derive(Clone)]
pub struct Place {
    pub pool: PgPool,
    pub store: Arc<PostgresStore>,
    pub clients: usize,
    url: String,
    schema: String,
    next: Arc<AtomicU64>,
}

impl Clients for Place {
    fn clients(&self) -> usize {
        self.clients
    }
}

impl Place {
    pub async fn new(url: &str, commit: &str, clients: usize) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Relaxed);
        let schema = format!("hookproof_bench_{}_{number}", std::process::id());
        let mut owner = PgConnection::connect(url).await.expect("a server");
        run(&mut owner, &format!("CREATE SCHEMA {schema}")).await;
        let options: PgConnectOptions = url.parse().expect("a URL");
        let (waits, longer) = match commit {
            "slow" => ("on", "1000"),
            commit => (commit, "0"),
        };
        let options = options.options([
            ("search_path", schema.as_str()),
            ("synchronous_commit", waits),
            // In microseconds, whoever else is about to commit.
            ("commit_delay", longer),
            ("commit_siblings", "0"),
        ]);
        let pool = PgPoolOptions::new()
            .max_connections(u32::try_from(clients).expect("few clients"))
            .connect_with(options)
            .await
            .expect("a pool");
        let store = Arc::new(PostgresStore::new(pool.clone()));
        store.migrate().await.expect("the schema");
        let place = Self {
            pool,
            store,
            clients,
            url: url.to_owned(),
            schema,
            next: Arc::default(),
        };
        place
            .run(
                "CREATE TABLE bare (LIKE webhook_receipt INCLUDING ALL); \
                 CREATE TABLE invoice (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, \
                    event text NOT NULL, cents bigint NOT NULL)",
            )
            .await;
        place
    }

    /// The same with one client.
    pub fn alone(&self) -> Self {
        Self {
            clients: 1,
            ..self.clone()
        }
    }

    /// Runs statements, whose results do not matter.
    pub async fn run(&self, sql: &str) {
        let mut connection = self.pool.acquire().await.expect("a connection");
        run(&mut connection, sql).await;
    }

    /// In bytes.
    pub async fn log_position(&self) -> i64 {
        let position = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint";
        let position = sqlx::query_scalar(position).fetch_one(&self.pool).await;
        position.expect("PostgreSQL answers")
    }

    /// An event that nobody has seen.
    pub fn new_key(&self) -> EventKey {
        key(&format!("new {}", self.next.fetch_add(1, Relaxed)))
    }

    /// A number that was not given before.
    pub fn number(&self) -> u64 {
        self.next.fetch_add(1, Relaxed)
    }

    pub async fn close(self) {
        self.pool.close().await;
        let mut owner = PgConnection::connect(&self.url).await.expect("a server");
        run(&mut owner, &format!("DROP SCHEMA {} CASCADE", self.schema)).await;
    }
}

pub fn key(id: &str) -> EventKey {
    EventKey::business("tenant", "bench", id).expect("a sound key")
}

/// Both versions of sqlx take a text that lives for as long as the program.
async fn run(connection: &mut PgConnection, sql: &str) {
    let sql: &'static str = Box::leak(sql.into());
    let done = sqlx::raw_sql(sql).execute(connection).await;
    done.expect("PostgreSQL runs it");
}
