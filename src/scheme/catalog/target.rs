//! The URL, and sometimes the method, is signed beside the body.
//!
//! It is the URL that the sender called, so behind a proxy it must come from configuration
//! ([`RequestTarget`](crate::headers::RequestTarget)).

use std::time::Duration;

use super::DAY;
#[cfg(feature = "keyed-hash")]
use crate::scheme::Hash;
use crate::scheme::{
    Condition, Encoding, Evidence, HeaderList, IdSource, Mac, Part, Scheme, Shape, Slot, Source,
    Stability, Transform, Unit,
};

const URL_THEN_BODY: &str = "the URL is the one that was registered, and a JSON body does not \
    begin with what a URL ends with: give `verify` the registered URL and nothing that the request says of itself";

const HOOK0: Slot = Slot::header("X-Hook0-Signature").list(b',');
const HOOK0_HEADERS: Slot = HOOK0.prefix("h=");
const CONTENTFUL_HEADERS: Slot = Slot::header("x-contentful-signed-headers").list(b',');
const HUBSPOT_VERSION: Slot = Slot::header("X-HubSpot-Signature-Version");

catalog! {
    /// Square.
    pub const SQUARE: Scheme = Scheme::new("square", Mac::HmacSha256)
        .signature(Slot::header("x-square-hmacsha256-signature"), Encoding::Base64)
        .content(&[Part::Url, Part::Body])
        .ambiguous_boundary(URL_THEN_BODY)
        .id(IdSource::Json("/event_id"))
        .event_type(Source::Json("/type"))
        .retry_horizon(DAY)
        .docs(
            "https://developer.squareup.com/docs/webhooks/step3validate",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "The URL is signed exactly as registered: scheme, host, trailing slash and query count.",
            "There is no timestamp: replays are bounded by event_id alone.",
            "The legacy header x-square-signature (HMAC-SHA-1) is not accepted.",
            "The Python SDK refuses an empty body, the Node SDK verifies it, and so does this row.",
            "Retry horizon unverified.",
        ]);

    /// Trello.
    #[cfg(feature = "sha1")]
    pub const TRELLO: Scheme = Scheme::new("trello", Mac::HmacSha1)
        .signature(Slot::header("X-Trello-Webhook"), Encoding::Base64)
        .content(&[Part::Body, Part::Url])
        .ambiguous_boundary(URL_THEN_BODY)
        .id(IdSource::Json("/action/id"))
        .event_type(Source::Json("/action/type"))
        .retry_horizon(Duration::from_secs(210))
        .docs(
            "https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks",
            Evidence::OfficialDocs,
        )
        .notes(&[
            "The URL comes after the body, and is the callback URL as it was registered.",
            "The secret is the application secret of OAuth 1.0.",
            "The same action reaches every webhook that watches its board: one event key for all of them.",
            "A HEAD request checks the URL when the webhook is made.",
            "Retry horizon unverified.",
        ]);

    /// HubSpot, signature version 3.
    pub const HUBSPOT: Scheme = Scheme::new("hubspot", Mac::HmacSha256)
        .signature(Slot::header("X-HubSpot-Signature-v3"), Encoding::Base64)
        .timestamp(Slot::header("X-HubSpot-Request-Timestamp"), Unit::Millis)
        .content(&[Part::Method, Part::Url, Part::Body, Part::Timestamp])
        .or_content(&[&[
            Part::Method,
            Part::Of(Transform::UnescapeUri, &[Part::Url]),
            Part::Body,
            Part::Timestamp,
        ]])
        .ambiguous_boundary(URL_THEN_BODY)
        .event_type(Source::Json("/0/subscriptionType"))
        .stability(Stability::None)
        .retry_horizon(DAY)
        .docs(
            "https://developers.hubspot.com/docs/guides/apps/authentication/validating-requests",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "Method, URL, body and time are joined without separators: a request can be cut at another \
             place between URL and body. The registered URL has no end that could move.",
            "The document decodes some escapes of the URL before it is signed and the SDKs do not: both \
             are accepted.",
            "The body is a list of up to 100 events. eventId is not guaranteed to be unique and \
             attemptNumber counts retries: choose a key per event.",
            "The official SDKs do not refuse times from the future.",
        ]);

    /// HubSpot, signature version 2: workflows and CRM cards.
    #[cfg(feature = "keyed-hash")]
    pub const HUBSPOT_V2: Scheme = Scheme::new("hubspot-v2", Mac::Hash(Hash::Sha256))
        .provider_name("hubspot")
        .signature(Slot::header("X-HubSpot-Signature"), Encoding::Hex)
        .content(&[
            Part::Require(Condition::Equals(HUBSPOT_VERSION, "v2")),
            Part::Secret,
            Part::Method,
            Part::Url,
            Part::Body,
        ])
        .ambiguous_boundary(URL_THEN_BODY)
        .stability(Stability::None)
        .docs(
            "https://developers.hubspot.com/docs/guides/apps/authentication/validating-requests",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "A plain SHA-256 with the secret in front, not an HMAC: what was signed can be extended \
             without the secret. There is no timestamp. Use version 3 where HubSpot sends it.",
        ]);

    /// HubSpot, signature version 1: webhook subscriptions of older apps.
    #[cfg(feature = "keyed-hash")]
    pub const HUBSPOT_V1: Scheme = Scheme::new("hubspot-v1", Mac::Hash(Hash::Sha256))
        .provider_name("hubspot")
        .signature(Slot::header("X-HubSpot-Signature"), Encoding::Hex)
        .content(&[
            Part::Require(Condition::Equals(HUBSPOT_VERSION, "v1")),
            Part::Secret,
            Part::Body,
        ])
        .event_type(Source::Json("/0/subscriptionType"))
        .stability(Stability::None)
        .docs(
            "https://developers.hubspot.com/docs/guides/apps/authentication/validating-requests",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "A plain SHA-256 with the secret in front, not an HMAC: bytes can be added to a genuine body \
             without the secret. There is no timestamp. Use version 3 where HubSpot sends it.",
        ]);

    /// Contentful, with request verification enabled.
    #[cfg(feature = "form")]
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

    /// Coinbase Developer Platform.
    pub const COINBASE_CDP: Scheme = Scheme::new("coinbase-cdp", Mac::HmacSha256)
        .signature(HOOK0.prefix("v0="), Encoding::Hex)
        .more_signatures(&[HOOK0.prefix("v1=")])
        .header_family("X-Hook0-", "X-Webhook-")
        .timestamp(HOOK0.prefix("t="), Unit::Seconds)
        .content(&[Part::Timestamp, Part::Text("."), Part::Body])
        .or_content(&[&[
            Part::Timestamp,
            Part::Text("."),
            Part::Value(HOOK0_HEADERS.shape(Shape::Line)),
            Part::Text("."),
            Part::HeaderList(HeaderList {
                names: HOOK0_HEADERS,
                between: ".",
                with_names: false,
            }),
            Part::Text("."),
            Part::Body,
        ]])
        .ambiguous_boundary(
            "header values may hold the full stop that ends them, and v1 reads as v0 over a longer \
             body: no header is trusted, and such a body is not JSON",
        )
        .id(IdSource::JsonOrContent("/eventId"))
        .delivery_id("X-Event-Id")
        .event_type(Source::Json("/eventType"))
        .docs(
            "https://docs.cdp.coinbase.com/webhooks/verify-signatures",
            Evidence::OfficialDocs,
        )
        .notes(&[
            "X-Hook0-Signature is the deprecated name of X-Webhook-Signature; both are sent.",
            "v1 binds the values of listed headers too: a proxy that rewrites one of them breaks v1. \
             Either v0 or v1 must match.",
            "X-Event-Id is signed by v1 only, so it is for logs.",
        ]);
}
