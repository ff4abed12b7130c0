//! The token's segments, and what stands around it.

use hookproof::{
    Malformed, RejectionKind,
    scheme::{Encoding, Jwt, Mac, Part, Scheme, Slot},
};

use super::*;

#[test]
fn a_token_has_one_spelling() {
    let good = token(HEADER, &claims());
    let segments: Vec<&str> = good.split('.').collect();
    let [header, payload, tag] = segments[..] else {
        panic!("three segments");
    };
    for text in [
        String::new(),
        ".".into(),
        "..".into(),
        "...".into(),
        header.into(),
        format!("{header}.{payload}"),
        format!("{header}.{payload}."),
        format!("{header}..{tag}"),
        format!(".{payload}.{tag}"),
        format!("{good}."),
        format!("{good}.{tag}"),
        format!(".{good}"),
        format!("{good}="),
        format!("{header}=.{payload}.{tag}"),
        format!("{good} "),
        format!(" {good}"),
        format!("{good}\n"),
        format!("{good}\0"),
        format!("{header}.\n{payload}.{tag}"),
        format!("Bearer {good}"),
        format!("\"{good}\""),
    ] {
        assert!(judged(&PLAIN, &text).is_err(), "{text:?}");
    }
    // 32 bytes are 43 characters, of which the last one's two lowest bits are no part.
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let last = alphabet.find(&tag[42..]).unwrap();
    assert_eq!(last % 4, 0);
    for other in 1..4 {
        let text = format!(
            "{}{}",
            &good[..good.len() - 1],
            &alphabet[last + other..=last + other]
        );
        assert!(is_malformed(judged(&PLAIN, &text)), "{text}");
    }
    // What is signed, but is not base64url: with padding, with bits left over, the other alphabet.
    for claims in ["{}", r#"{"a":"??>>~~"}"#] {
        let text = encoded(claims);
        for text in [
            format!("{text}="),
            format!("{text}!"),
            text.replace(['-', '_'], "/"),
        ] {
            if text == encoded(claims) {
                continue;
            }
            let signed = sealed(&encoded(HEADER), &text, SECRET.as_bytes());
            assert!(is_malformed(judged(&PLAIN, &signed)), "{text}");
        }
    }
    let (header, payload) = (encoded(HEADER), encoded("{}"));
    assert!(
        payload.ends_with('Q') || payload.ends_with('0'),
        "{payload}"
    );
    let odd = format!("{}{}", &payload[..payload.len() - 1], 'R');
    assert!(is_malformed(judged(
        &PLAIN,
        &sealed(&header, &odd, SECRET.as_bytes())
    )));
}

#[test]
fn sizes_are_bounded_before_anything_is_decoded() {
    let long = "A".repeat(9 * 1024);
    let too_long = Err(RejectionKind::Malformed(Malformed::HeaderTooLong(
        "X-Token",
    )));
    assert_eq!(
        judged(&PLAIN, &format!("{}.{long}.AA", encoded(HEADER))),
        too_long
    );
    let tag = "A".repeat(1367);
    let text = format!("{}.{}.{tag}", encoded(HEADER), encoded(claims()));
    assert!(is_malformed(judged(&PLAIN, &text)));
    let dots = ".".repeat(8000);
    assert!(is_malformed(judged(&PLAIN, &dots)));

    // A body has the server's limit; its token's header still has ours.
    const WHOLE: Scheme = Scheme::new("custom", Mac::HmacSha256)
        .signature(Slot::body(), Encoding::Base64Url)
        .jwt(&Jwt::new().data("data"))
        .content(&[Part::Body]);
    let secrets = secrets(&WHOLE);
    let pad = " ".repeat(9 * 1024);
    let header = format!("{HEADER}{pad}");
    let text = token(&header, "{}");
    assert!(is_malformed(verified(&secrets, text.as_bytes(), &[], NOW)));
    let text = token(HEADER, &format!("{{}}{pad}"));
    assert_eq!(verified(&secrets, text.as_bytes(), &[], NOW), Ok(()));
    assert!(verified(&secrets, format!("{text}\n").as_bytes(), &[], NOW).is_err());
}

#[test]
fn the_word_before_the_token_is_as_the_row_says() {
    const NO: Scheme = in_header(&Jwt::new(), &[]);
    const MUST: Scheme = NO.signature(Slot::header("X-Token").word("Bearer "), Encoding::Base64Url);
    const MAY: Scheme = NO.signature(
        Slot::header("X-Token").optional_word("Bearer "),
        Encoding::Base64Url,
    );
    let token = token(HEADER, "{}");
    for (word, must, may, no) in [
        ("", false, true, true),
        ("Bearer ", true, true, false),
        ("bEARER ", true, true, false),
        ("Bearer", false, false, false),
        ("Bearer  ", true, true, false),
        ("Bearer\t", false, false, false),
        ("Basic ", false, false, false),
        ("Bearer Bearer ", false, false, false),
    ] {
        let text = format!("{word}{token}");
        for (scheme, passes) in [(&MUST, must), (&MAY, may), (&NO, no)] {
            assert_eq!(judged(scheme, &text).is_ok(), passes, "{word:?}");
        }
    }
}
