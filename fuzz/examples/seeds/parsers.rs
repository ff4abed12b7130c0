//! Requests that pass, and some that must not, for the targets of single parsers.

use hookproof_fuzz::{form, http_signature, json, token};

use crate::Seeds;

const FORM: &str = "application/x-www-form-urlencoded";

/// Seeds of the target `form`.
pub fn forms() -> Seeds {
    let multipart = "multipart/form-data; boundary=----x7";
    let part = |disposition: &str, value: &str| {
        format!("------x7\r\nContent-Disposition: form-data; {disposition}\r\n\r\n{value}\r\n")
    };
    let end = "------x7--\r\n";
    let two = part("name=\"a\"", "1\r\n--2") + &part("name=\"b\"", "\u{e9}") + end;
    let file = part("name=\"f\"; filename=\"x.txt\"", "a=1") + &part("name=\"a\"", "2") + end;
    let twice = part("name=\"a\"", "1") + &part("name=\"a\"", "1") + end;
    let mut seeds = Seeds::new();
    for (name, kind, query, body) in [
        ("usual", FORM, "q=1&b=2", "a=1&b=x+y&c=%C3%A9"),
        (
            "charset",
            "Application/X-WWW-Form-Urlencoded; charset=utf-8",
            "q=%2B",
            "a=%26&a2==",
        ),
        ("no-type", "", "q=&q2", "a=1&&b"),
        ("not-utf-8", FORM, "q=%ff", "a=%C3&b=1"),
        ("twice", FORM, "q=1&q=2", "a=1&%61=1"),
        ("fragment", FORM, "q=1#q=2", "a=1"),
        ("parameter-in-query", FORM, "p=1", "a=1"),
        ("parameter-in-form", FORM, "q=1", "p=1"),
        ("json", "application/json", "q=1&p=1", "{}"),
        ("empty", FORM, "q=1", ""),
        ("multipart", multipart, "q=1", &two),
        (
            "multipart-quoted",
            "multipart/form-data; boundary=\"----x7\"",
            "q=1",
            &two,
        ),
        ("multipart-file", multipart, "q=1", &file),
        ("multipart-twice", multipart, "q=1", &twice),
        (
            "multipart-without-end",
            multipart,
            "q=1",
            &two[..two.len() - 4],
        ),
    ] {
        for scheme in 0..3 {
            seeds.insert(
                format!("{name}.{scheme}"),
                form::seed(scheme, kind, query, body.as_bytes()),
            );
        }
    }
    seeds
}

