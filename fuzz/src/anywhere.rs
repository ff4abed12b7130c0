//! Every row of the catalogue, wherever it looks: what passes must mean what was signed.

use std::sync::{LazyLock, OnceLock};

use arbitrary::{Arbitrary as _, Result, Unstructured};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookproof::{
    Secret, Secrets,
    scheme::{ALL, Scheme, SecretFormat},
    testing::{self, Signer},
};

use crate::{
    input::{bytes, json_body},
    meaning::{self, Message},
    oracle::Answer,
    senders::tag,
    signed::{self, now},
    verify::Facts,
};

/// Whether the request of the input has its signature put in; else nobody signed it.
pub const SIGN: u8 = 1;
/// Whether one of the ready requests is taken, instead of one with the input's URL and body.
pub const READY: u8 = 2;

/// One row, with a key that no input holds.
struct Row {
    tag: u32,
    scheme: &'static Scheme,
    secrets: Secrets,
    ready: OnceLock<Vec<Message>>,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let row = |scheme: &&'static Scheme| Row {
        tag: tag(scheme.name()),
        scheme,
        secrets: Secrets::new(scheme, [receivers(scheme)]).expect("a sound secret"),
        ready: OnceLock::new(),
    };
    ALL.iter().map(row).collect()
});

/// What the sender has.
fn senders(scheme: &'static Scheme) -> Secret {
    const SECRET: &str = "no-input-holds-this-secret-17";
    let hex = || SECRET.bytes().map(|byte| format!("{byte:02x}")).collect();
    with_settings(
        scheme,
        match (testing::test_key(scheme.mac()), scheme.secret_format()) {
            (Some(private), _) => private.into(),
            (None, SecretFormat::Base64 { prefix }) => {
                format!("{prefix}{}", STANDARD.encode(SECRET))
            }
            (None, SecretFormat::Hex) => hex(),
            (None, _) => SECRET.into(),
        },
    )
}

/// What the receiver has.
fn receivers(scheme: &'static Scheme) -> Secret {
    match testing::test_key(scheme.mac()) {
        Some(private) => {
            let public = testing::public_key_of(scheme, private).expect("a private key");
            with_settings(scheme, public)
        }
        None => senders(scheme),
    }
}

fn with_settings(scheme: &'static Scheme, text: String) -> Secret {
    let needed = scheme.settings().iter();
    needed.fold(Secret::from(text), |secret, name| {
        secret.setting(name, "of-the-target")
    })
}

/// A request as a row's sender would sign it, if it can be signed.
fn sign(scheme: &'static Scheme, request: &Message) -> Option<Message> {
    let mut signer = Signer::new(scheme, senders(scheme)).at(now());
    signer = signer.target(&request.method, &request.url);
    for (name, value) in &request.headers {
        signer = signer.header(name, std::str::from_utf8(value).ok()?);
    }
    signer.sign(&request.body).ok().map(Message::from)
}

impl Row {
    fn of(number: u32) -> &'static Self {
        let next = ROWS.iter().min_by_key(|row| row.tag.wrapping_sub(number));
        next.expect("the catalogue has rows")
    }

    /// Signed once, since RSA takes its time: a form, JSON and nothing, with a query and without.
    fn ready(&self) -> &[Message] {
        self.ready.get_or_init(|| {
            let form = (
                "application/x-www-form-urlencoded",
                b"A=1&b=x%2By&A=2".to_vec(),
            );
            let json = (
                "application/json",
                json_body(self.scheme, now(), "x".into()),
            );
            let mut ready = Vec::new();
            for (kind, body) in [form, json, ("", Vec::new())] {
                for url in [
                    "https://hooks.example.com/in",
                    "https://hooks.example.com/in?b=2&a=1",
                ] {
                    let kind = ("Content-Type".to_owned(), kind.as_bytes().to_vec());
                    let headers = [kind].into_iter().filter(|(_, kind)| !kind.is_empty());
                    ready.extend(sign(
                        self.scheme,
                        &Message {
                            method: "POST".into(),
                            url: url.into(),
                            headers: headers.collect(),
                            body: body.clone(),
                        },
                    ));
                }
            }
            // A time inside a body needs a body of the right kind.
            ready.retain(|request| pass(self, request).is_some());
            assert!(!ready.is_empty(), "{} signs nothing", self.scheme.name());
            ready
        })
    }
}

/// The input that reads as a request to a row, nobody's or signed by the target.
pub fn seed(row: &str, flags: u8, request: &Message) -> Vec<u8> {
    let mut data = tag(row).to_le_bytes().to_vec();
    data.extend([flags, 0]);
    let count = u8::try_from(request.headers.len()).expect("few headers");
    // One empty change.
    data.extend([0, count]);
    let mut texts = vec![request.method.as_bytes(), request.url.as_bytes()];
    for (name, value) in &request.headers {
        texts.extend([name.as_bytes(), value]);
    }
    for text in texts {
        data.extend(u16::try_from(text.len()).expect("short").to_le_bytes());
        data.extend(text);
    }
    data.extend(&request.body);
    data
}

/// The input that reads as one of a row's ready requests, with bytes written over it at some places.
pub fn seed_of_ready(row: &str, which: u8, changes: &[(u8, u16, u8, &[u8])]) -> Vec<u8> {
    let mut data = tag(row).to_le_bytes().to_vec();
    data.extend([
        SIGN | READY,
        which,
        u8::try_from(changes.len()).expect("few"),
    ]);
    for (place, start, removed, inserted) in changes {
        data.push(*place);
        data.extend(start.to_le_bytes());
        data.push(*removed);
        data.extend(u16::try_from(inserted.len()).expect("short").to_le_bytes());
        data.extend(*inserted);
    }
    data
}

