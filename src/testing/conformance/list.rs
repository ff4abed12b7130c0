//! The one list of cases, and the macros that it is read by.

/// The one list of cases, by file. A case is written in its file and named here; the compiler
/// refuses one without the other.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_cases {
    ([$($then:tt)*]) => {
        $($then)*! {
            claims {
                unknown_event_is_new
                unknown_event_has_no_receipt
                running_lease_is_in_progress
                lapsed_lease_is_new
                lapsed_last_attempt_is_dead
                failed_attempt_waits
                failed_attempt_is_new_when_due
                released_claim_is_new
                processed_event_is_a_duplicate
                dead_event_is_dead
                retry_after_is_when_to_ask_again
                s18_crash_after_claim
                s25_lease_longer_than_the_request
                s31_order_does_not_hide_an_event
            }
            conflicts {
                s30_conflict_while_in_progress
                s30_conflict_after_completion
                conflict_after_the_lease
                conflict_after_the_last_lease
                conflict_while_a_failure_waits
                conflict_when_a_failure_is_due
                conflict_after_a_release
                conflict_when_dead
                conflict_until_the_purge
                same_content_is_not_the_same_event
                ignored_content_agrees_with_itself_only
            }
            leases {
                s23_lost_lease
                lost_lease_stays_lost
                buried_lease_is_lost
                s24_zero_lease_is_over_at_once
                s34_heartbeat
                renewal_counts_from_now
                renewal_to_nothing
                lapsed_lease_may_settle
                lapsed_lease_may_renew
                lapsed_lease_may_release
                lapsed_lease_is_lost_to_claims_only
                release_does_not_lose_the_event
                endless_lease
                effect_keys_are_stable_over_attempts
            }
            fences {
                first_fence_comes_from_the_clock
                fence_grows_by_one_per_claim
                fence_is_not_reused_after_a_purge
                fence_is_not_reused_after_forgetting
                fence_is_not_reused_after_the_clock_is_set_back
                fences_of_many_events_are_kept_apart
            }
            settling {
                verdicts_write_their_state
                result_is_kept
                result_too_long_hands_the_lease_back
                retry_at_once
                retry_much_later
                s26_handler_fails
                dead_at_once
                last_failure_is_dead
                single_attempt
                last_attempt_may_succeed
                release_is_no_failure
                limit_is_the_claims_own
                settled_lease_is_quiet
                events_are_kept_apart
            }
            abandoned {
                s35_early_return
                s35_panic
                s35_cancelled_future
                dropped_lost_lease_disturbs_nothing
                dropped_forgotten_lease_brings_nothing_back
                s35_claim_cancelled_midway
                s35_settle_cancelled_midway
            }
            retention {
                late_duplicate_until_the_purge
                s13_retention_does_not_slide
                s13_retention_counts_from_the_first_attempt
                s14_outage_longer_than_retention
                s15_boundary_of_retention
                zero_retention
                s38_purge_spares_running_leases
                purge_takes_every_other_state
                s38_purge_is_bounded
                s32_forget_lets_it_run_again
                s32_forget_the_dead_and_the_unknown
                s32_forget_during_a_lease
                purged_lease_is_lost
            }
            keys {
                s10_scopes_are_kept_apart
                s19_webhook_against_another_code_path
                s28_ids_that_collations_confuse
                ids_that_engines_could_read
                s29_long_ids
                s29_emoji_ids
                s29_refused_ids
                longest_scopes
                many_events
            }
            clocks {
                s37_set_back_clock_does_not_stretch_a_lease
                s37_lapsed_lease_stays_reclaimable
                s37_set_back_clock_does_not_stretch_a_wait
                s37_small_correction_keeps_the_lease
                s37_holder_writes_while_set_back
                s37_purge_while_set_back
                clock_far_ahead
            }
            deliveries {
                s01_new_id_same_signed_bytes
                s02_id_header_removed
                s03_replay_inside_the_window
                s04_one_time_token
                s06_attempt_id_against_event_id
                s07_scheme_without_time
                s08_retention_shorter_than_the_window
                s09_equal_bodies_on_purpose
                s11_retry_after_success
                s15_retry_header_decides_nothing
                s30_same_id_other_body
                s33_forged_delivery_touches_nothing
            }
            races {
                s16_two_at_once
                s16_work_is_done_once
                s17_two_retries_at_once
                s23_takeover_race
                s23_settle_against_takeover
                s34_renew_against_takeover
                s23_both_holders_settle
                s32_forget_against_settle
                many_events_in_different_orders
            }
            purges {
                s38_claims_against_purges
                s38_takeover_against_purges
                s38_two_purges_at_once
            }
        }
    };
}

