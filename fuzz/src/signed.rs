//! What the targets of single parsers share: a scheme of [`own`](crate::own) with a known key.

use hmac::{Hmac, KeyInit as _, Mac as _};
use hookproof::{
    Secrets,
    headers::RequestTarget,
    scheme::Scheme,
    testing::{Signed, Signer},
};
use sha2::Sha256;
use time::OffsetDateTime;

use crate::{
    meaning::Message,
    oracle::Answer,
    verify::{Facts, examine},
};

/// The key of every sender here.
pub const KEY: &str = "a-key-that-the-targets-know";

/// 2027-01-15T08:00:00Z, in seconds.
pub const NOW: i64 = 1_800_000_000;

/// The clock of every receiver here.
pub fn now() -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(NOW).expect("a date")
}

/// HMAC-SHA-256 under the key.
pub fn mac(content: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(KEY.as_bytes()).expect("any length");
    mac.update(content);
    mac.finalize().into_bytes().to_vec()
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The request as the scheme's sender would sign it, if the crate can read it.
pub fn sign(scheme: &'static Scheme, request: &Message) -> Option<Message> {
    let mut signer = Signer::new(scheme, KEY).at(now());
    signer = signer.target(&request.method, &request.url);
    for (name, value) in &request.headers {
        signer = signer.header(name, std::str::from_utf8(value).ok()?);
    }
    signer.sign(&request.body).ok().map(Message::from)
}

impl From<Signed> for Message {
    fn from(signed: Signed) -> Self {
        let headers = signed.headers.into_iter();
        Self {
            method: signed.method,
            url: signed.url,
            headers: headers
                .map(|(name, value)| (name, value.into_bytes()))
                .collect(),
            body: signed.body,
        }
    }
}

/// What verification comes to, once the delivery has been asked everything.
pub fn judge(scheme: &'static Scheme, request: &Message) -> Answer {
    let secrets = Secrets::new(scheme, [KEY]).expect("a sound secret");
    pass(&secrets, request, now()).map_or(Answer::Refused, |(answer, _)| answer)
}

/// What an authentic request says of itself, and whether it is fresh.
pub fn pass(secrets: &Secrets, request: &Message, now: OffsetDateTime) -> Option<(Answer, Facts)> {
    let target = RequestTarget::new(&request.headers, &request.method, &request.url);
    match hookproof::verify(&request.body, &target, secrets, now) {
        Ok(delivery) => {
            examine(&delivery, &request.body);
            Some((Answer::Accepted, Facts::of(&delivery)))
        }
        Err(rejection) => {
            let late = rejection.into_stale()?;
            Some((Answer::Stale, Facts::of(&late.danger_accept_late())))
        }
    }
}
