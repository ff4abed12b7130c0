//! The clock and the loop of the benches.
//!
//! Cases that are to be compared form a [`Group`]. Their batches take turns, so that whatever
//! else the machine does hits all of them alike. The time shown is that of the fastest tenth,
//! since noise mostly adds; not of the very fastest, since a virtual machine's clock may jump. The
//! ratio is the median of the ratios within each round: two fastest batches may come from moments
//! at which the CPU ran at different speeds, two neighbours seldom do. On Linux the clock is the
//! thread's CPU time, elsewhere the wall clock.

use std::{fmt, hint::black_box, time::Duration};

/// What was asked for on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Every case once, as a test: `cargo test --benches`, or `--test`.
    Once,
    /// Under a minute: `cargo bench … -- --ratios`.
    Ratios,
    /// Four times as many samples: plain `cargo bench`.
    Full,
}

impl Mode {
    /// Reads the arguments that cargo and the user passed.
    pub fn from_args() -> Self {
        let has = |flag: &str| std::env::args().any(|arg| arg == flag);
        // Cargo says `--bench` when it benches, and nothing when it tests.
        match (has("--test"), has("--ratios"), has("--bench")) {
            (true, _, _) | (false, false, false) => Mode::Once,
            (false, true, _) => Mode::Ratios,
            (false, false, true) => Mode::Full,
        }
    }

    /// Time to spend, where `ratios` is right for [`Mode::Ratios`].
    pub fn budget(self, ratios: Duration) -> Duration {
        match self {
            Mode::Once => Duration::ZERO,
            Mode::Ratios => ratios,
            Mode::Full => ratios.saturating_mul(4),
        }
    }
}

/// Time spent by this thread, from an arbitrary start.
#[cfg(target_os = "linux")]
pub fn clock() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// Time spent by this thread, from an arbitrary start.
#[cfg(not(target_os = "linux"))]
pub fn clock() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

/// One operation.
struct Case<'a> {
    name: String,
    allocations: u64,
    runs: u32,
    /// Nanoseconds per run in each round.
    rounds: Vec<f64>,
    batch: Box<dyn FnMut(u32) + 'a>,
}

/// Cases that are compared with each other. The first one is the floor.
#[derive(Default)]
pub struct Group<'a> {
    cases: Vec<Case<'a>>,
}

/// The result of one case.
#[derive(Debug, Clone)]
pub struct Row {
    /// The case.
    pub name: String,
    /// The times, unless it was run as a test.
    pub time: Option<Time>,
    /// Allocations in one run.
    pub allocations: u64,
}

/// What a case took.
#[derive(Debug, Clone, Copy)]
pub struct Time {
    /// Nanoseconds per run, of the slowest in the fastest tenth of the batches.
    pub nanos: f64,
    /// The same over the group's first case, as the median of all rounds.
    pub ratio: f64,
}

impl Time {
    /// From the nanoseconds per run of a case in each round, and of its floor in the same rounds.
    pub fn of(rounds: &[f64], floor: &[f64]) -> Option<Self> {
        let ratios = rounds.iter().zip(floor).map(|(ours, floor)| ours / floor);
        Some(Self {
            nanos: quantile(rounds.iter().copied(), 10)?,
            ratio: quantile(ratios, 2)?,
        })
    }
}

/// The value that one in `nth` is below.
fn quantile(values: impl Iterator<Item = f64>, nth: usize) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / nth).copied()
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>8.0} ns {:>6.2}x", self.nanos, self.ratio)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.time {
            Some(time) => write!(f, "{time}")?,
            None => write!(f, "{:>19}", "ran once")?,
        }
        write!(f, " {:>3} allocs", self.allocations)
    }
}

/// A batch is long enough for the clock's own cost not to count.
const BATCH: Duration = Duration::from_micros(50);
const LEAST_ROUNDS: usize = 30;

impl<'a> Group<'a> {
    /// Adds an operation; it must do the same at every run, and is run once right here.
    pub fn case<R>(&mut self, name: impl Into<String>, mut run: impl FnMut() -> R + 'a) {
        let allocations = allocation_counter::measure(|| {
            black_box(run());
        })
        .count_total;
        self.cases.push(Case {
            name: name.into(),
            allocations,
            runs: 1,
            rounds: Vec::new(),
            batch: Box::new(move |runs| {
                for _ in 0..runs {
                    black_box(run());
                }
            }),
        });
    }

    /// Measures all cases for about `budget` of wall-clock time; at zero, not at all.
    pub fn run(mut self, budget: Duration) -> Vec<Row> {
        if !budget.is_zero() {
            // Counting allocations would cost the cases that allocate.
            allocation_counter::opt_out(|| self.measure(budget));
        }
        let floor = self
            .cases
            .first()
            .map(|case| case.rounds.clone())
            .unwrap_or_default();
        let row = |case: Case<'_>| Row {
            time: Time::of(&case.rounds, &floor),
            name: case.name,
            allocations: case.allocations,
        };
        self.cases.into_iter().map(row).collect()
    }

    fn measure(&mut self, budget: Duration) {
        let start = std::time::Instant::now();
        for case in &mut self.cases {
            while case.batch() < BATCH {
                case.runs *= 2;
            }
            case.rounds.clear();
        }
        let mut round = 0;
        while round < LEAST_ROUNDS || start.elapsed() < budget {
            // No case is always the one that comes after another.
            let turn = round % self.cases.len();
            let (later, first) = self.cases.split_at_mut(turn);
            for case in first.iter_mut().chain(later) {
                case.batch();
            }
            round += 1;
        }
    }
}

impl Case<'_> {
    fn batch(&mut self) -> Duration {
        let start = clock();
        (self.batch)(self.runs);
        let taken = clock() - start;
        self.rounds
            .push(taken.as_nanos() as f64 / f64::from(self.runs));
        taken
    }
}
