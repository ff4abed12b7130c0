//! Words for the rules of a token.

use hookproof::scheme::{ClaimRule, Encoding, Jwt, Scheme};

/// The lines of a scheme's token.
pub(crate) fn lines(scheme: &Scheme) -> Vec<(&'static str, String)> {
    let Some(rules) = scheme.token_rules() else {
        return Vec::new();
    };
    let algorithms = std::iter::once(scheme.mac()).chain(rules.more_algorithms().iter().copied());
    let names: Vec<_> = algorithms.filter_map(|mac| mac.jose_name()).collect();
    let kind = if rules.is_detached() {
        "detached; its payload is what is signed"
    } else {
        "with claims"
    };
    let mut lines = vec![("token", format!("{} only, {kind}", names.join(", ")))];
    if !rules.critical_names().is_empty() {
        let names = rules.critical_names().join("`, `");
        lines.push(("may be critical", format!("`{names}`")));
    }
    if !rules.is_detached() {
        let claims: Vec<_> = rules.claim_rules().iter().map(claim).collect();
        lines.push(("claims", or_none(claims) + &times(rules)));
    }
    lines
}

fn or_none(claims: Vec<String>) -> String {
    match claims.is_empty() {
        true => "none is compared".into(),
        false => claims.join("; "),
    }
}

fn times(rules: &Jwt) -> String {
    let need = if rules.must_expire() { "must" } else { "may" };
    let leeway = rules.clock_leeway().as_secs();
    format!("; `exp` {need} be there, `nbf` may, and the clocks may differ by {leeway} s")
}

fn claim(rule: &ClaimRule) -> String {
    let hash = |encoding| match encoding {
        Encoding::Base64 => "SHA-256 in base64",
        _ => "SHA-256 in hex",
    };
    let says = match *rule {
        ClaimRule::BodyHash(_, encoding) => format!("the body's {}", hash(encoding)),
        ClaimRule::BodyHashUnlessEmpty(_, encoding) => {
            format!("the body's {}, unless that is empty", hash(encoding))
        }
        ClaimRule::UrlHash(_) => "the URL's SHA-256 in hex".into(),
        ClaimRule::RequestJson(_) => {
            "SHA-256 in hex of `JSON.stringify({url, method, body})`".into()
        }
        ClaimRule::OneOf(_, texts) => format!("`{}`", texts.join("` or `")),
        ClaimRule::Url(_) => "the URL".into(),
        ClaimRule::Setting(_, name) => format!("the setting `{name}`"),
        ClaimRule::True(_) => "`true`".into(),
        ClaimRule::AnyText(_) => "any text".into(),
        _ => panic!("a new rule needs words here"),
    };
    format!("`{}` is {says}", rule.name())
}