/// Makes one `#[test]` per case of the [conformance suite](crate::testing::conformance) for each
/// backend: `store_conformance! { name: backend, … }`, where `backend` is an expression whose type
/// implements [`Backend`](crate::testing::conformance::Backend). Evaluated once per test.
#[macro_export]
macro_rules! store_conformance {
    ($($name:ident: $backend:expr),+ $(,)?) => {$(
        #[cfg(test)]
        mod $name {
            #[allow(unused_imports, reason = "the backend may be named by its full path")]
            use super::*;

            fn __backend() -> impl $crate::testing::conformance::Backend {
                $backend
            }

            $crate::__conformance_cases! { [$crate::__conformance_tests] }
        }
    )+};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_tests {
    ($($file:ident { $($case:ident)* })*) => {$($(
        #[test]
        fn $case() {
            $crate::testing::conformance::__run(stringify!($case), &__backend());
        }
    )*)*};
}

/// The cases for [`BatchStore`](crate::store::BatchStore).
#[doc(hidden)]
#[macro_export]
macro_rules! __batch_cases {
    ([$($then:tt)*]) => {
        $($then)*! {
            batches {
                answers_are_in_the_order_asked
                no_event_is_no_batch
                largest_batch
                batch_too_large_claims_nothing
                each_claim_has_its_own_settings
                each_lease_is_its_own
                dropped_leases_of_a_batch
            }
            batch_takeovers {
                lapsed_leases_are_taken_over
                last_attempts_are_buried
                odd_ids_in_a_batch
                fences_in_batches_are_not_reused
            }
            batch_repeats {
                repeated_event_is_won_once
                repeated_event_with_other_content
                repeated_known_event
                repeated_event_without_a_lease
            }
            batch_races {
                two_batches_in_opposite_order
                many_batches_at_once
                batches_against_single_claims
                takeover_by_batches_at_once
                batches_against_purges
                batches_against_forgetting
                batch_cancelled_midway
            }
        }
    };
}

/// The cases for [`StatsStore`](crate::store::StatsStore).
#[doc(hidden)]
#[macro_export]
macro_rules! __stats_cases {
    ([$($then:tt)*]) => {
        $($then)*! {
            stats {
                empty_store_has_no_numbers
                receipts_are_counted_by_state
                lag_is_of_the_longest_overdue
                running_leases_and_waits_are_not_overdue
                expired_receipts_are_counted_until_purged
                numbers_while_the_clock_is_set_back
                numbers_agree_with_the_receipts
            }
        }
    };
}

/// Like [`store_conformance!`](crate::store_conformance), with the cases for
/// [`BatchStore`](crate::store::BatchStore).
#[macro_export]
macro_rules! batch_conformance {
    ($($name:ident: $backend:expr),+ $(,)?) => {$(
        #[cfg(test)]
        mod $name {
            #[allow(unused_imports, reason = "the backend may be named by its full path")]
            use super::*;

            fn __backend() -> impl $crate::testing::conformance::Backend<
                Store: $crate::store::BatchStore,
            > {
                $backend
            }

            $crate::__batch_cases! { [$crate::__batch_tests] }
        }
    )+};
}

/// Like [`store_conformance!`](crate::store_conformance), with the cases for
/// [`StatsStore`](crate::store::StatsStore).
#[macro_export]
macro_rules! stats_conformance {
    ($($name:ident: $backend:expr),+ $(,)?) => {$(
        #[cfg(test)]
        mod $name {
            #[allow(unused_imports, reason = "the backend may be named by its full path")]
            use super::*;

            fn __backend() -> impl $crate::testing::conformance::Backend<
                Store: $crate::store::StatsStore,
            > {
                $backend
            }

            $crate::__stats_cases! { [$crate::__stats_tests] }
        }
    )+};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __batch_tests {
    ($($file:ident { $($case:ident)* })*) => {$($(
        #[test]
        fn $case() {
            $crate::testing::conformance::__run_batch(stringify!($case), &__backend());
        }
    )*)*};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __stats_tests {
    ($($file:ident { $($case:ident)* })*) => {$($(
        #[test]
        fn $case() {
            $crate::testing::conformance::__run_stats(stringify!($case), &__backend());
        }
    )*)*};
}
