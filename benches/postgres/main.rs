//! What a claim costs on PostgreSQL, beside the bare statements that it stands for.
//!
//! ```text
//! cargo bench --manifest-path benches/Cargo.toml --bench postgres --features postgres -- --ratios
//! ```
//!
//! **How.** So many clients share a pool with a connection for each and do the same, one thing
//! after the other, for a third of a second; then it is the next case's turn, whose turn is first
//! changes from round to round, and a round is over when all had theirs. Shown are the median rate
//! and the median, over the rounds, of the rate over the floor's in the same round, with the two
//! values that the middle half of the rounds is between: a machine with other work on it slows both.
//! With 1, 8 and 32 clients.
//!
//! **Commits** wait for the disk (`on`), or do not (`off`: `synchronous_commit`). `slow` waits a
//! millisecond more (`commit_delay`), which stands for a disk across a network, or a standby: there what
//! a claim adds in the server's processor counts for less, and what a duplicate does not write for more.
//!
//! **Floors.** `bare insert`: one `INSERT … ON CONFLICT DO NOTHING` of the same row into a table
//! like the receipts', on the same pool. It asks nothing and answers nothing. `locking claim`: the
//! claim that most write first, an upsert whose condition decides, which locks the row and
//! writes for each duplicate. `bare transaction`: the bare insert, the business row, commit.
//! `bare delete`: the oldest hundred that are not locked, ten times.
//!
//! **Kept receipts** slow claims mostly by the images of full pages that are logged at each page's first
//! change after a checkpoint; so a claim is measured right after one, and after ten seconds of
//! claims. That is measured, and nothing else, where `HOOKPROOF_BENCH_ROWS=1000000,10000000` says
//! how many are kept.
//!
//! `HOOKPROOF_BENCH_COMMITS=off` leaves out what waits for the disk. With `--ratios` all else takes
//! about five minutes; plain `cargo bench` takes three times as many rounds.
//!
//! The server is the bench's own, with `fsync` on, in the folder for temporary files, or the one that
//! `HOOKPROOF_POSTGRES_URL` names.
#![cfg(unix)]

#[path = "../../tests/common_server/mod.rs"]
mod common_server;

#[path = "../servers/load.rs"]
mod load;

mod cases;
mod place;

use common_server::postgres::{Postgres, URL};
use hookproof_benches::Mode;
use tokio::runtime::Runtime;

use load::Load;
use place::Place;

fn main() {
    let mode = Mode::from_args();
    let load = Load::of(mode);
    let runtime = Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let (_server, url) = match std::env::var(URL) {
            Ok(url) => (None, url),
            Err(_) => {
                let settings = ["fsync=on", "shared_buffers=256MB", "max_wal_size=4GB"];
                let server = Postgres::start(&settings).await;
                let url = server.url();
                (Some(server), url)
            }
        };
        let commits = load.commits(&["on", "slow", "off"]);
        for commit in commits.into_iter().filter(|_| load.all_else()) {
            for clients in [1, 8, 32] {
                let place = Place::new(&url, commit, clients).await;
                let title = format!("commit {commit:<5}{clients:>3} clients");
                claims(&load, &place, &title).await;
                place.close().await;
            }
            let place = Place::new(&url, commit, 8).await;
            in_bulk(&load, &place, commit).await;
            place.close().await;
        }
        for rows in load.rows() {
            against_many(&load, &url, rows).await;
        }
    });
}

/// New events, known ones, and transactions, each beside its floor.
async fn claims(load: &Load, place: &Place, title: &str) {
    let rates = load
        .compare(&[(place, cases::bare_insert), (place, cases::claim)])
        .await;
    rates.print(title, &["bare insert", "claim, new (>= 0.85)"]);
    cases::keep_known(place).await;
    let rates = load
        .compare(&[(place, cases::locking_mix), (place, cases::claim_mix)])
        .await;
    rates.print(
        title,
        &["locking claim, 90 % known", "claim, 90 % known (>= 3)"],
    );
    let rates = load
        .compare(&[(place, cases::bare_transaction), (place, cases::claim_in)])
        .await;
    rates.print(title, &["bare transaction", "claim_in, settle_in (>= 0.6)"]);
}

/// Batches beside single claims, purges, and what is written to the log.
async fn in_bulk(load: &Load, place: &Place, commit: &str) {
    let title = format!("commit {commit:<5}  1 client ");
    let alone = &place.alone();
    let rates = load
        .compare(&[(alone, cases::claim), (alone, cases::claim_many)])
        .await;
    rates.print(&title, &["claim, new", "claim_many of 500 (>= 10)"]);
    cases::expired(alone, load.rounds() * cases::STEP).await;
    let rates = load
        .compare_once(&[(alone, cases::bare_delete), (alone, cases::purge)])
        .await;
    rates.print(&title, &["bare delete", "purge of 1,000"]);
    if commit == "off" {
        cases::keep_known(alone).await;
        cases::logged(alone, "bare insert", cases::bare_insert).await;
        cases::logged(alone, "claim, new", cases::claim).await;
        cases::logged(alone, "claim, 90 % known", cases::claim_mix).await;
        cases::logged(alone, "locking claim, 90 % known", cases::locking_mix).await;
        cases::logged(alone, "bare transaction", cases::bare_transaction).await;
        cases::logged(alone, "claim_in, settle_in", cases::claim_in).await;
    }
}

/// The same claims on an empty table and on one with many receipts.
async fn against_many(load: &Load, url: &str, rows: usize) {
    let (empty, full) = (
        &Place::new(url, "off", 8).await,
        &Place::new(url, "off", 8).await,
    );
    cases::preload(full, rows).await;
    let title = "commit off     8 clients";
    let both = [
        (empty, cases::claim as load::Work<Place>),
        (full, cases::claim),
    ];
    let kept = format!("claim, {rows} kept (>= 0.77)");
    let names = ["claim, empty table, checkpoint", &kept];
    load.compare(&both).await.print(title, &names);
    load.go_on(full, cases::claim).await;
    let names = ["claim, empty table, later", &kept];
    load.compare(&both).await.print(title, &names);
    cases::stats(full, rows).await;
    empty.clone().close().await;
    full.clone().close().await;
}
