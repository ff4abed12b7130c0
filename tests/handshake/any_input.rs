//! Whatever comes in: no panic, and an answer is harmless.

use hookproof::handshake::{Allowed, MAX_CHALLENGE};
use proptest::{prelude::*, sample::Index};

use crate::case::{self, Case, Sent};

/// Bytes put in, taken out or changed at some places of the request.
type Changes = Vec<(u8, Index, Vec<u8>)>;

fn changed(case: &Case, changes: &Changes) -> Case {
    let mut case = case.clone();
    case.recorded = None;
    for (what, at, bytes) in changes {
        let text = String::from_utf8_lossy(bytes).into_owned();
        match what % 5 {
            0 => splice(&mut case.body, *at, bytes),
            1 => {
                let mut url = std::mem::take(&mut case.url).into_bytes();
                splice(&mut url, *at, text.as_bytes());
                case.url = String::from_utf8_lossy(&url).into_owned();
            }
            2 => {
                let count = case.headers.len();
                match case.headers.get_mut(at.index(count.max(1))) {
                    Some((_, value)) => splice(value, *at, bytes),
                    None => case.headers.push((text, bytes.clone())),
                }
            }
            3 => case.body.truncate(at.index(case.body.len() + 1)),
            _ => case.body = [&bytes[..], &case.body].concat(),
        }
    }
    case
}

fn splice(bytes: &mut Vec<u8>, at: Index, new: &[u8]) {
    let start = at.index(bytes.len() + 1);
    let end = (start + new.len() / 2).min(bytes.len());
    bytes.splice(start..end, new.iter().copied());
}

fn harmless(case: &Case, sent: &Sent) {
    assert_eq!(sent.header("X-Content-Type-Options"), Some("nosniff"));
    assert_eq!(sent.status, case.row.answer_status());
    for (name, value) in &sent.headers {
        let plain = |c: char| c.is_ascii_graphic() || c == ' ';
        assert!(value.chars().all(plain), "{}: {name}: {value:?}", case.name);
    }
    let kinds = ["text/plain; charset=utf-8", "application/json"];
    let kind = sent.header("Content-Type");
    assert!(kind.is_none_or(|kind| kinds.contains(&kind)), "{kind:?}");
    // JSON writes a byte as six at most (`\u001f`), and holds no more than the challenge twice.
    assert!(sent.body.len() <= 12 * MAX_CHALLENGE + 1024);
    let text = std::str::from_utf8(&sent.body).unwrap();
    assert!(
        !text.chars().any(char::is_control),
        "{}: {text:?}",
        case.name
    );
    if matches!(case.row.challenge_place(), Some((_, Allowed::Token))) {
        assert!(!text.contains(['<', '>', '&']), "{}: {text:?}", case.name);
    }
    if let Some(url) = &sent.confirm {
        assert!(
            url.to_ascii_lowercase().starts_with("https://sns."),
            "{url}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_changed_request_is_answered_harmlessly_or_not_at_all(
        changes in prop::collection::vec(
            (any::<u8>(), any::<Index>(), prop::collection::vec(any::<u8>(), 0..8)),
            0..4,
        ),
    ) {
        for case in case::all() {
            let case = changed(&case, &changes);
            if let Ok(Some(sent)) = case.send() {
                harmless(&case, &sent);
            }
        }
    }

    #[test]
    fn any_challenge_is_answered_harmlessly_or_not_at_all(challenge in any::<String>()) {
        for case in case::all() {
            let Some((place, _)) = case.row.challenge_place() else { continue };
            let case = case.with(place, &challenge);
            if let Ok(Some(sent)) = case.send() {
                harmless(&case, &sent);
            }
        }
    }
}
