//! The one list of cases, and the macros that it is read by.

/// The one list of cases, by file.
#[doc(hidden)]
#[macro_export]
macro_rules! __review_cases {
    ([$($then:tt)*]) => {
        $($then)*! {
            keeping {
                kept_case_is_open
                stale_delivery_is_kept
                same_delivery_is_kept_once
                reason_event_and_content_tell_apart
                kept_byte_for_byte
                facts_and_chosen_headers_are_kept_for_review
                keeping_changes_no_receipt
                reviews_are_listed_by_status
                reviews_are_paged
            }
            admitting {
                admitted_conflict_is_an_event_of_its_own
                admitted_conflict_outlives_the_first
                admitted_stale_delivery_is_its_own_event
                admitted_bytes_are_the_kept_ones
                admitted_once
                retention_of_an_admitted_event
                what_is_known_is_not_done_again
                claimed_event_gets_the_admitted_body
                dead_event_is_not_admitted
                stale_delivery_of_other_content_is_not_admitted
                dropped_admission_is_whole_or_nothing
            }
            discarding {
                discarded_review_stays_known
                resolved_once
                nothing_under_an_unknown_id
                resolved_reviews_are_purged_by_age
                unresolved_reviews_are_purged_only_by_name
                purging_reviews_is_bounded
                purged_review_is_new_again
            }
            racing {
                one_is_first_to_keep
                one_admits
                admit_against_discard
                admit_against_accept
            }
        }
    };
}

/// Makes one `#[test]` per case of the [reviews' conformance
/// suite](crate::testing::conformance::review) for each backend, as
/// [`store_conformance!`](crate::store_conformance) does: `review_conformance! { name: backend, … }`.
#[macro_export]
macro_rules! review_conformance {
    ($($name:ident: $backend:expr),+ $(,)?) => {$(
        #[cfg(test)]
        mod $name {
            #[allow(unused_imports, reason = "the backend may be named by its full path")]
            use super::*;

            fn __backend() -> impl $crate::testing::conformance::Backend<
                Store: $crate::review::ReviewStore
            > {
                $backend
            }

            $crate::__review_cases! { [$crate::__review_tests] }
        }
    )+};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __review_tests {
    ($($file:ident { $($case:ident)* })*) => {$($(
        #[test]
        fn $case() {
            $crate::testing::conformance::review::__run(stringify!($case), &__backend());
        }
    )*)*};
}
