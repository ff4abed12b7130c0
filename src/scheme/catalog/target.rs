//! The URL, and sometimes the method, is signed beside the body.
//!
//! It is the URL that the sender called, so behind a proxy it must come from configuration
//! ([`RequestTarget`](crate::headers::RequestTarget)).

use super::DAY;
use crate::scheme::{
    Encoding, Evidence, HeaderList, IdSource, Mac, Part, Scheme, Shape, Slot, Source, Stability,
    Transform, Unit,
};

pub(super) const URL_THEN_BODY: &str = "the URL is the one that was registered, and a JSON body does not \
    begin with what a URL ends with: give `verify` the registered URL and nothing that the request says of itself";

const HOOK0: Slot = Slot::header("X-Hook0-Signature").list(b',');
const HOOK0_HEADERS: Slot = HOOK0.prefix("h=");

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
        .retry_horizon(std::time::Duration::from_secs(210))
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
        .identity(&[Part::Body])
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
