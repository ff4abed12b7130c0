//! Tokens under a public key.

use std::time::Duration;

use super::jwt::{BEARER, token};
use crate::scheme::{
    ClaimRule, Encoding, Evidence, IdSource, Jwt, KeySource, Mac, Part, Scheme, SecretFormat, Slot,
    Source, Transform, Unit,
};

#[cfg(feature = "ecdsa")]
const PLAID_TOKEN: Jwt =
    Jwt::new().claims(&[ClaimRule::BodyHash("request_body_sha256", Encoding::Hex)]);

#[cfg(feature = "rsa")]
const GOOGLE_TOKEN: Jwt = Jwt::new()
    .claims(&[
        ClaimRule::OneOf(
            "iss",
            &["https://accounts.google.com", "accounts.google.com"],
        ),
        ClaimRule::Setting("aud", "audience"),
        ClaimRule::Setting("email", "service_account"),
        ClaimRule::True("email_verified"),
    ])
    .expires()
    .leeway(Duration::from_secs(300));

#[cfg(feature = "rsa")]
const WIX_TOKEN: Jwt = Jwt::new().data("data").expires();

#[cfg(feature = "rsa")]
const FIREBLOCKS_TOKEN: Jwt = Jwt::new().detached();

#[cfg(feature = "ed25519")]
const NEON_TOKEN: Jwt = Jwt::new().detached().critical(&["b64"]);

catalog! {
    /// Plaid.
    #[cfg(feature = "ecdsa")]
    pub const PLAID: Scheme =
        token("plaid", Mac::EcdsaP256Sha256Raw, Slot::header("Plaid-Verification"), &PLAID_TOKEN)
            .content(&[Part::Body])
            .claim_timestamp("iat")
            .secret(SecretFormat::PublicKey)
            .keys(KeySource::ById("`/webhook_verification_key/get` of Plaid's API, as a JWK"))
            .event_type(Source::Json("/webhook_code"))
            .docs(
                "https://plaid.com/docs/api/webhooks/webhook-verification/",
                Evidence::OfficialDocs,
            )
            .notes(&[
                "No id of the event: choose what names it. `/webhook_code` is unique within \
                 `/webhook_type` only.",
                "The hash is of the raw body, which comes with line ends and two blanks of indent: \
                 parsing and writing it again changes it.",
                "Keys are retired (`expired_at` in the JWK): take them out of the ring then.",
            ]);

    /// Google Cloud's tokens of a service account: Pub/Sub push, Cloud Tasks, Scheduler, Eventarc.
    ///
    /// Settings: `audience`, as configured with the subscription (if it is not, the endpoint's
    /// URL), and `service_account`, the account's email address.
    #[cfg(feature = "rsa")]
    pub const GOOGLE_OIDC: Scheme =
        token("google-oidc", Mac::RsaSha256, BEARER, &GOOGLE_TOKEN)
            .claim_timestamp("iat")
            .tolerance(Duration::from_secs(65 * 60))
            .secret(SecretFormat::PublicKey)
            .keys(KeySource::ById("https://www.googleapis.com/oauth2/v3/certs"))
            .needs(&["audience", "service_account"])
            .id(IdSource::Json("/message/messageId"))
            .docs(
                "https://www.npmjs.com/package/google-auth-library",
                Evidence::OfficialSdk,
            )
            .notes(&[
                "The token does not cover the body: TLS is all that protects it, and whoever captured \
                 one request can send any body for an hour. `/message/messageId` is unsigned too, so \
                 using it as the event key is a choice to make by name.",
                "Anyone can have Google sign a token for your URL as its audience, with an account of \
                 their own: the libraries leave it to you to compare `email`. Here the setting \
                 `service_account` does it.",
                "A token may be an hour old when it comes. The leeway of 5 minutes is that of \
                 `google-auth-library`.",
                "Google Chat's tokens have another issuer and are not for this row. The address of the keys \
                 is from memory (unverified).",
            ]);

    /// Wix apps.
    #[cfg(feature = "rsa")]
    pub const WIX: Scheme = token("wix", Mac::RsaSha256, Slot::body(), &WIX_TOKEN)
        .content(&[Part::Body])
        .claim_timestamp("iat")
        .tolerance(Duration::from_secs(61 * 60))
        .secret(SecretFormat::PublicKey)
        .event_type(Source::Claims(&["/data", "/eventType"]))
        .docs(
            "https://github.com/hookdeck/webhook-skills",
            Evidence::ThirdParty,
        )
        .notes(&[
            "There is no signature header: the body is the token. Read the claims with \
             `Verified::claims`; `data` is JSON in a string, and so is the `data` within it.",
            "What names the event is not known: choose it.",
            "`exp` bounds the age; that it is at most an hour ahead is ours.",
        ]);

    /// Fireblocks (second version): a detached signature.
    #[cfg(feature = "rsa")]
    pub const FIREBLOCKS_JWS: Scheme = token(
        "fireblocks-jws",
        Mac::RsaSha512,
        Slot::header("Fireblocks-Webhook-Signature"),
        &FIREBLOCKS_TOKEN,
    )
    .content(&[Part::Body])
    .secret(SecretFormat::PublicKey)
    .keys(KeySource::ById("the JWKS of your environment: US, EU and sandbox have keys of their own"))
    .id(IdSource::Json("/id"))
    .event_type(Source::Json("/eventType"))
    .docs(
        "https://developers.fireblocks.com/reference/validating-webhooks",
        Evidence::OfficialDocs,
    )
    .notes(&[
        "`/createdAt` is the time of the event and not of the attempt, so no age is judged.",
        "While a webhook is moved over, the older `Fireblocks-Signature` comes too; it is another \
         scheme.",
        "A token that brings a payload of its own is refused: it is not detached.",
    ]);

    /// Neon Auth: a detached signature.
    #[cfg(feature = "ed25519")]
    pub const NEON: Scheme =
        token("neon", Mac::Ed25519, Slot::header("X-Neon-Signature"), &NEON_TOKEN)
            .timestamp(Slot::header("X-Neon-Timestamp"), Unit::Millis)
            .content(&[Part::Timestamp, Part::Text("."), Part::Of(Transform::Base64Url, &[Part::Body])])
            .key_id("X-Neon-Signature-Kid")
            .secret(SecretFormat::PublicKey)
            .keys(KeySource::ById("the JWKS of your project's auth URL"))
            .id(IdSource::Header("X-Neon-Event-Id"))
            .event_type(Source::Header("X-Neon-Event-Type"))
            .docs(
                "https://github.com/hookdeck/webhook-skills",
                Evidence::ThirdParty,
            )
            .notes(&[
                "The body is written in base64url twice: by itself, and with the time before it.",
                "`X-Neon-Event-Id` and `X-Neon-Event-Type` are unsigned, so the event is named by its \
                 content.",
            ]);
}
