//! Calls that wait their turn for a thread with a connection.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use crate::store::StoreError;

use super::{
    reply::{Answer, pair},
    verbs::Verbs,
};

/// What is left of a call once it has run: told whether its transaction was committed, it answers.
pub(super) type After = Box<dyn FnOnce(Result<(), StoreError>)>;

/// A call: given a connection, or the reason why there is none.
pub(super) type Call = Box<dyn FnOnce(Result<&mut Verbs<'_>, StoreError>) -> After + Send>;

/// Whether a call that nobody waits for any more is still made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unwanted {
    /// A claim: nobody would act on it.
    Skip,
    /// A settlement: the action was done, whoever asked has gone.
    Run,
}

/// A queue in front of one thread or several. It needs no bound of its own: each call in it is a
/// future that somebody holds, or one give-back of a lease.
pub(super) struct Lane {
    state: Mutex<State>,
    ready: Condvar,
}

struct State {
    calls: VecDeque<(Call, AtClose)>,
    is_open: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AtClose {
    Refuse,
    Finish,
}

impl Lane {
    pub(super) fn new() -> Arc<Self> {
        let state = Mutex::new(State {
            calls: VecDeque::new(),
            is_open: true,
        });
        let ready = Condvar::new();
        Arc::new(Self { state, ready })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, call: Call, at_close: AtClose) {
        let mut state = self.state();
        if state.is_open {
            state.calls.push_back((call, at_close));
            self.ready.notify_one();
        } else {
            drop(state);
            drop(call);
        }
    }

    /// Queues `work`. Once it is committed `finish` makes the answer, still on the thread, so that
    /// a lease exists only for a claim that is written, and is given back if nobody takes it. The
    /// answer is nothing if the lane is closed.
    pub(super) fn submit<T, U>(
        &self,
        unwanted: Unwanted,
        work: impl FnOnce(&mut Verbs<'_>) -> Result<T, StoreError> + Send + 'static,
        finish: impl FnOnce(T) -> U + Send + 'static,
    ) -> Answer<Result<U, StoreError>>
    where
        T: 'static,
        U: Send + 'static,
    {
        let (reply, answer) = pair();
        let call: Call = Box::new(move |verbs| {
            if unwanted == Unwanted::Skip && !reply.is_wanted() {
                return Box::new(drop);
            }
            let done = verbs.and_then(work);
            Box::new(move |committed| {
                // Its own error says more than that of the group that it brought down.
                reply.send(done.and_then(|done| committed.map(|()| finish(done))));
            })
        });
        self.push(call, AtClose::Refuse);
        answer
    }

    /// Queues work that nobody waits for, and that is still done when the store closes.
    pub(super) fn leave(
        &self,
        work: impl FnOnce(&mut Verbs<'_>) -> Result<(), StoreError> + Send + 'static,
    ) {
        let call: Call = Box::new(move |verbs| {
            // Nobody is there to be told; the lease's end does the same, later.
            let _ = verbs.and_then(work);
            Box::new(drop)
        });
        self.push(call, AtClose::Finish);
    }

    /// Waits for calls and takes up to `most` of them; none means that the lane is closed.
    pub(super) fn take(&self, most: usize) -> Vec<Call> {
        let mut state = self.state();
        while state.is_open && state.calls.is_empty() {
            state = self
                .ready
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let most = most.min(state.calls.len());
        state.calls.drain(..most).map(|(call, _)| call).collect()
    }

    pub(super) fn is_open(&self) -> bool {
        self.state().is_open
    }

    /// Lets nothing in any more, and refuses what waits, except for what must still be done.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_open = false;
        let (kept, refused) = std::mem::take(&mut state.calls)
            .into_iter()
            .partition::<VecDeque<_>, _>(|(_, at_close)| *at_close == AtClose::Finish);
        state.calls = kept;
        drop(state);
        self.ready.notify_all();
        // Dropping a call answers it, and may wake code that is not ours, so not under the lock.
        drop(refused);
    }
}

/// Closes a lane for good when its thread ends in whatever way, so that nobody waits for ever.
pub(super) struct ClosesLane(pub(super) Arc<Lane>);

impl Drop for ClosesLane {
    fn drop(&mut self) {
        self.0.close();
        let left = std::mem::take(&mut self.0.state().calls);
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::Future,
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use super::*;

    fn now<F: Future>(future: F) -> Poll<F::Output> {
        pin!(future).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn closing_refuses_calls_and_keeps_what_was_left() {
        let lane = Lane::new();
        let before = lane.submit(Unwanted::Run, |_| Ok(()), |()| ());
        lane.leave(|_| Ok(()));
        lane.close();
        let after = lane.submit(Unwanted::Run, |_| Ok(()), |()| ());
        lane.leave(|_| Ok(()));
        assert!(matches!(now(before), Poll::Ready(None)));
        assert!(matches!(now(after), Poll::Ready(None)));
        assert_eq!(lane.take(10).len(), 1);
        assert!(lane.take(10).is_empty());
    }

    #[test]
    fn calls_are_taken_in_order_and_bounded() {
        let lane = Lane::new();
        let mut answers: Vec<_> = (0..5)
            .map(|n| lane.submit(Unwanted::Skip, |_| Ok(()), move |()| n))
            .collect();
        let calls = lane.take(3);
        assert_eq!((calls.len(), lane.take(3).len()), (3, 2));
        // Dropped without a run, a call ends its wait.
        drop(calls);
        assert!(matches!(now(answers.remove(0)), Poll::Ready(None)));
    }

    #[test]
    fn a_call_is_told_why_it_could_not_run() {
        let lane = Lane::new();
        let answer = lane.submit(Unwanted::Run, |_| Ok(()), |()| ());
        let busy = || StoreError::new(crate::store::StoreErrorKind::Busy);
        for call in lane.take(1) {
            call(Err(busy()))(Ok(()));
        }
        let told = now(answer);
        assert!(matches!(told, Poll::Ready(Some(Err(error))) if error.kind() == busy().kind()));
    }
}