/// Some bytes of a request replaced by others.
struct Change<'a> {
    place: u8,
    start: usize,
    removed: usize,
    inserted: &'a [u8],
}

impl Change<'_> {
    /// 0: body, 1: URL, 2: method, 3: a new header, 4: the last header goes, 5 and on: the headers'
    /// values, from 128 on their names.
    fn make(&self, request: &mut Message) {
        let splice = |text: &mut Vec<u8>| {
            let start = self.start % (text.len() + 1);
            let end = (start + self.removed).min(text.len());
            text.splice(start..end, self.inserted.iter().copied());
        };
        let splice_text = |text: &mut String| {
            let mut new = std::mem::take(text).into_bytes();
            splice(&mut new);
            *text = String::from_utf8_lossy(&new).into_owned();
        };
        let headers = request.headers.len().max(1);
        match self.place {
            0 => splice(&mut request.body),
            1 => splice_text(&mut request.url),
            2 => splice_text(&mut request.method),
            3 => {
                let mut halves = self.inserted.splitn(2, |byte| *byte == b':');
                let mut half = || halves.next().unwrap_or_default();
                let name = String::from_utf8_lossy(half()).into_owned();
                request.headers.push((name, half().to_vec()));
            }
            4 => drop(request.headers.pop()),
            place => {
                let header = request
                    .headers
                    .get_mut(usize::from(place & 127).wrapping_sub(5) % headers);
                match header {
                    Some((name, _)) if place > 127 => splice_text(name),
                    Some((_, value)) => splice(value),
                    None => {}
                }
            }
        }
    }
}

/// A row, the request that was signed if one was, and the request that is sent.
type Case = (&'static Row, Option<Message>, Message);

fn read(data: &[u8]) -> Result<Case> {
    let mut input = Unstructured::new(data);
    let input = &mut input;
    let row = Row::of(u32::arbitrary(input)?);
    let [flags, which, count] = <[u8; 3]>::arbitrary(input)?;
    let mut changes = Vec::new();
    for _ in 0..count % 4 {
        changes.push(Change {
            place: u8::arbitrary(input)?,
            start: u16::arbitrary(input)?.into(),
            removed: u8::arbitrary(input)?.into(),
            inserted: bytes(input)?,
        });
    }
    let signed = if flags & (SIGN | READY) == SIGN | READY {
        let ready = row.ready();
        Some(ready[usize::from(which) % ready.len()].clone())
    } else {
        let written = write(input)?;
        // With a private key of RSA, a second would go by.
        let slow = row.scheme.mac().is_public_key();
        let signed = (flags & SIGN != 0 && !slow)
            .then(|| sign(row.scheme, &written))
            .flatten();
        if signed.is_none() {
            return Ok((row, None, written));
        }
        signed
    };
    let mut sent = signed.clone().expect("was signed");
    for change in changes {
        change.make(&mut sent);
    }
    Ok((row, signed, sent))
}

/// A request as the input has it.
fn write(input: &mut Unstructured<'_>) -> Result<Message> {
    let count = u8::arbitrary(input)? % 32;
    let text = |input: &mut Unstructured<'_>| -> Result<String> {
        Ok(String::from_utf8_lossy(bytes(input)?).into_owned())
    };
    Ok(Message {
        method: text(input)?,
        url: text(input)?,
        headers: (0..count)
            .map(|_| Ok((text(input)?, bytes(input)?.to_vec())))
            .collect::<Result<_>>()?,
        body: input.bytes(input.len())?.to_vec(),
    })
}

/// What came of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Came {
    /// Not a request.
    Nothing,
    /// Refused.
    Refused,
    /// Authentic, whatever its age.
    Passed,
}

/// Target: `verify` over any request to any row of the catalogue.
pub fn anywhere(data: &[u8]) {
    judge(data);
}

/// Runs the target, and says what came of the input.
pub fn judge(data: &[u8]) -> Came {
    let Ok((row, signed, sent)) = read(data) else {
        return Came::Nothing;
    };
    let Some((answer, facts)) = pass(row, &sent) else {
        let ready = row.ready.get().is_some_and(|ready| ready.contains(&sent));
        assert!(!ready, "{}: was signed", row.scheme.name());
        return Came::Refused;
    };
    let scheme = row.scheme;
    let signed = signed.unwrap_or_else(|| panic!("{}: nobody signed {sent:?}", scheme.name()));
    let name = scheme.name();
    assert!(
        meaning::same(scheme, &signed, &sent),
        "{name}: {signed:?} and {sent:?}"
    );
    // The same under one signature is one event, whatever else was changed on the way. Only of
    // several elements is each an event by itself; and a time may be cut short, if that makes it old.
    if let (Some((Answer::Accepted, before)), Answer::Accepted, None) =
        (pass(row, &signed), answer, scheme.each_element())
    {
        let why = format!("{name}: {signed:?} and {sent:?}");
        assert_eq!(before.content, facts.content, "{why}");
        if scheme.coverage().id {
            assert_eq!(before.event, facts.event, "{why}");
        }
    }
    Came::Passed
}

/// What an authentic request says of itself, and whether it is fresh.
fn pass(row: &Row, request: &Message) -> Option<(Answer, Facts)> {
    signed::pass(&row.secrets, request, now())
}
