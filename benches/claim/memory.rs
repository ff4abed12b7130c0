//! The stores in memory, filled, timed and printed.

use std::{
    sync::{
        Barrier,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use hookproof::EventKey;
use hookproof_benches::{Mode, Time};

use crate::stores::{Store, all};

const BUDGET: Duration = Duration::from_secs(6);
const LEAST_ROUNDS: usize = 30;

pub fn run(mode: Mode) {
    let (kept, batch) = match mode {
        Mode::Once => (1000, 10),
        Mode::Ratios | Mode::Full => (1_000_000, 1000),
    };
    for store in all(2 * kept) {
        let bytes = bytes_of(store.as_ref(), kept);
        println!("{:<24} {kept} kept: {:.0} bytes each", store.name(), bytes);
    }
    let stores = all(2 * kept);
    let filled = fill(&stores, kept, batch);
    for (store, nanos) in stores.iter().zip(&filled) {
        let (name, ratio) = (store.name(), nanos / filled[0]);
        println!(
            "{name:<24} filling    1 thread(s), 0 to {kept} kept {nanos:>6.0} ns {ratio:>6.2}x"
        );
    }
    for (task, again) in [("new", false), ("duplicate", true)] {
        for threads in [1, 2] {
            let times = measure(&stores, kept, batch, threads, again, mode.budget(BUDGET));
            for (store, time) in stores.iter().zip(times) {
                let name = store.name();
                println!("{name:<24} {task:<10} {threads} thread(s), {kept} kept {time}");
            }
        }
    }
}

fn key(id: usize) -> EventKey {
    EventKey::business("", "bench", &id.to_string()).expect("a sound key")
}

/// Fills a store, and returns the bytes allocated for each event.
fn bytes_of(store: &dyn Store, kept: usize) -> f64 {
    const CHUNK: usize = 1000;
    let alone = Barrier::new(1);
    let mut bytes = 0;
    for first in (0..kept).step_by(CHUNK) {
        let keys: Vec<_> = (first..kept.min(first + CHUNK)).map(key).collect();
        let counted = allocation_counter::measure(|| {
            store.keep(&keys, &alone);
        });
        bytes += counted.bytes_current;
    }
    bytes as f64 / kept as f64
}

/// Fills all stores in turn, batch by batch, and returns the nanoseconds that each event took.
/// The mean and not the median, because growing is part of it, and comes in few batches.
fn fill(stores: &[Box<dyn Store>], kept: usize, batch: usize) -> Vec<f64> {
    let alone = Barrier::new(1);
    let mut taken = vec![Duration::ZERO; stores.len()];
    allocation_counter::opt_out(|| {
        for first in (0..kept).step_by(batch) {
            let keys: Vec<_> = (first..kept.min(first + batch)).map(key).collect();
            for (store, taken) in stores.iter().zip(&mut taken) {
                *taken += store.keep(&keys, &alone);
            }
        }
    });
    let each = |taken: Duration| taken.as_nanos() as f64 / kept as f64;
    taken.into_iter().map(each).collect()
}

/// Times all stores in turn, on as many threads at once; in the order of `stores`.
fn measure(
    stores: &[Box<dyn Store>],
    kept: usize,
    batch: usize,
    threads: usize,
    again: bool,
    budget: Duration,
) -> Vec<Time> {
    let rounds = if budget.is_zero() { 1 } else { LEAST_ROUNDS };
    let begin = Instant::now();
    let start = Barrier::new(threads);
    let mut results: Vec<Vec<f64>> = vec![Vec::new(); stores.len()];
    let mut round = 0;
    // One round after the other, each on threads that live as long as it does, so that the main
    // thread alone decides whether there is another.
    while round < rounds || begin.elapsed() < budget {
        let taken: Vec<AtomicU64> = stores.iter().map(|_| AtomicU64::new(0)).collect();
        let work = |thread: usize| {
            let at = (round * threads + thread) * batch;
            let ids = (at..at + batch).map(|id| match again {
                // Spread over all that is kept; any odd number but 5 will do.
                true => id.wrapping_mul(7_919) % kept,
                false => kept + id,
            });
            let keys: Vec<_> = ids.map(key).collect();
            for turn in 0..stores.len() {
                let which = (round + turn) % stores.len();
                let store = &stores[which];
                let time = match again {
                    true => store.insert_again(&keys, &start),
                    false => store.insert_new(&keys, &start),
                };
                taken[which].fetch_add(time.as_nanos() as u64, Relaxed);
            }
        };
        // Counting allocations would cost the stores that allocate.
        let work = |thread| allocation_counter::opt_out(|| work(thread));
        std::thread::scope(|scope| {
            for thread in 1..threads {
                scope.spawn(move || work(thread));
            }
            work(0);
        });
        for (all, taken) in results.iter_mut().zip(taken) {
            all.push(taken.into_inner() as f64 / (threads * batch) as f64);
        }
        round += 1;
    }
    let times = results.iter().map(|all| Time::of(all, &results[0]));
    times.collect::<Option<_>>().expect("at least one round")
}
