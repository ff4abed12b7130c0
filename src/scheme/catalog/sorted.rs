//! URL and form fields, decoded and sorted, and other canonical strings.

use std::time::Duration;

#[cfg(feature = "sha1")]
use super::DAY;
use crate::scheme::{
    Condition, Encoding, Evidence, HeaderList, Mac, Part, Scheme, Shape, Slot, Source, Stability,
    Transform, Unit,
};

const CONTENTFUL_HEADERS: Slot = Slot::header("x-contentful-signed-headers").list(b',');
const NONCE: Part = Part::Header(Slot::header("X-Plivo-Signature-V3-Nonce").shape(Shape::Token));

const KEY_THEN_VALUE: &str = "names and values are joined without separators, so AmountOwed=100 and \
    AmountOwed1=00 sign alike, and a field can move into the query: read only fields that you know, \
    refuse unknown ones, and give `verify` the URL you registered";

const OTHER_URL: Part = Part::Of(Transform::OtherPort, &[Part::Url]);

/// JSON to Twilio: the URL alone is signed, and carries the body's digest.
const BODY_SHA256: Slot = Slot::query("bodySHA256");

const TWILIO_FORM: &[Part] = &[Part::Require(Condition::Form), Part::Url, Part::SortedForm];
const TWILIO_FORM_OTHER: &[Part] = &[Part::Require(Condition::Form), OTHER_URL, Part::SortedForm];
const TWILIO_JSON: &[Part] = &[
    Part::Require(Condition::NoForm),
    Part::Require(Condition::BodySha256(BODY_SHA256)),
    Part::Url,
];
const TWILIO_JSON_OTHER: &[Part] = &[
    Part::Require(Condition::NoForm),
    Part::Require(Condition::BodySha256(BODY_SHA256)),
    OTHER_URL,
];
/// Whatever has no body, and no digest of one that could have been taken away.
const TWILIO_GET: &[Part] = &[
    Part::Require(Condition::NoBody),
    Part::Require(Condition::Missing(BODY_SHA256)),
    Part::Url,
    Part::Body,
];
const TWILIO_GET_OTHER: &[Part] = &[
    Part::Require(Condition::NoBody),
    Part::Require(Condition::Missing(BODY_SHA256)),
    OTHER_URL,
    Part::Body,
];

const TWILIO_SETTINGS: Slot = Slot::header("X-Twilio-Webhooks-Signature-Settings").list(b',');
const TWILIO_SHA256: Part = Part::Require(Condition::Equals(
    TWILIO_SETTINGS.prefix("algorithm="),
    "HMAC_SHA256",
));

