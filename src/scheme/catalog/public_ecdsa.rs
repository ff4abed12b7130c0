//! ECDSA on P-256: the sender signs with a private key, and here is only the public one.
//!
//! Such a signature can be turned into another valid one by anyone (`s` into `n - s`), and the
//! providers' own verifiers take both: nothing may be remembered by its signature.

use super::{DAY, over_body};
use crate::scheme::{
    Encoding, Evidence, IdSource, KeySource, Mac, Part, Scheme, Slot, Source, Unit,
};

catalog! {
    /// SendGrid's Event Webhook.
    pub const SENDGRID: Scheme = Scheme::new("sendgrid", Mac::EcdsaP256Sha256Der)
        .signature(
            Slot::header("X-Twilio-Email-Event-Webhook-Signature"),
            Encoding::Base64,
        )
        .timestamp(
            Slot::header("X-Twilio-Email-Event-Webhook-Timestamp"),
            Unit::Seconds,
        )
        .content(&[Part::Timestamp, Part::Body])
        .ambiguous_boundary(
            "the body is a JSON array, so the digits end at its bracket; a time cut short lies \
             decades in the past, so the age must be judged",
        )
        .id(IdSource::Content)
        .event_type(Source::Json("/0/event"))
        .retry_horizon(DAY)
        .docs(
            "https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features",
            Evidence::OfficialSdk,
        )
        .notes(&[
            "The body ends in CR LF, which is signed: whoever trims or re-serialises it verifies nothing.",
            "One delivery holds many events, each with its `sg_event_id`; a retry may cut the batches \
             at other places, so remember those ids as well. The type is the first event's.",
            "The SDKs do not judge the time; 5 minutes is ours.",
            "Either form of a signature (`s` or `n - s`) verifies: never remember deliveries by it.",
            "Inbound Parse and the OAuth variant are other schemes, which are not read here.",
            "Retries for up to 24 hours (unverified).",
        ]);

    /// GitHub's secret scanning partner program.
    pub const GITHUB_SECRET_SCANNING: Scheme = over_body(
        "github-secret-scanning",
        Mac::EcdsaP256Sha256Der,
        Slot::header("Github-Public-Key-Signature"),
        Encoding::Base64,
    )
    .key_id("Github-Public-Key-Identifier")
    .keys(KeySource::ById(
        "https://api.github.com/meta/public_keys/secret_scanning",
    ))
    .id(IdSource::Content)
    .event_type(Source::Json("/0/type"))
    .docs(
        "https://docs.github.com/en/code-security/secret-scanning/secret-scanning-partnership-program/secret-scanning-partner-program",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "The body is a list of found tokens without an id or a time: a captured request verifies for ever.",
        "The list of keys has several entries; the request names its own by `key_identifier`.",
        "Requests to Copilot extensions are signed in the same way, under another list of keys.",
    ]);

    /// eBay notifications.
    #[cfg(all(feature = "sha1", feature = "json"))]
    pub const EBAY: Scheme = over_body(
        "ebay",
        Mac::EcdsaP256Sha1Der,
        Slot::header("X-EBAY-SIGNATURE").inside("/signature"),
        Encoding::Base64,
    )
    .key_id_in(Slot::header("X-EBAY-SIGNATURE").inside("/kid"))
    .keys(KeySource::ById(
        "getPublicKey of eBay's Notification API, which wants an application's OAuth token",
    ))
    .id(IdSource::Json("/notification/notificationId"))
    .event_type(Source::Json("/metadata/topic"))
    .docs(
        "https://www.npmjs.com/package/event-notification-nodejs-sdk",
        Evidence::OfficialSdk,
    )
    .notes(&[
        "The header is the base64 of a JSON object with `kid` and `signature`. Its `alg` and `digest` are \
         unsigned and choose nothing.",
        "The signature is over a SHA-1 digest.",
        "The SDK serialises the body anew before it verifies; here the raw bytes count.",
        "`GET ?challenge_code=…` is answered with the hexadecimal SHA-256 of code, verification token \
         and address.",
        "No time is signed: a captured request verifies for ever.",
    ]);

    /// Circle, version 2 of its notifications.
    pub const CIRCLE: Scheme = over_body(
        "circle",
        Mac::EcdsaP256Sha256Der,
        Slot::header("X-Circle-Signature"),
        Encoding::Base64,
    )
    .key_id("X-Circle-Key-Id")
    .keys(KeySource::ById(
        "the publicKey endpoint of Circle's API, by the key's UUID",
    ))
    .id(IdSource::Json("/notificationId"))
    .event_type(Source::Json("/notificationType"))
    .docs(
        "https://developers.circle.com/api-reference/verify-webhook-signatures",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "The endpoint that gives the key takes its id in the path: let nothing but a UUID through.",
        "Version 1 (Circle Mint and others) is signed as by Amazon SNS, which is another scheme.",
        "`timestamp` in the body is signed, but no window for it is documented.",
        "The address must answer HEAD as well, and is sent a test notification at first.",
        "Some pages serialise the JSON anew before they verify; here the raw bytes count.",
    ]);
}
