//! A database with the tables, a pool for its clients, and numbers for new events.

use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
};

use hookproof::{EventKey, MySqlStore};
use sqlx::{
    Connection, MySqlConnection, MySqlPool,
    mysql::{MySqlConnectOptions, MySqlPoolOptions},
};

use crate::load::Clients;

#[derive(Clone)]
pub struct Place {
    pub pool: MySqlPool,
    pub store: Arc<MySqlStore>,
    pub clients: usize,
    url: String,
    database: String,
    next: Arc<AtomicU64>,
}

impl Clients for Place {
    fn clients(&self) -> usize {
        self.clients
    }
}

impl Place {
    pub async fn new(url: &str, clients: usize) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Relaxed);
        let database = format!("hookproof_bench_{}_{number}", std::process::id());
        let mut owner = MySqlConnection::connect(url).await.expect("a server");
        run(&mut owner, &format!("CREATE DATABASE {database}")).await;
        let options: MySqlConnectOptions = url.parse().expect("a URL");
        let pool = MySqlPoolOptions::new()
            .max_connections(u32::try_from(clients).expect("few clients"))
            .connect_with(options.database(&database))
            .await
            .expect("a pool");
        let store = Arc::new(MySqlStore::new(pool.clone()));
        store.migrate().await.expect("the schema");
        let place = Self {
            pool,
            store,
            clients,
            url: url.to_owned(),
            database,
            next: Arc::default(),
        };
        place.run("CREATE TABLE bare LIKE webhook_receipt").await;
        place
            .run(
                "CREATE TABLE invoice (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, \
                    event varbinary(255) NOT NULL, cents bigint NOT NULL)",
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

    /// Runs a statement, whose result does not matter.
    pub async fn run(&self, sql: &str) {
        let mut connection = self.pool.acquire().await.expect("a connection");
        run(&mut connection, sql).await;
    }

    /// An event that nobody has seen.
    pub fn new_key(&self) -> EventKey {
        key(&format!("new {}", self.number()))
    }

    /// A number that was not given before.
    pub fn number(&self) -> u64 {
        self.next.fetch_add(1, Relaxed)
    }

    pub async fn close(self) {
        self.pool.close().await;
        let mut owner = MySqlConnection::connect(&self.url).await.expect("a server");
        run(&mut owner, &format!("DROP DATABASE {}", self.database)).await;
    }
}

pub fn key(id: &str) -> EventKey {
    EventKey::business("tenant", "bench", id).expect("a sound key")
}

/// Both versions of sqlx take a text that lives for as long as the program.
pub async fn run(connection: &mut MySqlConnection, sql: &str) {
    let sql: &'static str = Box::leak(sql.into());
    let done = sqlx::raw_sql(sql).execute(connection).await;
    done.expect("the server runs it");
}
