//! Clients at work for a while, in turns. What all benches of servers share.

use std::{
    future::Future,
    pin::Pin,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use hookproof_benches::Mode;

/// What all clients of a case share. Clones share it too.
pub trait Clients: Clone + Send + 'static {
    fn clients(&self) -> usize;
}

pub type Done = Pin<Box<dyn Future<Output = u64> + Send>>;

/// What a client does once, and how many events that was.
pub type Work<P> = fn(P) -> Done;

/// Which of the settings of commits are measured: some, separated by commas; all if it is not set.
const COMMITS: &str = "HOOKPROOF_BENCH_COMMITS";

/// How many receipts are kept: some numbers, separated by commas. Then that alone is measured.
const ROWS: &str = "HOOKPROOF_BENCH_ROWS";

pub struct Load {
    mode: Mode,
    rounds: usize,
    turn: Duration,
}

impl Load {
    pub fn of(mode: Mode) -> Self {
        let (rounds, millis) = match mode {
            Mode::Once => (1, 0),
            Mode::Ratios => (7, 330),
            Mode::Full => (21, 330),
        };
        Self {
            mode,
            rounds,
            turn: Duration::from_millis(millis),
        }
    }

    /// Whether all but claims beside many kept receipts is measured.
    pub fn all_else(&self) -> bool {
        self.mode == Mode::Once || std::env::var(ROWS).is_err()
    }

    /// How many receipts are kept where that is measured.
    pub fn rows(&self) -> Vec<usize> {
        if self.mode == Mode::Once {
            return vec![1_000];
        }
        let rows = std::env::var(ROWS).unwrap_or_default();
        let numbers = rows.split(',').filter(|text| !text.trim().is_empty());
        let number = |text: &str| text.trim().parse().expect("numbers of rows");
        numbers.map(number).collect()
    }

    /// Those of a bench's settings that were asked for.
    pub fn commits(&self, all: &[&'static str]) -> Vec<&'static str> {
        let Ok(asked) = std::env::var(COMMITS) else {
            return all.to_vec();
        };
        let asked = |one: &&str| asked.split(',').any(|asked| asked.trim() == *one);
        all.iter().copied().filter(asked).collect()
    }

    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// Events per second of all clients together.
    async fn once<P: Clients>(&self, turn: Duration, place: &P, work: Work<P>) -> f64 {
        let begin = Instant::now();
        let clients = (0..place.clients()).map(|_| {
            let place = place.clone();
            tokio::spawn(async move {
                let mut done = 0;
                loop {
                    done += work(place.clone()).await;
                    if begin.elapsed() >= turn {
                        return done;
                    }
                }
            })
        });
        let done = join_all(clients.collect::<Vec<_>>()).await;
        let events: u64 = done.into_iter().map(|done| done.expect("no panic")).sum();
        events as f64 / begin.elapsed().as_secs_f64()
    }

    /// The rates of all cases in each round, the floor first.
    pub async fn compare<P: Clients>(&self, cases: &[(&P, Work<P>)]) -> Rates {
        for (place, work) in cases {
            // Statements are prepared, pages are made.
            work((*place).clone()).await;
        }
        self.take_turns(self.turn, cases).await
    }

    /// The same, but in each turn all do it just once.
    pub async fn compare_once<P: Clients>(&self, cases: &[(&P, Work<P>)]) -> Rates {
        self.take_turns(Duration::ZERO, cases).await
    }

    async fn take_turns<P: Clients>(&self, turn: Duration, cases: &[(&P, Work<P>)]) -> Rates {
        let mut rates = Rates(vec![Vec::new(); cases.len()]);
        for round in 0..self.rounds {
            for case in 0..cases.len() {
                let which = (round + case) % cases.len();
                let (place, work) = cases[which];
                rates.0[which].push(self.once(turn, place, work).await);
            }
        }
        rates
    }

    /// Does it for thirty turns, so that what comes after is past a beginning.
    pub async fn go_on<P: Clients>(&self, place: &P, work: Work<P>) {
        self.once(self.turn * 30, place, work).await;
    }
}

/// Rates by case and round.
pub struct Rates(Vec<Vec<f64>>);

impl Rates {
    /// The median rate, and the median of the ratios with the two that half of them are between.
    pub fn print(&self, title: &str, names: &[&str]) {
        for (name, rates) in names.iter().zip(&self.0) {
            let ratios = rates
                .iter()
                .zip(&self.0[0])
                .map(|(ours, floor)| ours / floor);
            let ratios = sorted(ratios);
            let at = |quarter: usize| ratios[(ratios.len() - 1) * quarter / 4];
            let rate = sorted(rates.iter().copied())[rates.len() / 2];
            println!(
                "{title}  {name:<34} {rate:>8.0}/s {:>6.2}x ({:.2} to {:.2})",
                at(2),
                at(1),
                at(3)
            );
        }
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}
