//! What is still to be delivered, what has been answered, and when the next fault is due.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::{
    plan::{BATCH, COPIES, Fault, PATIENCE, Plan, Point},
    wire::Told,
};

pub(crate) struct Queue {
    state: Mutex<State>,
    begun: Instant,
    /// As planned. More are made if faults meet too few.
    events: usize,
    fault: Fault,
    faults: usize,
    points: &'static [Point],
}

struct State {
    /// Numbers of events, each as often as it is still to be delivered.
    waiting: VecDeque<usize>,
    /// Events that are not delivered at all until all faults have happened or have nothing else to
    /// happen to. Each fault meets one of them, so that it meets a handler with something to do.
    fresh: Vec<usize>,
    underway: usize,
    tally: Tally,
    /// The events that were answered 2xx, and how many.
    is_done: Vec<bool>,
    done: usize,
    /// The worker to which a fault is happening.
    trouble: Option<usize>,
    is_stopped: bool,
}

/// More events than fit into a full database or are done while a fault begins, and some to each fault.
const FRESH: usize = 400;
const FRESH_FOR_EACH: usize = 4;

/// What was counted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// As planned, or more.
    pub(crate) events: usize,
    /// Sent, repeats and all.
    pub(crate) deliveries: usize,
    pub(crate) told: BTreeMap<Told, usize>,
    /// Without an answer, since the worker died.
    pub(crate) unanswered: usize,
    /// Faults that happened.
    pub(crate) faults: usize,
    /// Sessions that were cut.
    pub(crate) cuts: usize,
    pub(crate) seconds: u64,
}

impl Tally {
    pub(crate) fn of(&self, told: Told) -> usize {
        self.told.get(&told).copied().unwrap_or_default()
    }
}

/// A batch to send, and where something is to happen to it.
pub(crate) struct Batch {
    pub(crate) events: Vec<usize>,
    pub(crate) trouble: Option<Point>,
}

/// The same order each time, by splitmix64.
fn shuffle(items: &mut [usize]) {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for n in (1..items.len()).rev() {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        items.swap(n, (z % (n as u64 + 1)) as usize);
    }
}

impl Queue {
    pub(crate) fn new(plan: &Plan) -> Self {
        let (events, faults) = (Plan::events(), plan.number_of_faults());
        let fresh = (FRESH + FRESH_FOR_EACH * faults).min(events / 2);
        let mut all: Vec<_> = (fresh..events).flat_map(|event| [event; COPIES]).collect();
        shuffle(&mut all);
        Self {
            state: Mutex::new(State {
                waiting: all.into(),
                fresh: (0..fresh).collect(),
                underway: 0,
                tally: Tally::default(),
                is_done: vec![false; events],
                done: 0,
                trouble: None,
                is_stopped: false,
            }),
            begun: Instant::now(),
            events,
            fault: plan.fault,
            faults,
            points: plan.points,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next batch for a worker; none once everything has been answered 2xx.
    pub(crate) fn take(&self, worker: usize) -> Option<Batch> {
        loop {
            let mut state = self.state();
            let is_left = !state.waiting.is_empty()
                || !state.fresh.is_empty()
                || state.tally.faults < self.faults;
            if state.is_stopped || (!is_left && state.underway == 0) {
                return None;
            }
            self.be_patient(&state);
            if let Some(batch) = self.batch(&mut state, worker) {
                state.underway += batch.events.len();
                state.tally.deliveries += batch.events.len();
                return Some(batch);
            }
            drop(state);
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn batch(&self, state: &mut State, worker: usize) -> Option<Batch> {
        let is_elsewhere = state.trouble.is_some_and(|troubled| troubled != worker);
        if is_elsewhere && self.fault == Fault::Exhausted {
            // What is left is for those who are to go without.
            return None;
        }
        if state.tally.faults == self.faults {
            let fresh = std::mem::take(&mut state.fresh);
            state
                .waiting
                .extend(fresh.iter().flat_map(|&event| [event; COPIES]));
        }
        let trouble = self.due(state);
        let fresh = match trouble {
            Some(_) => 1,
            // Somebody must be there to go without.
            None if self.fault.is_want() && state.waiting.is_empty() => BATCH,
            None => 0,
        };
        while state.tally.faults < self.faults && state.fresh.len() < fresh {
            state.fresh.push(state.is_done.len());
            state.is_done.push(false);
        }
        let at = state.fresh.len().saturating_sub(fresh);
        let mut events = state.fresh.split_off(at);
        let again = events.iter().flat_map(|&event| [event; COPIES - 1]);
        state.waiting.extend(again);
        if fresh < BATCH {
            let more = (BATCH - events.len()).min(state.waiting.len());
            events.extend(state.waiting.drain(..more));
        }
        if events.is_empty() {
            return None;
        }
        if trouble.is_some() {
            state.trouble = Some(worker);
        }
        Some(Batch { events, trouble })
    }

    /// The last fault is due with a tenth of the events still to be done.
    fn due(&self, state: &State) -> Option<Point> {
        let number = state.tally.faults;
        let is_due = state.done * 10 * (self.faults + 1) >= (number + 1) * self.events * 9;
        let is_left = number < self.faults && state.trouble.is_none();
        (is_left && (is_due || state.waiting.is_empty()))
            .then(|| self.points[number % self.points.len()])
    }

    fn be_patient(&self, state: &State) {
        let (is_late, tally) = (self.begun.elapsed() > PATIENCE, &state.tally);
        assert!(
            !is_late,
            "stuck, and given up after {PATIENCE:?}: {tally:?}"
        );
    }

    /// For what waits for something to be so. False if that is in vain, since others have failed.
    pub(crate) fn wait(&self) -> bool {
        std::thread::sleep(Duration::from_millis(20));
        self.is_on()
    }

    /// Whether nobody has failed. Fails if it has taken too long.
    pub(crate) fn is_on(&self) -> bool {
        let state = self.state();
        if !state.is_stopped {
            self.be_patient(&state);
        }
        !state.is_stopped
    }

    pub(crate) fn answered(&self, batch: &Batch, answers: &[Told]) {
        assert_eq!(batch.events.len(), answers.len());
        let mut state = self.state();
        state.underway -= answers.len();
        for (&event, &told) in batch.events.iter().zip(answers) {
            *state.tally.told.entry(told).or_default() += 1;
            if !told.is_2xx() {
                state.waiting.push_back(event);
            } else if !std::mem::replace(&mut state.is_done[event], true) {
                state.done += 1;
            }
        }
    }

    pub(crate) fn unanswered(&self, batch: &Batch) {
        let mut state = self.state();
        state.underway -= batch.events.len();
        state.tally.unanswered += batch.events.len();
        state.waiting.extend(&batch.events);
    }

    /// A fault has happened, or, if not, is still due.
    pub(crate) fn trouble_over(&self, happened: bool, cuts: usize) {
        let mut state = self.state();
        state.trouble = None;
        state.tally.faults += usize::from(happened);
        state.tally.cuts += cuts;
    }

    /// When one sender panics the others end as well.
    pub(crate) fn stop(&self) {
        self.state().is_stopped = true;
    }

    pub(crate) fn tally(&self) -> Tally {
        let state = self.state();
        assert_eq!((state.waiting.len(), state.underway), (0, 0));
        let mut tally = state.tally.clone();
        tally.events = state.is_done.len();
        tally.seconds = self.begun.elapsed().as_secs();
        tally
    }
}
