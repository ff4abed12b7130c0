//! What must be so after a campaign.

use super::{
    backend::Arena,
    plan::{COPIES, Fault, Plan, Point, Way},
    queue::Tally,
    wire::Told,
};

const EFFECTS: &str = "SELECT count(*) FROM effects";
const EVENTS: &str = "SELECT count(DISTINCT event) FROM effects";
const MORE_THAN_ONE: &str =
    "SELECT count(*) FROM (SELECT event FROM effects GROUP BY event HAVING count(*) <> 1) e";
/// A lease acts once, however often its event was tried.
const TWICE_BY_ONE_LEASE: &str =
    "SELECT count(*) FROM (SELECT event FROM effects GROUP BY event, fence HAVING count(*) > 1) e";
/// Each effect but an event's first belongs to an attempt after the first, with a fence of its own, and
/// none to a claim that its receipt does not know of.
const EXPLAINED: &str = "SELECT count(*) FROM webhook_receipt r JOIN effects e ON e.event = r.event_id \
     WHERE e.attempt <= r.attempts AND e.fence <= r.fence AND (e.attempt > 1 OR NOT EXISTS \
     (SELECT 1 FROM effects f WHERE f.event = e.event AND f.fence < e.fence))";
const RECEIPTS: &str = "SELECT count(*) FROM webhook_receipt";
const PROCESSED: &str = "SELECT count(*) FROM webhook_receipt WHERE state = 2";
const TAKEN_OVER: &str = "SELECT count(*) FROM webhook_receipt WHERE attempts > 1";

pub(crate) fn audit<A: Arena>(arena: &A, name: &str, plan: &Plan, tally: &Tally) {
    let number = |sql| usize::try_from(arena.number(sql)).unwrap();
    let events = tally.events;
    let (effects, acted_on, taken_over) = (number(EFFECTS), number(EVENTS), number(TAKEN_OVER));
    println!(
        "| campaign | events | deliveries | new | duplicates | in progress | unanswered | faults | \
         sessions cut | events tried again | effects | of them double | time |"
    );
    println!(
        "| {name} | {events} | {} | {} | {} | {} | {} | {} | {} | {taken_over} | {effects} | {} | {} s |",
        tally.deliveries,
        tally.of(Told::New),
        tally.of(Told::Duplicate),
        tally.of(Told::InProgress),
        tally.unanswered,
        tally.faults,
        tally.cuts,
        effects - acted_on,
        tally.seconds,
    );
    println!("| {name} | {:?}", tally.told);

    // Nothing lost, nothing stuck, nothing given up.
    assert_eq!((number(RECEIPTS), number(PROCESSED)), (events, events));
    assert_eq!(acted_on, events);
    assert_eq!(number(TWICE_BY_ONE_LEASE), 0);
    assert_eq!(number(EXPLAINED), effects);
    if plan.way == Way::Transaction {
        // Exactly once.
        assert_eq!((effects, number(MORE_THAN_ONE)), (events, 0));
    } else {
        assert!(effects >= events);
    }

    // All were delivered, and it was the fault that was survived.
    assert_eq!(
        tally.of(Told::New) + tally.of(Told::Duplicate),
        events * COPIES
    );
    assert!(events >= Plan::events());
    assert_eq!(tally.faults, plan.number_of_faults());
    assert!(tally.faults > 0);
    match plan.fault {
        Fault::WorkerKilled => assert!(tally.unanswered > tally.faults),
        Fault::ServerKilled => assert!(tally.of(Told::Unavailable) > 0),
        Fault::Cut => assert!(tally.cuts > 0 && tally.of(Told::Unavailable) > 0),
        Fault::Exhausted => assert!(tally.of(Told::Starved) > 0),
        Fault::DiskFull => assert!(tally.of(Told::DiskFull) > 0),
        // Each is in the middle of an attempt, and none of them is stretched by it.
        Fault::ClockBack => {}
    }
    let acts_and_dies =
        plan.fault == Fault::WorkerKilled && plan.points.contains(&Point::Committed);
    if plan.way != Way::Transaction && acts_and_dies {
        // Who dies between effect and settlement leaves an effect that comes again.
        assert!(effects > events);
    }
}