catalog! {
    /// Twilio: voice, messaging and event streams.
    #[cfg(feature = "sha1")]
    pub const TWILIO: Scheme = Scheme::new("twilio", Mac::HmacSha1)
        .signature(Slot::header("X-Twilio-Signature"), Encoding::Base64)
        .content(&[Part::Of(Transform::Join, TWILIO_FORM)])
        .or_content(&[
            &[Part::Of(Transform::Join, TWILIO_FORM_OTHER)],
            &[Part::Of(Transform::Join, TWILIO_JSON)],
            &[Part::Of(Transform::Join, TWILIO_JSON_OTHER)],
            &[Part::Of(Transform::Join, TWILIO_GET)],
            &[Part::Of(Transform::Join, TWILIO_GET_OTHER)],
        ])
        .ambiguous_boundary(KEY_THEN_VALUE)
        .delivery_id("I-Twilio-Idempotency-Token")
        .stability(Stability::None)
        .docs(
            "https://www.twilio.com/docs/usage/webhooks/webhooks-security",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "The secret is the primary Auth Token. Twilio signs the URL with or without its port, and \
             not always alike: both are tried.",
            "A JSON body is bound by bodySHA256 in the URL, which is compared here; a JSON body without \
             it is refused, since nothing would protect it.",
            "There is no timestamp, so a captured request stays good, and I-Twilio-Idempotency-Token, \
             the same over retries, is not signed. Choose a key of SID and status.",
            "Behind a proxy the URL must be the public one; its query keeps its order and spelling.",
        ]);

    /// Twilio with shared keys and SHA-256.
    pub const TWILIO_SHARED_KEYS: Scheme = Scheme::new("twilio-shared-keys", Mac::HmacSha256)
        .provider_name("twilio")
        .signature(Slot::header("X-Twilio-Signature"), Encoding::Base64)
        .key_id_in(TWILIO_SETTINGS.prefix("key="))
        .content(&[TWILIO_SHA256, Part::Of(Transform::Join, TWILIO_FORM)])
        .or_content(&[
            &[TWILIO_SHA256, Part::Of(Transform::Join, TWILIO_FORM_OTHER)],
            &[TWILIO_SHA256, Part::Of(Transform::Join, TWILIO_JSON)],
            &[TWILIO_SHA256, Part::Of(Transform::Join, TWILIO_JSON_OTHER)],
            &[TWILIO_SHA256, Part::Of(Transform::Join, TWILIO_GET)],
            &[TWILIO_SHA256, Part::Of(Transform::Join, TWILIO_GET_OTHER)],
        ])
        .ambiguous_boundary(KEY_THEN_VALUE)
        .delivery_id("I-Twilio-Idempotency-Token")
        .stability(Stability::None)
        .docs(
            "https://www.twilio.com/docs/usage/webhooks/webhook-shared-keys",
            Evidence::OfficialDocs,
        )
        .notes(&[
            "As twilio, but with SHA-256 and a secret of your own: the settings header must say so, and \
             names the key. Give the secret that id. The vectors are this project's own.",
        ]);

    /// Mandrill (Mailchimp Transactional).
    #[cfg(feature = "sha1")]
    pub const MANDRILL: Scheme = Scheme::new("mandrill", Mac::HmacSha1)
        .signature(Slot::header("X-Mandrill-Signature"), Encoding::Base64)
        .content(&[Part::Url, Part::SortedForm])
        .ambiguous_boundary(KEY_THEN_VALUE)
        .stability(Stability::None)
        .retry_horizon(DAY.saturating_mul(3))
        .docs(
            "https://mandrill.zendesk.com/hc/en-us/articles/360039232513-How-to-Authenticate-Webhook-Requests",
            Evidence::OfficialDocs,
        )
        .notes(&[
            "The URL is signed exactly as it was entered, trailing slash and query included.",
            "The field mandrill_events holds a JSON list of up to 1000 events: choose a key of _id, event \
             and ts for each.",
            "The check when a webhook is made is signed with the literal key test-webhook: add that as a \
             second secret while you set up, and take it out again.",
            "Audience webhooks of Mailchimp Marketing are not signed at all; see mailchimp.",
            "Retry horizon unverified.",
        ]);

    /// Plivo, signature version 3.
    pub const PLIVO: Scheme = Scheme::new("plivo", Mac::HmacSha256)
        .signature(Slot::header("X-Plivo-Signature-V3").list(b','), Encoding::Base64)
        .more_signatures(&[Slot::header("X-Plivo-Signature-Ma-V3").list(b',')])
        .content(&[
            Part::Require(Condition::Form),
            Part::Require(Condition::NoQuery),
            Part::UrlBase,
            Part::Text("?"),
            Part::SortedForm,
            Part::Text("."),
            NONCE,
        ])
        .or_content(&[
            &[
                Part::Require(Condition::Form),
                Part::Require(Condition::Query),
                Part::UrlBase,
                Part::Text("?"),
                Part::SortedQuery,
                Part::Text("."),
                Part::SortedForm,
                Part::Text("."),
                NONCE,
            ],
            &[
                Part::Require(Condition::NoBody),
                Part::Require(Condition::Query),
                Part::UrlBase,
                Part::Text("?"),
                Part::SortedQuery,
                Part::Text("."),
                NONCE,
                Part::Body,
            ],
            &[
                Part::Require(Condition::NoBody),
                Part::Require(Condition::NoQuery),
                Part::UrlBase,
                Part::Text("."),
                NONCE,
                Part::Body,
            ],
        ])
        .ambiguous_boundary(KEY_THEN_VALUE)
        .stability(Stability::None)
        .docs(
            "https://www.plivo.com/docs/voice/concepts/signature-validation",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "Query and form are signed decoded and sorted: `a=1%26b` and `a=1&b` look alike.",
            "The nonce is signed and new in every request: a guard against replays, not an event id.",
            "Several auth tokens sign at once, separated by commas; the Ma header is that of the main \
             account.",
            "The Python SDK refuses query parameters beyond ASCII, the Node SDK takes them, as this row does.",
        ]);

    /// Mercado Pago.
    pub const MERCADOPAGO: Scheme = Scheme::new("mercadopago", Mac::HmacSha256)
        .signature(Slot::header("x-signature").list(b',').prefix("v1="), Encoding::Hex)
        .timestamp(
            Slot::header("x-signature").list(b',').prefix("ts="),
            Unit::SecondsOrMillis,
        )
        .content(&[
            Part::IfPresent(&[
                Part::Text("id:"),
                Part::Of(
                    Transform::LowerCase,
                    &[Part::Value(Slot::query("data.id").shape(Shape::Token))],
                ),
                Part::Text(";"),
            ]),
            Part::IfPresent(&[
                Part::Text("request-id:"),
                Part::Value(Slot::header("x-request-id").shape(Shape::Token)),
                Part::Text(";"),
            ]),
            Part::Text("ts:"),
            Part::Timestamp,
            Part::Text(";"),
        ])
        .event_type(Source::Json("/type"))
        .stability(Stability::None)
        .docs(
            "https://www.mercadopago.com.ar/developers/es/docs/checkout-api-orders/notifications",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "The body is not signed: only data.id of the query, x-request-id and the time are. Fetch the \
             resource by its id and believe nothing else.",
            "The document shows milliseconds, the SDKs count seconds: both are read.",
            "An alphanumeric data.id is signed in lower case, which the SDKs leave to the caller.",
            "QR code notifications are not signed.",
        ]);

    /// Contentful, with request verification enabled.
    pub const CONTENTFUL: Scheme = Scheme::new("contentful", Mac::HmacSha256)
        .signature(Slot::header("x-contentful-signature"), Encoding::Hex)
        .timestamp(Slot::header("x-contentful-timestamp"), Unit::Millis)
        .tolerance(Duration::from_secs(30))
        .content(&[
            Part::Require(Condition::Listed(CONTENTFUL_HEADERS, "x-contentful-timestamp")),
            Part::Method,
            Part::Text("\n"),
            Part::Of(Transform::EncodeUri, &[Part::PathAndQuery]),
            Part::Text("\n"),
            Part::HeaderList(HeaderList {
                names: CONTENTFUL_HEADERS,
                between: ";",
                with_names: true,
            }),
            Part::Text("\n"),
            Part::Body,
        ])
        .ambiguous_boundary(
            "a header's value may hold the semicolon that stands between two headers: no header but \
             the timestamp, which must be listed, is trusted",
        )
        .event_type(Source::Header("X-Contentful-Topic"))
        .stability(Stability::None)
        .docs(
            "https://www.contentful.com/developers/docs/webhooks/request-verification/",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "Method, path, query, the listed headers and the body are signed; the host is not.",
            "The window is 30 s. The SDK checks old times only, and none at all for 0.",
            "A proxy that rewrites a listed header breaks the signature.",
            "There is no event id, and the topic is signed only where it is listed.",
        ]);
}
