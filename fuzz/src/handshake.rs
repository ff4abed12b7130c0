//! Endpoint checks, whose answers must be harmless whatever is asked.

use std::sync::LazyLock;

use hookproof::{
    Secrets,
    handshake::{ALL, Allowed, Answer, Handshake, MAX_CHALLENGE, Moment, Place, Responder},
    headers::{Headers as _, Lookup, RequestTarget},
    scheme::{Encoding, Mac, Part, Scheme, Slot},
    testing,
};
use time::OffsetDateTime;

use crate::senders::tag;

const SECRET: &str = "made-up-secret";

/// One row, ready to answer.
struct Endpoint {
    tag: u32,
    responder: Responder,
    /// For signed handshakes: a scheme that signs under the row's provider.
    scheme: &'static Scheme,
}

static ENDPOINTS: LazyLock<Vec<Endpoint>> = LazyLock::new(|| {
    let endpoint = |row: &&'static Handshake| Endpoint {
        tag: tag(row.name()),
        responder: Responder::new(row, (0..row.setting_names().len()).map(setting))
            .expect("a row that can be used"),
        scheme: Box::leak(Box::new(
            Scheme::new("stand-in", Mac::HmacSha256)
                .provider_name(row.provider())
                .signature(Slot::header("X-Stand-In"), Encoding::Hex)
                .content(&[Part::Body]),
        )),
    };
    ALL.iter().map(endpoint).collect()
});

/// What every row is given as its setting at a place.
pub fn setting(index: usize) -> String {
    format!("made-up-setting-{index}")
}

/// The input that reads as a request to a row: its tag, the method and URL, the headers, an empty
/// line and the body.
pub fn seed(row: &str, method: &str, url: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("{method} {url}\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\n"));
    }
    head.push('\n');
    [&tag(row).to_le_bytes(), head.as_bytes(), body].concat()
}

struct Request<'a> {
    endpoint: &'static Endpoint,
    method: &'a str,
    url: &'a str,
    headers: Vec<(&'a str, &'a [u8])>,
    body: &'a [u8],
}

fn read(data: &[u8]) -> Option<Request<'_>> {
    let (number, rest) = data.split_first_chunk()?;
    let number = u32::from_le_bytes(*number);
    let next = |endpoint: &&Endpoint| endpoint.tag.wrapping_sub(number);
    let mut rest = rest;
    let mut line = || {
        let end = rest.iter().position(|&byte| byte == b'\n')?;
        let line = &rest[..end];
        rest = &rest[end + 1..];
        Some(line)
    };
    let (method, url) = std::str::from_utf8(line()?).ok()?.split_once(' ')?;
    let mut headers = Vec::new();
    while let Some(field) = line().filter(|field| !field.is_empty()) {
        let colon = field.iter().position(|&byte| byte == b':')?;
        let name = std::str::from_utf8(&field[..colon]).ok()?;
        headers.push((name, field[colon + 1..].trim_ascii()));
    }
    Some(Request {
        endpoint: ENDPOINTS.iter().min_by_key(next)?,
        method,
        url,
        headers,
        body: rest,
    })
}

/// What came of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Came {
    /// Not a request, or no handshake.
    Nothing,
    /// Refused.
    Refused,
    /// Answered.
    Answered,
}

/// Target: every row of the handshakes, over any request.
pub fn handshake(data: &[u8]) {
    judge(data);
}

/// Runs the target, and says what came of the input.
pub fn judge(data: &[u8]) -> Came {
    let Some(request) = read(data) else {
        return Came::Nothing;
    };
    let responder = &request.endpoint.responder;
    let row = responder.handshake();
    let target = RequestTarget::new(&request.headers, request.method, request.url);
    match row.moment() {
        Moment::Subscribing => match responder.accept_offer(request.body, &target) {
            Ok(None) => Came::Nothing,
            Err(_) => Came::Refused,
            Ok(Some(offer)) => {
                if let Some((Place::Header(name), _)) = row.challenge_place() {
                    let offered = Lookup::One(offer.secret_text().as_bytes());
                    assert_eq!(target.lookup(name), offered, "not what was offered");
                }
                harmless(row, offer.answer())
            }
        },
        Moment::Verified => signed(&request),
        _ => match responder.answer(request.body, &target) {
            Ok(None) => Came::Nothing,
            Err(_) => Came::Refused,
            Ok(Some(answer)) => harmless(row, &answer),
        },
    }
}

/// The body of the input, as its provider would have signed it, and as nobody did.
fn signed(request: &Request<'_>) -> Came {
    let Endpoint {
        responder, scheme, ..
    } = request.endpoint;
    let now = OffsetDateTime::UNIX_EPOCH;
    let secrets = Secrets::new(scheme, [SECRET]).expect("a secret");
    let unsigned = RequestTarget::new(&request.headers, request.method, request.url);
    let forged = responder.verify_then_answer(request.body, &unsigned, &secrets, now);
    assert!(
        !matches!(forged, Ok(Some(_))),
        "answered, and nobody signed it"
    );
    let signed = testing::sign(scheme, SECRET, request.body, now).expect("a signature");
    match responder.verify_then_answer(request.body, &signed, &secrets, now) {
        Ok(None) => Came::Nothing,
        Err(_) => Came::Refused,
        Ok(Some(answer)) => harmless(responder.handshake(), &answer),
    }
}

fn harmless(row: &Handshake, answer: &Answer) -> Came {
    assert_eq!(answer.status(), row.answer_status());
    let mut nosniff = 0;
    for (name, value) in answer.headers() {
        let plain = |c: char| c.is_ascii_graphic() || c == ' ';
        assert!(value.chars().all(plain), "{name} cannot be sent: {value:?}");
        let kinds = ["text/plain; charset=utf-8", "application/json"];
        assert!(name != "Content-Type" || kinds.contains(&value), "{value}");
        nosniff += usize::from(name == "X-Content-Type-Options" && value == "nosniff");
    }
    assert_eq!(nosniff, 1);
    let text = std::str::from_utf8(answer.body()).expect("text");
    assert!(!text.chars().any(char::is_control), "{text:?}");
    assert!(
        text.len() <= 12 * MAX_CHALLENGE + 1024,
        "an answer without bound"
    );
    if matches!(row.challenge_place(), Some((_, Allowed::Token))) {
        assert!(!text.contains(['<', '>', '&']), "{text:?}");
    }
    if let Some(url) = answer.confirm_url() {
        let (scheme, rest) = url.split_at(8);
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        assert!(scheme.eq_ignore_ascii_case("https://"), "{url}");
        assert!(
            host.starts_with("sns.") && host.contains(".amazonaws.com"),
            "{url}"
        );
        let known = [".amazonaws.com", ".amazonaws.com.cn"];
        assert!(known.iter().any(|end| host.ends_with(end)), "{url}");
    }
    Came::Answered
}
