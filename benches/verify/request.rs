//! Authentic requests, as they come in behind a proxy.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use hookproof::{Scheme, scheme};
use http::{HeaderMap, HeaderName, HeaderValue};
use sha2::Sha256;
use time::OffsetDateTime;

const KEY: &[u8; 32] = b"benches-only-key-0123456789abcde";
const ID: &str = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W";

/// Which provider sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    GitHub,
    Stripe,
    StandardWebhooks,
}

impl Kind {
    pub fn scheme(self) -> &'static Scheme {
        match self {
            Kind::GitHub => &scheme::GITHUB,
            Kind::Stripe => &scheme::STRIPE,
            Kind::StandardWebhooks => &scheme::STANDARD_WEBHOOKS,
        }
    }

    pub fn name(self) -> &'static str {
        self.scheme().name()
    }

    /// The secret as the provider shows it.
    pub fn secret(self) -> String {
        match self {
            Kind::StandardWebhooks => format!("whsec_{}", STANDARD.encode(KEY)),
            Kind::GitHub | Kind::Stripe => String::from_utf8_lossy(KEY).into_owned(),
        }
    }

    /// The bytes that the MAC is keyed with: the same for all, however they are written.
    pub fn key(self) -> Vec<u8> {
        KEY.to_vec()
    }

    pub fn is_hex(self) -> bool {
        self != Kind::StandardWebhooks
    }
}

/// A signed request, and what went into its signature.
pub struct Request {
    pub kind: Kind,
    pub map: HeaderMap,
    pub pairs: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// What is signed before the body, piece by piece.
    pub pieces: Vec<String>,
    /// The signature's text alone.
    pub signature: String,
}

impl Request {
    /// A request with a body of exactly `size` bytes, signed at `now`.
    pub fn signed(kind: Kind, size: usize, now: OffsetDateTime) -> Self {
        let body = event(size);
        let stamp = now.unix_timestamp().to_string();
        let pieces: Vec<String> = match kind {
            Kind::GitHub => vec![],
            Kind::Stripe => vec![stamp.clone(), ".".into()],
            Kind::StandardWebhooks => vec![ID.into(), ".".into(), stamp.clone(), ".".into()],
        };
        let mut mac = Hmac::<Sha256>::new_from_slice(&kind.key()).expect("HMAC takes any key");
        for piece in &pieces {
            mac.update(piece.as_bytes());
        }
        mac.update(&body);
        let mac = mac.finalize().into_bytes();
        let signature = if kind.is_hex() {
            hex::encode(mac)
        } else {
            STANDARD.encode(mac)
        };

        let length = size.to_string();
        let mut headers = vec![
            ("Host", "hooks.example.com"),
            ("Accept", "*/*"),
            ("Content-Type", "application/json"),
            ("Content-Length", &length),
            ("Accept-Encoding", "gzip"),
            ("X-Forwarded-For", "192.0.2.44"),
            ("X-Forwarded-Proto", "https"),
            ("X-Request-Id", "5f0c8f0e-6f0c-4b53-9a6e-6b8f0d3d2f6b"),
        ];
        let value;
        match kind {
            Kind::GitHub => {
                value = format!("sha256={signature}");
                headers.extend([
                    ("User-Agent", "GitHub-Hookshot/044aadd"),
                    ("X-GitHub-Delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958"),
                    ("X-GitHub-Event", "issues"),
                    ("X-GitHub-Hook-ID", "292430182"),
                    ("X-GitHub-Hook-Installation-Target-ID", "79929171"),
                    ("X-GitHub-Hook-Installation-Target-Type", "repository"),
                    (
                        "X-Hub-Signature",
                        "sha1=7d38cdd689735b008b3c702edd92eea23791c5f6",
                    ),
                    ("X-Hub-Signature-256", &value),
                ]);
            }
            Kind::Stripe => {
                value = format!("t={stamp},v1={signature}");
                headers.extend([
                    (
                        "User-Agent",
                        "Stripe/1.0 (+https://stripe.com/docs/webhooks)",
                    ),
                    ("Cache-Control", "no-cache"),
                    ("Stripe-Signature", &value),
                ]);
            }
            Kind::StandardWebhooks => {
                value = format!("v1,{signature}");
                headers.extend([
                    ("User-Agent", "Svix-Webhooks/1.24"),
                    ("webhook-id", ID),
                    ("webhook-timestamp", &stamp),
                    ("webhook-signature", &value),
                ]);
            }
        }
        let pair = |(name, value): &(&str, &str)| {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a header name");
            (name, HeaderValue::from_str(value).expect("a header value"))
        };
        Self {
            kind,
            map: headers.iter().map(pair).collect(),
            pairs: headers
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect(),
            body,
            pieces,
            signature,
        }
    }
}

/// An event in JSON, such as Stripe's, made up to `size` bytes with text.
fn event(size: usize) -> Vec<u8> {
    let start = br#"{"id":"evt_1","object":"event","api_version":null,"created":1,"livemode":false,"pending_webhooks":1,"request":null,"type":"bench.done","data":{"object":{"text":""#;
    let end = br#""}}}"#;
    let padding = size
        .checked_sub(start.len() + end.len())
        .expect("a size that holds an event");
    [&start[..], &vec![b'x'; padding], end].concat()
}
