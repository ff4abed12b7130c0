//! Clients at work for a while, in turns.

use std::{
    future::Future,
    pin::Pin,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use hookproof::IdempotencyStore;
use hookproof_benches::Mode;

use crate::place::Place;

/// What a client does once, and how many events that was.
pub type Work = fn(Place) -> Pin<Box<dyn Future<Output = u64> + Send>>;

pub struct Load {
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
            rounds,
            turn: Duration::from_millis(millis),
        }
    }

    pub async fn rounds(&self, mut round: impl AsyncFnMut(usize)) {
        for number in 0..self.rounds {
            round(number).await;
        }
    }

    /// Events per second of all clients together.
    pub async fn once(&self, place: &Place, work: Work) -> f64 {
        let begin = Instant::now();
        let turn = self.turn;
        let clients = (0..place.clients).map(|_| {
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
    pub async fn compare(&self, place: &Place, cases: &[Work]) -> Rates {
        let mut rates = Rates::new(cases.len());
        for work in cases {
            // Statements are prepared, pages are made.
            work(place.clone()).await;
        }
        self.rounds(async |round| {
            for turn in 0..cases.len() {
                let which = (round + turn) % cases.len();
                rates.add(which, self.once(place, cases[which]).await);
            }
        })
        .await;
        rates
    }

    /// Rows per second, a thousand at a time, until all are gone.
    pub async fn purge(&self, place: &Place) -> f64 {
        let begin = Instant::now();
        let mut rows = 0;
        loop {
            let purged = place.store.purge(1000).await.expect("PostgreSQL answers");
            rows += purged;
            if purged < 1000 {
                return rows as f64 / begin.elapsed().as_secs_f64();
            }
        }
    }
}

/// Rates by case and round.
pub struct Rates(Vec<Vec<f64>>);

impl Rates {
    pub fn new(cases: usize) -> Self {
        Self(vec![Vec::new(); cases])
    }

    pub fn add(&mut self, case: usize, rate: f64) {
        self.0[case].push(rate);
    }

    pub fn print(&self, title: &str, names: &[&str]) {
        for (name, rates) in names.iter().zip(&self.0) {
            let ratios = rates
                .iter()
                .zip(&self.0[0])
                .map(|(ours, floor)| ours / floor);
            let (rate, ratio) = (median(rates.iter().copied()), median(ratios));
            println!("{title}  {name:<32} {rate:>9.0}/s {ratio:>6.2}x");
        }
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
