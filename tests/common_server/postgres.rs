//! A PostgreSQL server.

use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use sqlx::{Connection, PgConnection};

use super::{Kept, Place, free_port};

/// A server to use instead of one of the tests' own; each test makes a schema in it, and drops it.
pub(crate) const URL: &str = "HOOKPROOF_POSTGRES_URL";

const MISSING: &str = "these tests start a PostgreSQL server and found none: install the package \
     `postgresql` (initdb and postgres in /usr/lib/postgresql/*/bin or on the PATH), or name a \
     server's database in HOOKPROOF_POSTGRES_URL";

/// How often another port is tried.
const TRIES: usize = 5;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(180);

#[derive(Debug)]
pub(crate) struct Postgres {
    port: u16,
    kept: Kept,
    place: Place,
}

/// The newest one's folder of programs.
fn programs() -> PathBuf {
    let has_all = |folder: &PathBuf| {
        ["initdb", "postgres"]
            .iter()
            .all(|p| folder.join(p).exists())
    };
    let mut installed: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .collect();
    installed.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    installed
        .into_iter()
        .rev()
        .map(|(_, folder)| folder)
        .chain(std::env::split_paths(&path))
        .find(has_all)
        .expect(MISSING)
}

impl Postgres {
    /// A server that nothing else uses, with such settings beside the usual ones.
    pub(crate) async fn start(settings: &[&str]) -> Self {
        let programs = programs();
        for _ in 0..TRIES {
            if let Some(server) = Self::try_start(&programs, settings).await {
                return server;
            }
        }
        panic!("PostgreSQL did not start on any of {TRIES} ports");
    }

    async fn try_start(programs: &Path, settings: &[&str]) -> Option<Self> {
        let place = Place::new(&["postgres", "nobody"]);
        let data = place.folder.join("data");
        let arguments = ["--auth=trust", "--username=postgres", "--encoding=UTF8"];
        let rest = ["--locale=C", "--no-sync", data.to_str().unwrap()];
        place.run(&programs.join("initdb"), &[&arguments[..], &rest].concat());
        let port = free_port();
        // Killed processes lose nothing without fsync; only a power failure would.
        let usual = ["fsync=off", "max_connections=300", "shared_buffers=64MB"];
        let loopback = ["listen_addresses=127.0.0.1", "unix_socket_directories="];
        let mut arguments = vec!["-D".into(), data.to_str().unwrap().into()];
        for setting in usual.iter().chain(&loopback).chain(settings) {
            arguments.extend(["-c".into(), (*setting).to_owned()]);
        }
        arguments.extend(["-p".into(), port.to_string()]);
        let kept = Kept::start(&place, "QUIT", &programs.join("postgres"), &arguments);
        let server = Self { port, kept, place };
        server.answers().await.then_some(server)
    }

    pub(crate) fn url(&self) -> String {
        format!(
            "postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable",
            self.port
        )
    }

    /// Whether it is this server that answers: not if another had the port.
    async fn answers(&self) -> bool {
        let since = Instant::now();
        while since.elapsed() < PATIENCE {
            let log = self.place.log();
            if log.contains("could not bind") || log.contains("could not create any TCP/IP") {
                return false;
            }
            if log.contains("ready to accept connections")
                && let Ok(connection) = PgConnection::connect(&self.url()).await
            {
                connection.close().await.unwrap();
                return true;
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("PostgreSQL does not answer: {}", self.place.log());
    }

    /// Kills the server's first process, at which the others end.
    pub(crate) fn kill(&mut self) {
        self.kept.kill();
    }

    /// Starts it on the same data and port. A process of the killed one may still hold its memory
    /// for a moment, and then it is tried again.
    pub(crate) async fn start_again(&mut self) {
        let since = Instant::now();
        while since.elapsed() < PATIENCE {
            self.kept.start_again();
            for _ in 0..100 {
                if let Ok(connection) = PgConnection::connect(&self.url()).await {
                    connection.close().await.unwrap();
                    return;
                }
                thread::sleep(Duration::from_millis(20));
            }
        }
        panic!("PostgreSQL does not come back: {}", self.place.log());
    }
}
