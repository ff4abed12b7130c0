//! The list of cases for batches of deliveries, and the macros that it is read by.

/// The cases for [`BatchInbox`](crate::inbox::BatchInbox), by file.
#[doc(hidden)]
#[macro_export]
macro_rules! __batch_inbox_cases {
    ([$($then:tt)*]) => {
        $($then)*! {
            batches {
                answers_are_in_the_order_asked
                no_delivery_is_no_batch
                accepted_events_are_received
                largest_batch
                too_many_are_refused
                bytes_are_bounded
                bodies_headers_and_facts_are_kept
                odd_ids_in_a_batch
            }
            batch_known {
                repeated_event_is_stored_once
                repeated_event_with_other_content
                repeated_known_event
                claimed_events_are_adopted
                conflict_then_adoption_in_one_batch
                fences_in_accepted_batches_are_not_reused
            }
            batch_races {
                two_accept_in_opposite_order
                many_accept_overlapping_batches
                batches_against_single_deliveries
                batches_against_claims
                batches_against_deletions
                batch_of_deliveries_cancelled_midway
            }
        }
    };
}

/// Like [`inbox_conformance!`](crate::inbox_conformance), with the cases for
/// [`BatchInbox`](crate::inbox::BatchInbox).
#[macro_export]
macro_rules! batch_inbox_conformance {
    ($($name:ident: $backend:expr),+ $(,)?) => {$(
        #[cfg(test)]
        mod $name {
            #[allow(unused_imports, reason = "the backend may be named by its full path")]
            use super::*;

            fn __backend() -> impl $crate::testing::conformance::Backend<
                Store: $crate::inbox::BatchInbox
            > {
                $backend
            }

            $crate::__batch_inbox_cases! { [$crate::__batch_inbox_tests] }
        }
    )+};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __batch_inbox_tests {
    ($($file:ident { $($case:ident)* })*) => {$($(
        #[test]
        fn $case() {
            $crate::testing::conformance::inbox::__run_batch(stringify!($case), &__backend());
        }
    )*)*};
}
