//! The campaigns, written once for all stores that they fit.
// Whatever stores are built in.
#![allow(unused_macros)]

/// One test for each campaign, which is the parent or one of its workers.
macro_rules! campaigns {
    ($arena:ty: $($name:ident = $plan:expr;)*) => {$(
        #[test]
        fn $name() {
            let (_, module) = module_path!().split_once("::").unwrap();
            let name = format!("{module}::{}", stringify!($name));
            crate::campaign::<$arena>(&name, &$plan);
        }
    )*};
}

macro_rules! for_every_store {
    ($arena:ty) => {
        campaigns! { $arena:
            workers_killed_in_transactions =
                Plan::new(Way::Transaction, Fault::WorkerKilled, 25, IN_TRANSACTIONS);
            workers_killed_on_the_pool =
                Plan::new(Way::Pool, Fault::WorkerKilled, 25, ON_THE_POOL);
            clocks_apart_and_set_back_in_transactions =
                Plan::new(Way::Transaction, Fault::ClockBack, 20, &[Point::Claimed]);
            clocks_apart_and_set_back_on_the_pool =
                Plan::new(Way::Pool, Fault::ClockBack, 20, &[Point::Claimed]);
        }
    };
}

macro_rules! for_servers {
    ($arena:ty) => {
        campaigns! { $arena:
            the_server_killed_in_transactions =
                Plan::new(Way::Transaction, Fault::ServerKilled, 10, IN_TRANSACTIONS);
            the_server_killed_on_the_pool =
                Plan::new(Way::Pool, Fault::ServerKilled, 10, ON_THE_POOL);
            connections_cut_in_transactions =
                Plan::new(Way::Transaction, Fault::Cut, 50, IN_TRANSACTIONS);
            connections_cut_on_the_pool = Plan::new(Way::Pool, Fault::Cut, 50, ON_THE_POOL);
            an_exhausted_pool_in_transactions =
                Plan::new(Way::Transaction, Fault::Exhausted, 10, &[Point::Acted]).starved();
            an_exhausted_pool_on_the_pool =
                Plan::new(Way::Pool, Fault::Exhausted, 10, &[Point::Acted]).starved();
        }
    };
}

macro_rules! for_inboxes {
    ($arena:ty) => {
        campaigns! { $arena:
            workers_killed_with_an_inbox =
                Plan::new(Way::Inbox, Fault::WorkerKilled, 24, IN_AN_INBOX);
        }
    };
}

macro_rules! for_inboxes_on_servers {
    ($arena:ty) => {
        campaigns! { $arena:
            the_server_killed_with_an_inbox =
                Plan::new(Way::Inbox, Fault::ServerKilled, 9, IN_AN_INBOX);
            connections_cut_with_an_inbox = Plan::new(Way::Inbox, Fault::Cut, 48, IN_AN_INBOX);
        }
    };
}
