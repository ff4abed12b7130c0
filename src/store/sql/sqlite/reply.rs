//! One answer from a thread to a future, on the standard library alone.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

/// Where the answer is put. Dropped without one, it ends the wait all the same.
pub(super) struct Reply<T>(Arc<Shared<T>>);

/// Resolves to the answer, or to nothing if none will come.
pub(super) struct Answer<T>(Arc<Shared<T>>);

struct Shared<T>(Mutex<Place<T>>);

struct Place<T> {
    answer: Option<T>,
    waker: Option<Waker>,
    is_wanted: bool,
    is_over: bool,
}

pub(super) fn pair<T>() -> (Reply<T>, Answer<T>) {
    let shared = Arc::new(Shared(Mutex::new(Place {
        answer: None,
        waker: None,
        is_wanted: true,
        is_over: false,
    })));
    (Reply(shared.clone()), Answer(shared))
}

impl<T> Shared<T> {
    fn place(&self) -> MutexGuard<'_, Place<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Reply<T> {
    /// Whether the future is still there.
    pub(super) fn is_wanted(&self) -> bool {
        self.0.place().is_wanted
    }

    /// Answers. If the future is gone, the answer is dropped here, which gives back a lease in it.
    pub(super) fn send(self, answer: T) {
        let mut place = self.0.place();
        if place.is_wanted {
            place.answer = Some(answer);
        } else {
            // Dropping it may call code that is not ours, so not under the lock.
            drop(place);
            drop(answer);
        }
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        let waker = {
            let mut place = self.0.place();
            place.is_over = true;
            place.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Future for Answer<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut place = self.0.place();
        if place.is_over {
            return Poll::Ready(place.answer.take());
        }
        match &mut place.waker {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Poll::Pending
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        let unread = {
            let mut place = self.0.place();
            place.is_wanted = false;
            place.answer.take()
        };
        drop(unread);
    }
}
