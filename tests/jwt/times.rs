//! Whole seconds, exact edges, and staleness only of what is authentic.

use hookproof::{Invalid, Malformed, RejectionKind};
use time::Duration;

use super::*;

const EXPIRES: Scheme = in_header(
    &Jwt::new()
        .expires()
        .leeway(std::time::Duration::from_secs(10)),
    &[],
)
.claim_timestamp("iat")
.tolerance(std::time::Duration::from_secs(3600));

fn is_stale(outcome: &Result<(), RejectionKind>) -> bool {
    matches!(outcome, Err(RejectionKind::Stale { .. }))
}

fn ago(seconds: i64) -> i64 {
    NOW.unix_timestamp() - seconds
}

#[test]
fn a_time_is_whole_seconds() {
    let with = |iat: &str| {
        let claims = claims().replace(&ago(0).to_string(), iat);
        judged(&PLAIN, &token(HEADER, &claims))
    };
    let now = ago(0);
    assert_eq!(with(&now.to_string()), Ok(()));
    assert!(is_stale(&with("0")));
    for iat in [
        format!("{now}.0"),
        format!("{now}.5"),
        format!("{now}e0"),
        format!("\"{now}\""),
        format!("-{now}"),
        format!("[{now}]"),
        format!("{now}000"),
        "-0".into(),
        "-1".into(),
        "1.8e9".into(),
        "1e999".into(),
        "253402300800".into(),
        "9223372036854775807".into(),
        "18446744073709551616".into(),
        "9".repeat(400),
        "null".into(),
        "true".into(),
        "{}".into(),
    ] {
        let unreadable = Err(RejectionKind::Malformed(Malformed::Timestamp));
        assert_eq!(with(&iat), unreadable, "{iat}");
    }
    let none = format!(r#"{{"body":"{}"}}"#, hex(BODY));
    assert_eq!(
        judged(&PLAIN, &token(HEADER, &none)),
        Err(RejectionKind::Malformed(Malformed::Timestamp))
    );
}

#[test]
fn the_window_is_inclusive_on_both_sides() {
    let late = Duration::milliseconds(999);
    for (age, passes) in [(300, true), (301, false), (-300, true), (-301, false)] {
        let claims = claims().replace(&ago(0).to_string(), &ago(age).to_string());
        let outcome = judged_at(&PLAIN, &token(HEADER, &claims), NOW + late);
        assert_eq!(outcome.is_ok(), passes, "{age}");
        assert_eq!(is_stale(&outcome), !passes, "{age}");
    }
}

#[test]
fn expiry_and_start_have_the_rows_leeway() {
    let with = |iat: i64, more: &str| {
        let token = token(HEADER, &format!(r#"{{"iat":{iat}{more}}}"#));
        judged(&EXPIRES, &token)
    };
    let exp = |at: i64| format!(r#","exp":{at}"#);
    // RFC 7519 §4.1.4: from `exp` on it is over; the leeway moves that.
    for (iat, more, passes) in [
        (ago(60), exp(ago(9)), true),
        (ago(60), exp(ago(10)), false),
        (ago(60), exp(ago(-60)), true),
        (ago(3600), exp(ago(-60)), true),
        (ago(3601), exp(ago(-60)), false),
        (ago(-10), exp(ago(-60)), true),
        (ago(-11), exp(ago(-60)), false),
        (
            ago(0),
            format!(r#","exp":{},"nbf":{}"#, ago(-60), ago(-10)),
            true,
        ),
        (
            ago(0),
            format!(r#","exp":{},"nbf":{}"#, ago(-60), ago(-11)),
            false,
        ),
        (ago(0), exp(253_402_300_799), true),
        (0, exp(0), false),
    ] {
        let outcome = with(iat, &more);
        assert_eq!(outcome.is_ok(), passes, "{iat}{more}");
        assert_eq!(is_stale(&outcome), !passes, "{iat}{more}");
    }
    assert_eq!(
        with(ago(0), ""),
        Err(RejectionKind::Malformed(Malformed::Claim("exp")))
    );
    for more in [
        r#","exp":1.8e9"#.to_owned(),
        r#","exp":null"#.into(),
        r#","exp":-1"#.into(),
        r#","exp":253402300800"#.into(),
        exp(ago(-60)) + r#","nbf":"0""#,
    ] {
        let unreadable = Err(RejectionKind::Malformed(Malformed::Timestamp));
        assert_eq!(with(ago(0), &more), unreadable, "{more}");
    }
}

/// A row without times still heeds those that a token has.
#[test]
fn a_token_that_is_over_is_over_in_any_row() {
    const TIMELESS: Scheme = in_header(&Jwt::new(), &[]);
    assert!(!TIMELESS.coverage().timestamp);
    let with = |claims: &str| judged(&TIMELESS, &token(HEADER, claims));
    assert_eq!(with("{}"), Ok(()));
    assert_eq!(with(r#"{"iat":1}"#), Ok(()));
    assert_eq!(with(&format!(r#"{{"exp":{}}}"#, ago(59))), Ok(()));
    let outcome = with(&format!(r#"{{"exp":{}}}"#, ago(60)));
    let age = Duration::seconds(60);
    assert_eq!(outcome, Err(RejectionKind::Stale { age }));
    assert_eq!(with(&format!(r#"{{"nbf":{}}}"#, ago(-60))), Ok(()));
    assert!(is_stale(&with(&format!(r#"{{"nbf":{}}}"#, ago(-61)))));
}

#[test]
fn stale_means_authentic_in_every_respect() {
    let old = claims().replace(&ago(0).to_string(), &ago(9999).to_string());
    assert!(is_stale(&judged(&PLAIN, &token(HEADER, &old))));
    let forged = sealed(&encoded(HEADER), &encoded(&old), b"stranger");
    let bad = Err(RejectionKind::Invalid(Invalid::Signature));
    assert_eq!(judged(&PLAIN, &forged), bad);
    let token = token(HEADER, &old);
    assert_eq!(
        verified(&secrets(&PLAIN), b"other", &[("X-Token", &token)], NOW),
        Err(RejectionKind::Invalid(Invalid::Claim("body")))
    );
    // It can be kept for review, and any age accepted by name.
    let headers = [("X-Token", token.as_str())];
    let kept = hookproof::verify(BODY, &headers, &secrets(&PLAIN), NOW).unwrap_err();
    let kept = kept.into_stale().unwrap();
    assert_eq!(kept.age(), Duration::seconds(9999));
    assert_eq!(
        kept.danger_accept_late().claims().as_deref(),
        Some(old.as_str())
    );
    let any = secrets(&PLAIN).danger_accept_any_age();
    assert_eq!(outcome(&any, BODY, &headers, NOW), Ok(()));
    let over = super::token(HEADER, r#"{"iat":1,"exp":2}"#);
    let any = secrets(&EXPIRES).danger_accept_any_age();
    assert_eq!(verified(&any, BODY, &[("X-Token", &over)], NOW), Ok(()));
}
