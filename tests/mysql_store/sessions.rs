//! Sessions with unusual defaults.

use hookproof::{EventKey, IdempotencyStore, Verdict, store::StoreErrorKind};

use super::{Bench, ask, batch, busy, duplicate, key, number, run, settle, win, win_in};

/// What may be set and must not matter. The last is from before there were such modes.
pub(crate) const ODD: &[&str] = &[
    "NAMES latin1",
    "collation_connection = latin1_german1_ci",
    "time_zone = '+05:45'",
    "sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,IGNORE_SPACE,HIGH_NOT_PRECEDENCE'",
];

/// So that the suite runs under what it says it runs under.
#[test]
fn sessions_have_what_was_asked_for() {
    let bench = Bench::with(super::url(), ODD, 1);
    run(async {
        let shown: (String, String, String) =
            sqlx::query_as("SELECT @@time_zone, @@character_set_client, @@sql_mode")
                .fetch_one(&bench.pool)
                .await
                .unwrap();
        assert_eq!((&*shown.0, &*shown.1), ("+05:45", "latin1"));
        assert!(shown.2.contains("ANSI_QUOTES") && !shown.2.contains("STRICT"));
    });
}

/// Local time in microseconds would end a lease hours early or late in another session's eyes, and
/// for an hour each year in everybody's.
#[test]
fn a_sessions_time_zone_moves_nothing() {
    let bench = Bench::new();
    let here = bench.builder().build();
    let elsewhere = Bench::of(&bench.url, &bench.schema, &["time_zone = '-11:00'"], 2);
    let far = elsewhere.builder().build();
    run(async {
        let mut beside = bench.beside().await;
        let micros = "SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)";
        let before = number(&mut beside, micros).await;
        let lease = win(&far, "e1").await;
        let after = number(&mut beside, micros).await;
        assert!((before..=after).contains(&lease.fence().0));
        let receipt = busy(&here, "e1").await;
        assert_eq!(receipt, busy(&far, "e1").await);
        assert_eq!(
            receipt.received_at.unix_timestamp(),
            lease.fence().0 / 1_000_000
        );
        settle(&here, lease, "").await;
        duplicate(&far, "e1").await;
    });
}

/// Without strict mode, what is too long is cut off: two ids would be one. None is.
#[test]
fn the_longest_names_fit_without_strict_mode() {
    for mode in [
        "sql_mode = ''",
        "sql_mode = 'ANSI_QUOTES'",
        "sql_mode = 'TRADITIONAL'",
    ] {
        let bench = Bench::with(super::url(), &[mode], 2);
        let store = bench.store();
        run(async {
            let (tenant, provider) = ("\u{fc}".repeat(127), "p".repeat(255));
            let id = "\u{1f600}".repeat(512);
            assert_eq!((id.len(), tenant.len()), (2048, 254));
            let key = EventKey::business(&tenant, &provider, &id).unwrap();
            let claiming = hookproof::Claiming::business(key.clone());
            let lease = super::won(store.claim(claiming.clone()).await.unwrap());
            let longest = vec![0xff; hookproof::store::MAX_RESULT_BYTES];
            store
                .settle(lease, Verdict::done(longest.clone()))
                .await
                .unwrap();
            let kept = store.get(&key).await.unwrap().unwrap();
            assert_eq!(kept.result, longest, "{mode}");
            assert_eq!((kept.key.id(), kept.key.tenant()), (&*id, &*tenant));
        });
    }
}

/// Under such a default every call would end with its transaction open, and nothing be committed.
#[test]
fn a_pool_without_autocommit_is_misuse() {
    let bench = Bench::new();
    let store = bench.store();
    let open = Bench::of(&bench.url, &bench.schema, &["autocommit = 0"], 2);
    let in_open = open.store();
    run(async {
        let lease = win(&store, "e1").await;
        let kind = |error: hookproof::StoreError| error.kind();
        for id in ["e1", "e2"] {
            let error = in_open.claim(ask(id)).await.unwrap_err();
            assert_eq!(kind(error), StoreErrorKind::Misuse);
        }
        let error = in_open.forget(&key("e1")).await.unwrap_err();
        assert_eq!(kind(error), StoreErrorKind::Misuse);
        assert_eq!(
            kind(in_open.purge(1).await.unwrap_err()),
            StoreErrorKind::Misuse
        );
        let error = in_open.settle(lease, Verdict::done("")).await.unwrap_err();
        assert!(matches!(
            &error.fault,
            hookproof::store::SettleFault::Store(e) if e.kind() == StoreErrorKind::Misuse
        ));
        // In a transaction that is committed it is as good as any.
        let mut tx = open.pool.begin().await.unwrap();
        let mine = win_in(&in_open, &mut tx, "e3").await;
        in_open
            .settle_in(&mut tx, mine, Verdict::done(""))
            .await
            .unwrap();
        tx.commit().await.unwrap();
        duplicate(&store, "e3").await;
        settle(&store, *error.lease, "").await;
    });
}

/// It reads what may be rolled back: a duplicate of an event that was never acted on.
#[test]
fn read_uncommitted_is_refused() {
    let bench = Bench::new();
    let store = bench.store();
    let setting = "SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED";
    let dirty = Bench::of(&bench.url, &bench.schema, &[setting], 2);
    run(async {
        let mut tx = bench.beside().await;
        batch(&mut tx, "BEGIN").await;
        let lease = win_in(&store, &mut tx, "e1").await;
        store
            .settle_in(&mut tx, lease, Verdict::done(""))
            .await
            .unwrap();
        let mut session = dirty.pool.acquire().await.unwrap();
        let seen = "SELECT COUNT(*) FROM webhook_receipt WHERE state = 2";
        assert_eq!(number(&mut session, seen).await, 1, "what is not there");
        drop(session);
        let error = dirty.store().claim(ask("e1")).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Misuse);
        batch(&mut tx, "ROLLBACK").await;
        let lease = win(&store, "e1").await;
        settle(&store, lease, "").await;
    });
}
