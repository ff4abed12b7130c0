//! The one list of cases, and the macros that it is read by.

/// The one list of cases, by file. A case is written in its file and named here; the compiler
/// refuses one without the other.
#[doc(hidden)]
#[macro_export]
macro_rules! __ledger_cases {
    ([$($then:tt)*]) => {
        $($then)*! {
            steps {
                step_is_due_then_done
                asking_writes_nothing
                names_are_told_apart_by_their_bytes
                names_are_checked
                results_are_kept
                result_too_long_hands_the_slot_back
                recording_again_keeps_the_first
                number_of_steps_is_bounded
                effect_keys_are_those_of_the_lease
            }
            keeping {
                steps_survive_attempts
                steps_survive_a_takeover
                steps_are_listed_in_their_order
                steps_of_events_are_kept_apart
                steps_stay_when_the_event_is_over
                steps_are_forgotten_with_the_event
                steps_are_purged_with_the_event
                unknown_event_has_no_steps
            }
            fencing {
                lost_lease_cannot_record
                lost_lease_is_not_told_what_is_due
                settled_event_takes_no_steps
                released_event_takes_no_steps
                forgotten_event_takes_no_steps
                purged_event_takes_no_steps
                buried_event_takes_no_steps
                lapsed_lease_may_record
                renewed_lease_may_record
            }
            races {
                one_step_by_many
                many_steps_at_once
                last_room_by_many
                record_against_takeover
            }
        }
    };
}

/// Makes one `#[test]` per case of the
/// [suite for steps of events](crate::testing::conformance::ledger) for each backend:
/// `ledger_conformance! { name: backend, … }`, where `backend` is an expression whose type implements
/// [`Backend`](crate::testing::conformance::Backend) for a store that is an
/// [`EffectLedger`](crate::EffectLedger). Evaluated once per test.
#[macro_export]
macro_rules! ledger_conformance {
    ($($name:ident: $backend:expr),+ $(,)?) => {$(
        #[cfg(test)]
        mod $name {
            #[allow(unused_imports, reason = "the backend may be named by its full path")]
            use super::*;

            fn __backend() -> impl $crate::testing::conformance::Backend<
                Store: $crate::EffectLedger
            > {
                $backend
            }

            $crate::__ledger_cases! { [$crate::__ledger_tests] }
        }
    )+};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __ledger_tests {
    ($($file:ident { $($case:ident)* })*) => {$($(
        #[test]
        fn $case() {
            $crate::testing::conformance::ledger::__run(stringify!($case), &__backend());
        }
    )*)*};
}
