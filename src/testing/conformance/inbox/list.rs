//! The one list of cases, and the macros that it is read by.

/// The one list of cases, by file.
#[doc(hidden)]
#[macro_export]
macro_rules! __inbox_cases {
    ([$($then:tt)*]) => {
        $($then)*! {
            accepting {
                accepted_event_is_received
                accepted_again_is_pending
                accepted_after_the_end
                conflict_in_the_inbox
                bodies_are_kept_byte_for_byte
                facts_and_chosen_headers_are_kept
                claimed_event_is_adopted
                failed_event_is_adopted
                accepted_event_may_be_claimed
                accepted_event_may_be_claimed_and_fail
                forgetting_takes_the_body
                accepted_anew_after_forgetting
                fence_is_not_reused_after_forgetting
            }
            leasing {
                longest_due_is_first
                limit_is_kept
                nothing_is_due
                leased_event_is_not_due
                lapsed_lease_is_due
                renewed_lease_is_not_due
                failed_event_waits
                failed_event_without_wait_is_due
                released_event_is_due
                dropped_lease_is_due
                processed_event_is_never_due
                dead_event_is_never_due
                last_failure_is_dead
                last_lapsed_attempt_is_buried
                limit_of_attempts_is_the_leasing_s_own
            }
            operating {
                requeued_event_starts_anew
                failed_event_is_requeued_before_its_wait
                only_failures_are_requeued
                requeue_needs_a_body
                list_is_by_state
                list_is_paged
                bodies_are_dropped_by_age
                pending_bodies_are_not_dropped
                dead_bodies_are_dropped_when_asked_for
                dropping_is_bounded
                what_waits_is_not_purged
                what_has_ended_is_purged_with_its_body
            }
            racing {
                one_is_first_to_accept
                each_is_leased_to_one
                settle_against_lease_due
                accept_against_forget
            }
            working {
                several_workers_act_once
            }
        }
    };
}

/// Makes one `#[test]` per case of the [inbox's conformance
/// suite](crate::testing::conformance::inbox) for each backend, as
/// [`store_conformance!`](crate::store_conformance) does: `inbox_conformance! { name: backend, … }`.
#[macro_export]
macro_rules! inbox_conformance {
    ($($name:ident: $backend:expr),+ $(,)?) => {$(
        #[cfg(test)]
        mod $name {
            #[allow(unused_imports, reason = "the backend may be named by its full path")]
            use super::*;

            fn __backend() -> impl $crate::testing::conformance::Backend<
                Store: $crate::inbox::InboxStore
            > {
                $backend
            }

            $crate::__inbox_cases! { [$crate::__inbox_tests] }
        }
    )+};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __inbox_tests {
    ($($file:ident { $($case:ident)* })*) => {$($(
        #[test]
        fn $case() {
            $crate::testing::conformance::inbox::__run(stringify!($case), &__backend());
        }
    )*)*};
}
