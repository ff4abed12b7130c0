//! Campaigns: ten thousand deliveries, five of each of two thousand events, by senders that repeat what
//! is not answered 2xx, while one kind of fault happens again and again. Afterwards the effects are
//! counted.
//!
//! The parent sends, and does harm; worker processes (this test binary once more) handle. They speak
//! over loopback connections, each of which is one sender: a batch of deliveries goes out, an answer
//! for each comes back, or the worker is dead and the batch goes out again. A fault is due when so
//! many events are done, not at a time. The worker then stops in the middle of a batch, at a point
//! that is known, and says so; the fault happens there, and to all the other batches wherever they are.
//! A campaign goes on until each fault has met a handler with something to do, with more events than
//! planned if it must be. A slow machine takes longer, and what has not ended after ten minutes counts
//! as stuck, and fails.
//!
//! With ten thousand events, fifty thousand deliveries, and the counts shown:
//!
//! ```text
//! HOOKPROOF_CAMPAIGN_EVENTS=10000 cargo test --all-features --test campaign -- --nocapture
//! ```
//!
//! `sqlite::`, `postgres::` or `mysql::` at the end is one database by itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::print_stdout
)]
#![cfg(unix)]

#[cfg(any(feature = "sqlx-postgres", feature = "sqlx-mysql"))]
#[path = "../common_server/mod.rs"]
mod common_server;

#[macro_use]
mod lists;

mod audit;
mod backend;
mod faults;
mod handler;
#[cfg(feature = "inbox")]
mod inbox;
#[cfg(feature = "sqlx-mysql")]
mod mysql;
mod plan;
#[cfg(feature = "sqlx-postgres")]
mod postgres;
mod process;
mod queue;
mod requests;
mod sender;
#[cfg(feature = "rusqlite")]
mod sqlite;
mod ways;
mod wire;

use std::{future::Future, sync::OnceLock};

fn run<F: Future>(future: F) -> F::Output {
    static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    RUNTIME
        .get_or_init(|| tokio::runtime::Runtime::new().unwrap())
        .block_on(future)
}

/// Plays the parent, or the worker if that is what this process was started as.
fn campaign<A: backend::Arena>(name: &str, plan: &plan::Plan) {
    match wire::Post::of_this_process() {
        Some(post) => handler::work::<A::Backend>(&post, plan),
        None => {
            let arena = A::new(plan);
            let tally = sender::send_all(&arena, name, plan);
            audit::audit(&arena, name, plan, &tally);
        }
    }
}
