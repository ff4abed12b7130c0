//! What it costs to claim one event.
//!
//! ```text
//! cargo bench --manifest-path benches/Cargo.toml --bench claim -- --ratios
//! cargo bench --manifest-path benches/Cargo.toml --bench claim --features sqlite -- --ratios
//! ```
//!
//! **In memory.** Measured is the claim of [`MemoryStore`](hookproof::MemoryStore): for a million
//! new events from an empty store on (`filling`, which growing is a part of), and then, with a
//! million kept and nothing growing, for an event that is new and for one that was processed, on
//! one thread and on two at once. A claim that is new takes the event's identity over, stores a receipt and hands
//! out a lease; a duplicate is answered with a copy of its receipt.
//!
//! **The floor** is less: `DashMap::insert` of the event's 16-byte digest and a number, with no
//! receipt, no lease, no fence and no answer. Beside it `HashMap::insert` under a mutex, and
//! `insert` into a moka cache with a time to live. All hash as they come.
//!
//! **How:** a batch is a thousand events per thread, and the stores take turns batch by batch. The
//! identities (`EventKey`, `Claiming`, digests) are made before the clock starts. After it has
//! stopped, what was inserted is taken out again, so that the size stays; leases are settled
//! first. Receipts of duplicates are dropped within the time. What counts is CPU time, summed over
//! the threads and divided by the claims; see [`hookproof_benches`]. Memory is what the allocator
//! handed out for the million, `EventKey`s' texts included in hookproof's.
//!
//! **SQLite** (feature `sqlite`): see `sqlite.rs`.

mod memory;
#[cfg(feature = "sqlite")]
mod sqlite;
mod stores;

use hookproof_benches::Mode;

fn main() {
    let mode = Mode::from_args();
    memory::run(mode);
    #[cfg(feature = "sqlite")]
    sqlite::run(mode);
}