/// Seeds of the target `json`.
pub fn documents() -> Seeds {
    let mut seeds = Seeds::new();
    for (name, body) in [
        (
            "usual",
            r#"{"a":{"b":"1"},"list":[0,{"/x~y":2}],"raw":{ "n": 1.50 },"text":"a\"\n"}"#,
        ),
        (
            "numbers",
            r#"{"a":{"b":-0},"raw":[1e3,0.1,1E-6,-0.0,12345678901234567890],"text":1.0}"#,
        ),
        (
            "escapes",
            r#"{"a":{"b":"\u00e9\ud83d\ude00"},"raw":"\/é😀","text":"\u0001\u2028\\"}"#,
        ),
        (
            "names-twice",
            r#"{"a":{"b":1,"b":2},"raw":{"x":1,"x":2},"text":"x"}"#,
        ),
        (
            "names-twice-by-escape",
            r#"{"a":{"b":1,"\u0062":2},"raw":0,"text":"x"}"#,
        ),
        ("indices", r#"{"a":{"b":1},"raw":{"1":0,"01":0},"text":""}"#),
        (
            "nulls",
            r#"{"a":{"b":null},"list":null,"raw":null,"text":null}"#,
        ),
        (
            "lone-surrogate",
            r#"{"a":{"b":"\ud800"},"raw":"\udc00","text":"\ud800"}"#,
        ),
        ("halfway", "[74.267618417818728685e13]"),
        ("array", "[1, 2 ,\t3]\n"),
        ("empty", ""),
        ("deep", "[[[[[[[[[[[[[[[[[[[[{}]]]]]]]]]]]]]]]]]]]]"),
    ] {
        for scheme in 0..3 {
            seeds.insert(
                format!("{name}.{scheme}"),
                json::seed(scheme, body.as_bytes()),
            );
        }
    }
    seeds
}

/// Seeds of the target `token`, with what they come to in front.
pub fn tokens() -> Seeds {
    const HEAD: &str = r#"{"alg":"HS256"}"#;
    const CLAIMS: &str =
        r#"{"body_hash":"BODY","iss":"a","jti":"1","ok":true,"iat":1800000000,"exp":1800000060}"#;
    let claims = |from: &str, to: &str| CLAIMS.replacen(from, to, 1);
    let mut seeds = Seeds::new();
    for (name, head, claims) in [
        ("usual", HEAD, claims("", "")),
        (
            "other-algorithm",
            r#"{"alg":"HS384","kid":"k","typ":"JWT"}"#,
            claims("", ""),
        ),
        ("none", r#"{"alg":"none"}"#, claims("", "")),
        (
            "algorithm-twice",
            r#"{"alg":"HS256","alg":"none"}"#,
            claims("", ""),
        ),
        (
            "critical",
            r#"{"alg":"HS256","crit":["x"],"x":1}"#,
            claims("", ""),
        ),
        (
            "critical-missing",
            r#"{"alg":"HS256","crit":["x"]}"#,
            claims("", ""),
        ),
        (
            "critical-unknown",
            r#"{"alg":"HS256","crit":["y"],"y":1}"#,
            claims("", ""),
        ),
        (
            "critical-empty",
            r#"{"alg":"HS256","crit":[]}"#,
            claims("", ""),
        ),
        (
            "not-encoded",
            r#"{"alg":"HS256","b64":false}"#,
            claims("", ""),
        ),
        ("key-number", r#"{"alg":"HS256","kid":1}"#, claims("", "")),
        ("claim-twice", HEAD, claims("{", r#"{"iss":"a","#)),
        (
            "claim-twice-by-escape",
            HEAD,
            claims("{", r#"{"i\u0073s":"a","#),
        ),
        ("other-issuer", HEAD, claims(r#""a""#, r#""c""#)),
        ("other-body", HEAD, claims("BODY", "00")),
        ("not-true", HEAD, claims("true", r#""true""#)),
        ("early", HEAD, claims("1800000000", "1800000061")),
        ("just-not-early", HEAD, claims("1800000000", "1800000060")),
        ("old", HEAD, claims("1800000000", "1799999699")),
        ("just-not-old", HEAD, claims("1800000000", "1799999700")),
        ("expired", HEAD, claims("1800000060", "1799999940")),
        ("just-not-expired", HEAD, claims("1800000060", "1799999941")),
        ("no-end", HEAD, claims(r#","exp":1800000060"#, "")),
        ("not-yet", HEAD, claims("{", r#"{"nbf":1800000061,"#)),
        ("fraction", HEAD, claims("1800000000", "1800000000.0")),
        ("exponent", HEAD, claims("1800000060", "18e8")),
        ("text", HEAD, claims("1800000000", r#""1800000000""#)),
    ] {
        let input = token::seed(head, &claims, b"{}");
        let answer = format!("{:?}", token::judge(&input)).to_lowercase();
        seeds.insert(format!("{answer}.{name}"), input);
    }
    seeds
}

/// Seeds of the target `http_signature`, with what they come to in front.
pub fn http_signatures() -> Seeds {
    const LIST: &str = r#"("@method" "@authority" "@path" "@query" "x-own-id" "content-digest")"#;
    const URL: &str = "https://hooks.example.com/in?b=2";
    let usual = format!(r#"sig1={LIST};created=1800000000;keyid="k""#);
    let with = |from: &str, to: &str| usual.replacen(from, to, 1);
    let mut seeds = Seeds::new();
    for (name, flags, url, input) in [
        ("usual", 1, URL, usual.clone()),
        ("other-body", 3, URL, usual.clone()),
        ("no-digest", 0, URL, usual.clone()),
        ("port", 1, "HTTPS://Hooks.Example.com:443?b", usual.clone()),
        ("no-query", 1, "https://hooks.example.com", usual.clone()),
        (
            "target",
            1,
            URL,
            with(r#""@authority" "@path" "@query""#, r#""@target-uri""#),
        ),
        (
            "request-target",
            1,
            URL,
            with(r#""@path" "@query""#, r#""@request-target" "@scheme""#),
        ),
        (
            "parameters",
            1,
            URL,
            usual.clone() + r#";alg="hmac-sha256";nonce="n";tag="t";expires=1800000000"#,
        ),
        (
            "other-algorithm",
            1,
            URL,
            usual.clone() + r#";alg="ed25519""#,
        ),
        ("expired", 1, URL, usual.clone() + ";expires=1799999999"),
        ("old", 1, URL, with("1800000000", "1799999699")),
        ("negative", 1, URL, with("1800000000", "-1")),
        ("no-time", 1, URL, with(";created=1800000000", "")),
        ("twice", 1, URL, with(r#""@path""#, r#""@path" "@path""#)),
        ("less", 1, URL, with(r#" "x-own-id""#, "")),
        ("blanks", 1, URL, with(r#"" ""#, r#""  ""#)),
        (
            "component-parameter",
            1,
            URL,
            with(r#""x-own-id""#, r#""x-own-id";sf"#),
        ),
        (
            "query-parameter",
            1,
            URL,
            with(r#""x-own-id""#, r#""x-own-id" "@query-param";name="b""#),
        ),
        (
            "two-labels",
            1,
            URL,
            format!(r#"a=("@method");created=1800000000;keyid="k", {usual}"#),
        ),
        ("quoted", 1, URL, with(r#""k""#, r#""k\"),(\\""#)),
    ] {
        let headers = [("X-Own-Id", "evt_1"), ("Signature-Input", input.as_str())];
        let input = http_signature::seed(flags, "POST", url, &headers, b"{}");
        let answer = format!("{:?}", http_signature::judge(&input)).to_lowercase();
        seeds.insert(format!("{answer}.{name}"), input);
    }
    seeds
}
