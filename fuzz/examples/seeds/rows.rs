//! Stored rows, and claims of them.

use hookproof::{Fingerprint, store::StoredRow};
use hookproof_fuzz::stored;

use crate::{NOW, Seeds};

/// Each state, in and out of time, claimed with the same and with other content.
pub fn rows() -> Seeds {
    let micros = |seconds: i64| (NOW + seconds) * 1_000_000;
    let row = |state: i64, until: Option<i64>| StoredRow {
        fingerprint: Fingerprint::of(b"content").as_bytes().to_vec(),
        state,
        attempts: 1,
        fence: micros(0),
        received_at: micros(0),
        changed_at: micros(0),
        until: until.map(micros),
        expires_at: micros(30 * 24 * 60 * 60),
        result: (state == 2).then(|| b"created invoice 123".to_vec()),
    };
    let mut seeds = Seeds::new();
    for (name, row) in [
        ("received", row(0, None)),
        ("in-progress", row(1, Some(60))),
        (
            "last-attempt",
            StoredRow {
                attempts: 20,
                ..row(1, Some(60))
            },
        ),
        ("processed", row(2, None)),
        ("failed", row(3, Some(45))),
        ("released", row(3, None)),
        ("dead", row(4, None)),
        ("no-state", row(5, None)),
        (
            "last-fence",
            StoredRow {
                fence: i64::MAX,
                ..row(3, None)
            },
        ),
        (
            "short-fingerprint",
            StoredRow {
                fingerprint: vec![1; 15],
                ..row(1, Some(60))
            },
        ),
        (
            "negative-attempts",
            StoredRow {
                attempts: -1,
                ..row(3, None)
            },
        ),
        (
            "no-date",
            StoredRow {
                expires_at: i64::MAX,
                ..row(1, Some(60))
            },
        ),
    ] {
        for (when, now) in [("early", 10), ("late", 61), ("clock-set-back", -3600)] {
            seeds.insert(
                format!("{name}.{when}"),
                stored::seed(&row, micros(now), 60, true),
            );
        }
        seeds.insert(
            format!("{name}.conflict"),
            stored::seed(&row, micros(61), 60, false),
        );
    }
    seeds
}
