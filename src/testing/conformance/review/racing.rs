//! Races, counted.

use super::{
    super::{
        bench::key,
        inbox::bench::body,
        racing::{RACERS, patiently},
    },
    bench::Desk,
};
use crate::{
    Verdict,
    inbox::Accepted,
    review::{Admission, Discarding, Kept, ReviewStatus},
};

/// The same delivery many times at once is new once.
pub(super) fn one_is_first_to_keep(desk: &Desk<'_>) {
    for round in 0..desk.rounds.min(50) {
        let case = desk.stale_case(&format!("e{round}"), "late");
        let news = desk.race(RACERS, |_| match desk.keep(case.clone()) {
            Kept::New(_) => 1,
            Kept::Known(_) => 0,
        });
        assert_eq!(news.iter().sum::<u32>(), 1);
    }
}

/// One admits, and the others are told so, unless they come before it is committed.
pub(super) fn one_admits(desk: &Desk<'_>) {
    for round in 0..desk.rounds.min(50) {
        let id = format!("e{round}");
        let review = desk.kept(desk.stale_case(&id, &body(&id)));
        let admitted = desk.race(RACERS, |_| match desk.admit(&review.id) {
            Admission::Accepted(..) => 1,
            Admission::Resolved(_) | Admission::InProgress { .. } => 0,
            other => panic!("an answer out of nowhere: {other:?}"),
        });
        assert_eq!(admitted.iter().sum::<u32>(), 1);
        assert_eq!(desk.done(&id).attempts, 1);
        desk.none_due();
    }
}

/// Either it is admitted or discarded, and an event is there in the first case alone.
pub(super) fn admit_against_discard(desk: &Desk<'_>) {
    for round in 0..desk.rounds.min(50) {
        let id = format!("e{round}");
        let review = desk.kept(desk.stale_case(&id, &body(&id)));
        let won = desk.race(8, |racer| match racer % 2 {
            0 => matches!(desk.admit(&review.id), Admission::Accepted(..)),
            _ => matches!(desk.discard(&review.id), Discarding::Discarded(_)),
        });
        assert_eq!(won.iter().filter(|won| **won).count(), 1, "{won:?}");
        let is_admitted = won.iter().step_by(2).any(|won| *won);
        let status = match is_admitted {
            true => ReviewStatus::Admitted,
            false => ReviewStatus::Discarded,
        };
        assert_eq!(desk.bare(&review.id).status, status);
        assert_eq!(desk.get(&key(&id)).is_some(), is_admitted);
        for (lease, _) in desk.due() {
            assert!(is_admitted, "discarded and leased");
            desk.settle(lease, Verdict::done("done"));
        }
    }
}

/// The sender repeats in time what an operator admits: it is one event.
pub(super) fn admit_against_accept(desk: &Desk<'_>) {
    for round in 0..desk.rounds.min(50) {
        let id = format!("e{round}");
        let review = desk.kept(desk.stale_case(&id, &body(&id)));
        let parcel = desk.parcel(&id);
        let news = desk.race(8, |racer| match racer % 2 {
            0 => u32::from(matches!(desk.admit(&review.id), Admission::Accepted(..))),
            _ => {
                let accepted = patiently(|| {
                    let accept = async { desk.inbox.store.accept(parcel.clone()).await };
                    desk.wait(accept)
                });
                u32::from(matches!(accepted, Accepted::New(_)))
            }
        });
        assert_eq!(news.iter().sum::<u32>(), 1);
        assert!(!matches!(desk.admit(&review.id), Admission::Accepted(..)));
        assert_eq!(desk.bare(&review.id).status, ReviewStatus::Admitted);
        assert_eq!(desk.done(&id).attempts, 1);
        desk.none_due();
    }
}
