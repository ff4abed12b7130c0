//! What happens to a worker whose handler stands still in the middle of a batch.

use std::{process::Command, sync::atomic::Ordering::SeqCst};

use super::{
    backend::Arena,
    plan::{APART, Fault, Way},
    process::Worker,
    queue::Queue,
    sender::Campaign,
};

/// So many deliveries must have failed for want of something before there is enough of it again.
const WANTING: usize = 20;

/// A fault that is due, and still is if this is dropped.
pub(crate) struct Pending<'q>(Option<&'q Queue>);

impl<'q> Pending<'q> {
    pub(crate) fn new(queue: &'q Queue) -> Self {
        Self(Some(queue))
    }

    pub(crate) fn over(mut self, cuts: usize) {
        if let Some(queue) = self.0.take() {
            queue.trouble_over(true, cuts);
        }
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Some(queue) = self.0 {
            queue.trouble_over(false, 0);
        }
    }
}

pub(crate) enum Ended {
    /// The worker goes on.
    Now { cuts: usize },
    /// It does not.
    Killed,
    /// Nothing has happened, since there was nothing to happen to.
    Not,
}

pub(crate) fn happen<A: Arena>(campaign: &Campaign<'_, A>, worker: &Worker) -> Ended {
    let mut cuts = 0;
    match campaign.plan.fault {
        Fault::WorkerKilled => {
            worker.kill();
            return Ended::Killed;
        }
        Fault::ServerKilled => campaign.arena.kill_server(),
        Fault::Cut => {
            cuts = campaign.arena.cut();
            if cuts == 0 {
                // None has come back yet since the last time.
                return Ended::Not;
            }
        }
        Fault::Exhausted => wait_for_the_wanting(campaign),
        Fault::DiskFull => {
            disk_full(campaign, true);
            wait_for_the_wanting(campaign);
            disk_full(campaign, false);
        }
        Fault::ClockBack => {
            campaign.clock.fetch_sub(APART, SeqCst);
        }
    }
    Ended::Now { cuts }
}

/// Until other handlers have failed.
fn wait_for_the_wanting<A: Arena>(campaign: &Campaign<'_, A>) {
    let before = campaign.wanting.load(SeqCst);
    while campaign.wanting.load(SeqCst) < before + WANTING && campaign.queue.wait() {}
}

/// In the caller's transactions by the connections' own limit of pages, of which each handler hears
/// with its next batch; on the pool, whose connections are the store's own, by a limit on files.
fn disk_full<A: Arena>(campaign: &Campaign<'_, A>, is_full: bool) {
    if campaign.plan.way == Way::Transaction {
        campaign.is_disk_full.store(is_full, SeqCst);
        return;
    }
    let limit = if is_full { "4096" } else { "unlimited" };
    for process in campaign.processes.lock().unwrap().values() {
        let done = Command::new("prlimit")
            .arg(format!("--pid={process}"))
            .arg(format!("--fsize={limit}:"))
            .status()
            .expect("prlimit, of the package util-linux");
        assert!(done.success());
    }
}
