//! One exchange out of `cases.json`: a request, and what must be sent back.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookproof::{
    Secrets,
    handshake::{Answer, Handshake, HandshakeError, Moment, Place, Responder},
    headers::RequestTarget,
    scheme::{Encoding, Mac, Part, Scheme, Slot},
    testing,
};
use serde_json::Value;
use time::OffsetDateTime;

use crate::common;

pub const SECRET: &str = "made-up-secret-of-the-provider";

#[derive(Clone)]
pub struct Case {
    pub row: &'static Handshake,
    pub name: String,
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
    pub settings: Vec<String>,
    /// The whole entry of the file.
    pub entry: Value,
    pub now: OffsetDateTime,
    /// A scheme and its secret, for a request whose recorded signature is to be verified.
    pub recorded: Option<(&'static Scheme, String)>,
}

/// What was sent back.
#[derive(Debug, PartialEq, Eq)]
pub struct Sent {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub confirm: Option<String>,
    pub offered: Option<String>,
}

impl Sent {
    fn new(answer: &Answer, offered: Option<&str>) -> Self {
        Self {
            status: answer.status(),
            headers: answer
                .headers()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            body: answer.body().to_vec(),
            confirm: answer.confirm_url().map(str::to_owned),
            offered: offered.map(str::to_owned),
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        let value = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "{name} is sent twice");
        value
    }
}

/// All cases; without the feature `sha1` there is a row less.
pub fn all() -> Vec<Case> {
    let file: Vec<Value> = serde_json::from_str(include_str!("cases.json")).unwrap();
    file.into_iter()
        .filter(|entry| cfg!(feature = "sha1") || entry["row"] != "braintree")
        .map(Case::new)
        .collect()
}

/// The first case of a row.
pub fn of(row: &str) -> Case {
    all()
        .into_iter()
        .find(|case| case.row.name() == row)
        .unwrap()
}

impl Case {
    fn new(entry: Value) -> Self {
        let text = |name: &str| entry[name].as_str().unwrap().to_owned();
        let row = Handshake::by_name(&text("row")).unwrap_or_else(|| panic!("{}", text("row")));
        let headers = entry["headers"].as_object().unwrap().iter();
        let body = match (&entry["json"], entry["body_b64"].as_str()) {
            (Value::Null, None) => Vec::new(),
            (Value::Null, Some(base64)) => STANDARD.decode(base64).unwrap(),
            (json, _) => json.to_string().into_bytes(),
        };
        let settings = entry["settings"].as_array().into_iter().flatten();
        let recorded = (entry["signed"] == "as recorded").then(|| {
            let scheme = Scheme::by_name(row.provider()).unwrap();
            (scheme, text("secret"))
        });
        Self {
            row,
            name: format!("{}/{}", text("row"), text("name")),
            method: text("method"),
            url: text("url"),
            headers: headers
                .map(|(name, value)| (name.clone(), value.as_str().unwrap().into()))
                .collect(),
            body,
            settings: settings.map(|s| s.as_str().unwrap().to_owned()).collect(),
            now: OffsetDateTime::from_unix_timestamp(
                entry["now"].as_i64().unwrap_or(1_800_000_000),
            )
            .unwrap(),
            recorded,
            entry,
        }
    }

    pub fn responder(&self) -> Responder {
        Responder::new(self.row, &self.settings).unwrap()
    }

    /// Sends the request in the way that its row wants. A signed one carries its recorded signature
    /// or one made here: what signs is another test's matter.
    pub fn send(&self) -> Result<Option<Sent>, HandshakeError> {
        let responder = self.responder();
        let request = RequestTarget::new(&self.headers, &self.method, &self.url);
        match self.row.moment() {
            Moment::Unsigned => {
                let answer = responder.answer(&self.body, &request)?;
                Ok(answer.map(|answer| Sent::new(&answer, None)))
            }
            Moment::Subscribing => {
                let offer = responder.accept_offer(&self.body, &request)?;
                Ok(offer.map(|offer| Sent::new(offer.answer(), Some(offer.secret_text()))))
            }
            Moment::Verified => {
                let (secrets, headers) = self.signed();
                let request = RequestTarget::new(&headers, &self.method, &self.url);
                let answer =
                    responder.verify_then_answer(&self.body, &request, &secrets, self.now)?;
                Ok(answer.map(|answer| Sent::new(&answer, None)))
            }
            _ => panic!("a new moment needs a way here"),
        }
    }

    pub fn signed(&self) -> (Secrets, Vec<(String, Vec<u8>)>) {
        if let Some((scheme, secret)) = &self.recorded {
            return (
                Secrets::new(scheme, [secret]).unwrap(),
                self.headers.clone(),
            );
        }
        let scheme = stand_in(self.row.provider());
        let signed = testing::sign(scheme, SECRET, &self.body, self.now).unwrap();
        let made = signed
            .headers
            .into_iter()
            .map(|(name, value)| (name, value.into_bytes()));
        let headers = self.headers.iter().cloned().chain(made).collect();
        (Secrets::new(scheme, [SECRET]).unwrap(), headers)
    }

    /// The same request with another text at a place; a signed one is signed anew.
    pub fn with(&self, place: Place, text: &str) -> Self {
        let mut case = self.clone();
        case.recorded = None;
        match place {
            Place::Header(wanted) => {
                let (_, value) = case
                    .headers
                    .iter_mut()
                    .find(|(name, _)| name == wanted)
                    .unwrap();
                *value = text.as_bytes().to_vec();
            }
            Place::Query(name) => {
                let (path, query) = self.url.split_once('?').unwrap();
                let pairs = query.split('&').map(|pair| match pair.split_once('=') {
                    Some((key, _)) if key == name => format!("{key}={}", percent(text)),
                    _ => pair.to_owned(),
                });
                case.url = format!("{path}?{}", pairs.collect::<Vec<_>>().join("&"));
                assert_ne!(case.url, self.url, "{name} is not in the URL");
            }
            Place::Json(pointer) => {
                let mut body: Value = serde_json::from_slice(&self.body).unwrap();
                common::put(&mut body, pointer, text.into());
                case.body = body.to_string().into_bytes();
            }
            other => panic!("{other:?} needs a way here"),
        }
        case
    }

    /// The same request with the value at a place twice.
    pub fn doubled(&self, place: Place) -> Option<Self> {
        let mut case = self.clone();
        match place {
            Place::Header(wanted) => {
                let again = self
                    .headers
                    .iter()
                    .find(|(name, _)| name == wanted)
                    .unwrap();
                case.headers.push(again.clone());
            }
            Place::Query(name) => {
                let (_, query) = self.url.split_once('?').unwrap();
                let pair = query
                    .split('&')
                    .find(|pair| pair.split('=').next() == Some(name))
                    .unwrap();
                case.url = format!("{}&{pair}", self.url);
            }
            _ => return None,
        }
        Some(case)
    }
}

/// A scheme that signs a body under any provider's name.
pub fn stand_in(provider: &'static str) -> &'static Scheme {
    let scheme = Scheme::new("stand-in", Mac::HmacSha256)
        .provider_name(provider)
        .signature(Slot::header("X-Stand-In"), Encoding::Hex)
        .content(&[Part::Body]);
    Box::leak(Box::new(scheme))
}

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}
