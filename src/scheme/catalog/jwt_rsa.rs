//! Tokens under RSA.

use std::time::Duration;

use super::jwt::{BEARER, token};
use crate::scheme::{
    ClaimRule, Evidence, IdSource, Jwt, KeySource, Mac, Part, Scheme, SecretFormat, Slot, Source,
};

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

const WIX_TOKEN: Jwt = Jwt::new().data("data").expires();

const FIREBLOCKS_TOKEN: Jwt = Jwt::new().detached();

catalog! {
    /// URL), and `service_account`, the account's email address.
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
}
