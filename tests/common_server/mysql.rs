//! A MariaDB or MySQL server.

use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use sqlx::{Connection, MySqlConnection};

use super::{Kept, Place, free_port};

/// A server to use instead of one of the tests' own; each test makes a database in it, and drops it.
pub(crate) const URL: &str = "HOOKPROOF_MYSQL_URL";

const MISSING: &str = "these tests start a MariaDB or MySQL server and found none: install the \
     packages `mariadb-server-core` and `mariadb-client-core` (mariadbd, mariadb-install-db and \
     my_print_defaults on the PATH or in /usr/sbin), or name a server's database in \
     HOOKPROOF_MYSQL_URL";

/// How often another port is tried.
const TRIES: usize = 5;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(180);

#[derive(Debug)]
pub(crate) struct MySql {
    port: u16,
    kept: Kept,
    place: Place,
}

/// The server, and what makes its first tables; MySQL's does so itself.
#[derive(Debug)]
struct Programs {
    server: PathBuf,
    install: Option<PathBuf>,
}

fn programs() -> Programs {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/sbin", "/usr/libexec", "/usr/local/sbin"].map(PathBuf::from);
    let folders: Vec<_> = std::env::split_paths(&path).chain(usual).collect();
    let find = |name: &str| {
        let mut programs = folders.iter().map(|folder| folder.join(name));
        programs.find(|program| program.exists())
    };
    if let (Some(server), Some(install), Some(_)) = (
        find("mariadbd"),
        find("mariadb-install-db"),
        find("my_print_defaults"),
    ) {
        let install = Some(install);
        return Programs { server, install };
    }
    let server = find("mysqld").filter(|server| {
        let version = std::process::Command::new(server).arg("--version").output();
        version.is_ok_and(|said| !String::from_utf8_lossy(&said.stdout).contains("MariaDB"))
    });
    Programs {
        server: server.expect(MISSING),
        install: None,
    }
}

impl MySql {
    /// A server that nothing else uses, with such settings beside the usual ones.
    pub(crate) async fn start(settings: &[&str]) -> Self {
        let programs = programs();
        for _ in 0..TRIES {
            if let Some(server) = Self::try_start(&programs, settings).await {
                return server;
            }
        }
        panic!("the server did not start on any of {TRIES} ports");
    }

    async fn try_start(programs: &Programs, settings: &[&str]) -> Option<Self> {
        let place = Place::new(&["mysql", "nobody"]);
        let folder = place.folder.to_str().unwrap().to_owned();
        let data = format!("--datadir={folder}/data");
        // At its start a server clears away what it takes for its own, and there are others.
        let temporary = format!("--tmpdir={folder}");
        let first = ["--no-defaults", &data, &temporary];
        match &programs.install {
            Some(install) => {
                let quiet = ["--auth-root-authentication-method=normal", "--skip-test-db"];
                place.run(install, &[&first[..], &quiet].concat());
            }
            None => {
                let quiet = ["--initialize-insecure"];
                place.run(&programs.server, &[&first[..], &quiet].concat());
            }
        }
        let port = free_port();
        // Killed processes lose nothing without syncing; only a power failure would.
        let usual = [
            "--innodb-flush-log-at-trx-commit=2",
            "--innodb-doublewrite=0",
            "--innodb-buffer-pool-size=64M",
            "--max-connections=300",
            "--skip-log-bin",
            "--loose-mysqlx=OFF",
        ];
        let mut arguments = first.map(str::to_owned).to_vec();
        arguments.extend(usual.iter().chain(settings).map(|&text| text.to_owned()));
        arguments.extend([
            format!("--socket={folder}/socket"),
            format!("--pid-file={folder}/pid"),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--port={port}"),
        ]);
        let kept = Kept::start(&place, "TERM", Path::new(&programs.server), &arguments);
        let server = Self { port, kept, place };
        server.answers().await.then_some(server)
    }

    pub(crate) fn url(&self) -> String {
        format!("mysql://root@127.0.0.1:{}/mysql", self.port)
    }

    /// Whether it is this server that answers: not if another had the port.
    async fn answers(&self) -> bool {
        let since = Instant::now();
        while since.elapsed() < PATIENCE {
            let log = self.place.log();
            if log.contains("Bind on TCP/IP port") {
                return false;
            }
            if log.contains("ready for connections")
                && let Ok(connection) = MySqlConnection::connect(&self.url()).await
            {
                connection.close().await.unwrap();
                return true;
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("the server does not answer: {}", self.place.log());
    }

    /// Ends the server as a crash would.
    pub(crate) fn kill(&mut self) {
        self.kept.kill();
    }

    /// Starts it on the same data and port.
    pub(crate) async fn start_again(&mut self) {
        let since = Instant::now();
        self.kept.start_again();
        while since.elapsed() < PATIENCE {
            if let Ok(connection) = MySqlConnection::connect(&self.url()).await {
                connection.close().await.unwrap();
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("the server does not come back: {}", self.place.log());
    }
}
