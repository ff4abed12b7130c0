//! The one list of cases, and the macros that it is read by.

/// The one list of cases, by file. A case is written in its file and named here; the compiler
/// refuses one without the other.
#[doc(hidden)]
#[macro_export]
macro_rules! __order_cases {
    ([$($then:tt)*]) => {
        $($then)*! {
            versions {
                first_version_is_applied
                newer_version_is_applied
                late_create_is_older
                equal_version_is_the_same
                unknown_object_has_no_version
                numbers_are_compared_as_numbers
                extreme_numbers
                times_are_compared
                times_far_away
                times_that_tie_are_the_same
                ties_are_broken_by_numbers
                ties_are_broken_by_texts
                times_do_not_mix_with_numbers
                objects_are_kept_apart
                longest_names
                forgotten_object_begins_anew
            }
            deletions {
                deletion_is_a_version
                deletion_of_the_version_that_stands
                deletion_of_something_unknown
                later_version_brings_an_object_back
                deletion_stays_for_its_retention
                retention_is_counted_from_the_deletion
                object_that_came_back_is_kept
                only_deletions_are_purged
                purge_is_bounded
                purge_of_everything_and_nothing
            }
            races {
                versions_in_any_order
                one_version_by_many
                deletion_against_updates
                many_objects_in_different_orders
                purge_against_updates
            }
        }
    };
}

/// Makes one `#[test]` per case of the
/// [suite for versions of objects](crate::testing::conformance::order) for each backend:
/// `order_conformance! { name: backend, … }`, where `backend` is an expression whose type implements
/// [`GuardBackend`](crate::testing::conformance::order::GuardBackend). Evaluated once per test.
#[macro_export]
macro_rules! order_conformance {
    ($($name:ident: $backend:expr),+ $(,)?) => {$(
        #[cfg(test)]
        mod $name {
            #[allow(unused_imports, reason = "the backend may be named by its full path")]
            use super::*;

            fn __backend() -> impl $crate::testing::conformance::order::GuardBackend {
                $backend
            }

            $crate::__order_cases! { [$crate::__order_tests] }
        }
    )+};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __order_tests {
    ($($file:ident { $($case:ident)* })*) => {$($(
        #[test]
        fn $case() {
            $crate::testing::conformance::order::__run(stringify!($case), &__backend());
        }
    )*)*};
}
