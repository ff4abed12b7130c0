//! What is refused when the service starts, and what is never shown.

use hookproof::{
    SecretFault,
    handshake::{
        self, Allowed, Body, Handshake, HandshakeFault, Hosts, Key, Moment, NO_SETTINGS, Piece,
        Place, Responder, ResponderError, When,
    },
    scheme::{Encoding, Mac},
};

use crate::case;

#[test]
fn settings_are_judged_like_secrets() {
    let meta = |token: &str| Responder::new(&handshake::META, [token]).map(|_| ());
    let fault = |fault| ResponderError::Setting {
        name: "verify token",
        fault,
    };
    assert_eq!(meta("a-good-token"), Ok(()));
    assert_eq!(meta(""), Err(fault(SecretFault::Empty)));
    assert_eq!(meta("  "), Err(fault(SecretFault::Blank)));
    assert_eq!(meta("pasted-token\n"), Err(fault(SecretFault::Edges)));
    assert_eq!(meta("short"), Err(fault(SecretFault::TooShort)));
    let none = Responder::new(&handshake::META, NO_SETTINGS).unwrap_err();
    assert_eq!(none, ResponderError::Count { wanted: 1 });
    let two = Responder::new(&handshake::META, ["token-one", "token-two"]).unwrap_err();
    assert_eq!(two, ResponderError::Count { wanted: 1 });
    let one = Responder::new(&handshake::DROPBOX, ["token-one"]).unwrap_err();
    assert_eq!(one, ResponderError::Count { wanted: 0 });
    let split = Responder::new(&handshake::VERCEL_LOG_DRAINS, ["a\r\nSet-Cookie:b"]).unwrap_err();
    assert!(
        matches!(split, ResponderError::NotForHeader { .. }),
        "{split:?}"
    );
    assert!(!split.to_string().contains("Cookie"));
}

#[test]
fn nothing_shows_a_setting_a_challenge_or_an_offer() {
    for case in case::all() {
        let debug = format!("{:?}", case.responder());
        for setting in &case.settings {
            assert!(!debug.contains(setting.as_str()), "{debug}");
        }
    }
    let offered = case::of("asana");
    let request =
        hookproof::headers::RequestTarget::new(&offered.headers, &offered.method, &offered.url);
    let offer = offered
        .responder()
        .accept_offer(&offered.body, &request)
        .unwrap()
        .unwrap();
    assert!(!format!("{offer:?}").contains("b537207f"), "{offer:?}");
    assert!(format!("{offer:?}").contains("X-Hook-Secret"), "{offer:?}");
}

const OPEN: Handshake = Handshake::new("own", Moment::Unsigned).when(&[When::EmptyBody]);
const SIGNED: Handshake =
    Handshake::new("own", Moment::Verified).when(&[When::Has(Place::Json("/id"))]);
const AWS: Hosts = Hosts {
    prefix: "sns.",
    suffixes: &[".amazonaws.com"],
};
const MAC: Piece = Piece::Hmac(Mac::HmacSha256, Key::Setting(0), Encoding::Hex);

#[test]
fn unsound_rows_are_refused() {
    let rows = [
        (
            Handshake::new("own", Moment::Unsigned),
            HandshakeFault::NoCondition,
        ),
        (
            SIGNED.when(&[When::Has(Place::Header("X-Type"))]),
            HandshakeFault::UnsignedPlace,
        ),
        (
            SIGNED.when(&[When::Method(&["GET"])]),
            HandshakeFault::UnsignedPlace,
        ),
        (
            SIGNED.challenge(Place::Query("q"), Allowed::Token),
            HandshakeFault::UnsignedPlace,
        ),
        (
            OPEN.confirm(Place::Json("/url"), AWS),
            HandshakeFault::UnsignedUrl,
        ),
        (
            OPEN.expects(Place::Query("q"), 0),
            HandshakeFault::NoSuchSetting,
        ),
        (
            OPEN.body(Body::Text(&[Piece::Setting(0)])),
            HandshakeFault::NoSuchSetting,
        ),
        (
            OPEN.body(Body::Json(&[("a", &[Piece::Challenge])])),
            HandshakeFault::NoChallenge,
        ),
        (
            Handshake::new("own", Moment::Subscribing).when(&[When::EmptyBody]),
            HandshakeFault::NoChallenge,
        ),
        (
            OPEN.challenge(Place::Json("id"), Allowed::Token),
            HandshakeFault::Pointer,
        ),
        (
            OPEN.challenge(Place::Query("q"), Allowed::Text)
                .headers(&[("X", &[Piece::Challenge])]),
            HandshakeFault::FreeText,
        ),
        (
            OPEN.challenge(Place::Query("q"), Allowed::Text)
                .settings(&["key"])
                .body(Body::Text(&[MAC])),
            HandshakeFault::FreeText,
        ),
        (
            OPEN.challenge(Place::Query("q"), Allowed::Token)
                .settings(&["key"])
                .body(Body::Text(&[Piece::Hmac(
                    Mac::HmacSha256,
                    Key::Setting(0),
                    Encoding::Plain,
                )])),
            HandshakeFault::NoMac,
        ),
        (
            OPEN.challenge(Place::Query("q"), Allowed::Token)
                .settings(&["key"])
                .body(Body::Text(&[Piece::Hmac(
                    Mac::Token,
                    Key::Setting(0),
                    Encoding::Hex,
                )])),
            HandshakeFault::NoMac,
        ),
        (
            OPEN.challenge(Place::Query("q"), Allowed::Token)
                .settings(&["key"])
                .headers(&[("X-Key", &[Piece::Setting(0)])])
                .body(Body::Text(&[MAC])),
            HandshakeFault::KeySent,
        ),
    ];
    for (row, fault) in rows {
        assert_eq!(row.check().unwrap_err(), fault, "{row:?}");
        let row: &'static Handshake = Box::leak(Box::new(row));
        assert_eq!(
            Responder::new(row, NO_SETTINGS).unwrap_err(),
            ResponderError::Row(fault)
        );
    }
}
