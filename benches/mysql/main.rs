//! What a claim costs on MariaDB, beside the bare statements that it stands for.
//!
//! ```text
//! cargo bench --manifest-path benches/Cargo.toml --bench mysql --features mysql -- --ratios
//! ```
//!
//! **How:** as in the bench of PostgreSQL. With 1, 8 and 32 clients, and with the log on the disk at
//! each commit (`innodb_flush_log_at_trx_commit=1`) and once a second (`2`).
//!
//! **Floors.** `bare insert`: one `INSERT` of the same row into a table like the receipts', on the same
//! pool; a row that is there would be an error. `locking claim`: an `INSERT … ON DUPLICATE KEY UPDATE`
//! whose condition decides, which locks the row of a known event, and a look at that. `bare transaction`:
//! the bare insert, the business row, commit. `bare delete`: the oldest hundred, ten times.
//!
//! With `HOOKPROOF_BENCH_ROWS=1000000,10000000` claims beside so many kept receipts are measured, and
//! nothing else. `HOOKPROOF_BENCH_COMMITS=2` leaves out what waits for the disk.
//!
//! The server is the bench's own, with its usual buffer for pages before they are written in place,
//! or the one that `HOOKPROOF_MYSQL_URL` names, whose user must be allowed to set that log's
//! setting.
#![cfg(unix)]

#[path = "../../tests/common_server/mod.rs"]
mod common_server;

#[path = "../servers/load.rs"]
mod load;

mod cases;
mod place;

use common_server::mysql::{MySql, URL};
use hookproof_benches::Mode;
use sqlx::{Connection, MySqlConnection};
use tokio::runtime::Runtime;

use load::{Load, Work};
use place::Place;

fn main() {
    let load = Load::of(Mode::from_args());
    let runtime = Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let (_server, url) = match std::env::var(URL) {
            Ok(url) => (None, url),
            Err(_) => {
                let settings = [
                    "--innodb-doublewrite=1",
                    "--innodb-buffer-pool-size=256M",
                    "--innodb-log-file-size=512M",
                ];
                let server = MySql::start(&settings).await;
                let url = server.url();
                (Some(server), url)
            }
        };
        let commits = load.commits(&["1", "2"]);
        for flush in commits.into_iter().filter(|_| load.all_else()) {
            flush_at_commit(&url, flush).await;
            for clients in [1, 8, 32] {
                let place = Place::new(&url, clients).await;
                let title = format!("flush_log_at_trx_commit={flush} {clients:>3} clients");
                claims(&load, &place, &title).await;
                if clients == 8 {
                    in_bulk(&load, &place.alone(), flush).await;
                }
                place.close().await;
            }
        }
        for rows in load.rows() {
            flush_at_commit(&url, "2").await;
            against_many(&load, &url, rows).await;
        }
    });
}

async fn flush_at_commit(url: &str, flush: &str) {
    let mut owner = MySqlConnection::connect(url).await.expect("a server");
    let set = format!("SET GLOBAL innodb_flush_log_at_trx_commit = {flush}");
    place::run(&mut owner, &set).await;
}

/// New events, known ones, and transactions, each beside its floor.
async fn claims(load: &Load, place: &Place, title: &str) {
    let rates = load
        .compare(&[(place, cases::bare_insert), (place, cases::claim)])
        .await;
    rates.print(title, &["bare insert", "claim, new"]);
    cases::keep_known(place).await;
    let rates = load
        .compare(&[(place, cases::locking_mix), (place, cases::claim_mix)])
        .await;
    rates.print(title, &["locking claim, 90 % known", "claim, 90 % known"]);
    let rates = load
        .compare(&[(place, cases::bare_transaction), (place, cases::claim_in)])
        .await;
    rates.print(title, &["bare transaction", "claim_in, settle_in"]);
}

/// Batches beside single claims, and purges.
async fn in_bulk(load: &Load, place: &Place, flush: &str) {
    let title = format!("flush_log_at_trx_commit={flush}   1 client ");
    let rates = load
        .compare(&[(place, cases::claim), (place, cases::claim_many)])
        .await;
    rates.print(&title, &["claim, new", "claim_many of 500 (>= 10)"]);
    cases::expired(place, load.rounds() * cases::STEP).await;
    let rates = load
        .compare_once(&[(place, cases::bare_delete), (place, cases::purge)])
        .await;
    rates.print(&title, &["bare delete", "purge of 1,000"]);
}

/// The same claims on an empty table and on one with many receipts.
async fn against_many(load: &Load, url: &str, rows: usize) {
    let (empty, full) = (&Place::new(url, 8).await, &Place::new(url, 8).await);
    cases::preload(full, rows).await;
    let both = [(empty, cases::claim as Work<Place>), (full, cases::claim)];
    load.go_on(full, cases::claim).await;
    let kept = format!("claim, {rows} kept");
    let names = ["claim, empty table", &kept];
    let rates = load.compare(&both).await;
    rates.print("flush_log_at_trx_commit=2   8 clients", &names);
    empty.clone().close().await;
    full.clone().close().await;
}
