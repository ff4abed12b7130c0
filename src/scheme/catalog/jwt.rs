//! JSON Web Tokens under a shared secret.

use std::time::Duration;

use super::DAY;
use crate::scheme::{
    ClaimRule, Encoding, Evidence, IdSource, Jwt, Mac, Part, Scheme, Slot, Source, Stability,
};

const VONAGE_TOKEN: Jwt = Jwt::new().claims(&[
    ClaimRule::OneOf("iss", &["Vonage"]),
    ClaimRule::BodyHash("payload_hash", Encoding::Hex),
]);

const MESSAGEBIRD_TOKEN: Jwt = Jwt::new()
    .also(HMAC)
    .claims(&[
        ClaimRule::OneOf("iss", &["MessageBird"]),
        ClaimRule::AnyText("jti"),
        ClaimRule::UrlHash("url_hash"),
        ClaimRule::BodyHashUnlessEmpty("payload_hash", Encoding::Hex),
    ])
    .expires()
    .leeway(Duration::from_secs(5));

const NETLIFY_TOKEN: Jwt = Jwt::new().claims(&[
    ClaimRule::OneOf("iss", &["netlify"]),
    ClaimRule::BodyHash("sha256", Encoding::Hex),
]);

const FUSIONAUTH_TOKEN: Jwt = Jwt::new()
    .also(HMAC)
    .claims(&[ClaimRule::BodyHash("request_body_sha256", Encoding::Base64)]);

const MONDAY_TOKEN: Jwt = Jwt::new().claims(&[ClaimRule::Url("aud")]).expires();

const CRYSTALLIZE_TOKEN: Jwt = Jwt::new()
    .claims(&[ClaimRule::RequestJson("hmac")])
    .expires();

pub(super) const BEARER: Slot = Slot::header("Authorization").word("Bearer ");

/// The HMACs of JOSE beside HS256.
const HMAC: &[Mac] = &[Mac::HmacSha384, Mac::HmacSha512];

/// A token in a slot.
pub(super) const fn token(name: &'static str, mac: Mac, slot: Slot, rules: &'static Jwt) -> Scheme {
    Scheme::new(name, mac)
        .signature(slot, Encoding::Base64Url)
        .jwt(rules)
}

catalog! {
    /// Vonage (Messages, Voice, Verify and the newer SMS webhooks).
    pub const VONAGE: Scheme =
        token("vonage", Mac::HmacSha256, BEARER, &VONAGE_TOKEN)
            .content(&[Part::Body])
            .claim_timestamp("iat")
            .event_type(Source::Json("/status"))
            .retry_horizon(DAY)
            .docs(
                "https://developer.vonage.com/en/getting-started/concepts/webhooks",
                Evidence::OfficialSdk,
            )
            .notes(&[
                "The SDKs check the token only: whoever captured one could send any body with it. \
                 Here the body's hash in `payload_hash` is compared, and a token without it refused.",
                "`jti` is of the attempt and not of the event. `/message_uuid` in the body names the \
                 message, which has several events (`/status`): choose what names yours.",
                "The age of `iat` is not judged by the SDKs; 5 minutes are ours.",
                "Signed with the account's signature secret; the SMS API's older `sig` parameter is \
                 another scheme. Messages are retried for up to 24 hours (unverified).",
            ]);

    /// MessageBird (now Bird): the newer signature, in a token.
    pub const MESSAGEBIRD: Scheme = token(
        "messagebird",
        Mac::HmacSha256,
        Slot::header("MessageBird-Signature-JWT"),
        &MESSAGEBIRD_TOKEN,
    )
    .content(&[Part::Url, Part::Body])
    .claim_timestamp("nbf")
    .docs(
        "https://developers.messagebird.com/api/#verifying-http-requests",
        Evidence::OfficialSdk,
    )
    .notes(&[
        "The URL is signed, query and all: behind a proxy build it from configuration.",
        "The token is good for one minute, give or take the Node SDK's leeway of 5 seconds. `exp`, \
         `nbf` and `jti` must all be there; each SDK lets one of them be missing.",
        "`jti` is new with every attempt, so it guards against replays and names no event.",
        "An empty body may come with or without its hash: the SDKs differ.",
        "The Express middleware of npm `messagebird` 4.0.1 lets forged requests through.",
        "The older `MessageBird-Signature` is another scheme.",
    ]);

    /// Netlify deploy notifications.
    pub const NETLIFY: Scheme =
        token("netlify", Mac::HmacSha256, Slot::header("X-Webhook-Signature"), &NETLIFY_TOKEN)
            .content(&[Part::Body])
            .event_type(Source::Json("/state"))
            .docs(
                "https://docs.netlify.com/site-deploys/notifications/#payload-signature",
                Evidence::ThirdParty,
            )
            .notes(&[
                "There is no time in the token: a captured request verifies for ever.",
                "`/id` is that of the deploy, which has several events: choose what names yours. The \
                 header `X-Netlify-Event` is unsigned.",
                "Nothing is signed unless a secret was entered. Switched off after six failures in a \
                 row (unverified).",
            ]);

    /// FusionAuth with an HMAC key.
    pub const FUSIONAUTH: Scheme = token(
        "fusionauth",
        Mac::HmacSha256,
        Slot::header("X-FusionAuth-Signature-JWT"),
        &FUSIONAUTH_TOKEN,
    )
    .content(&[Part::Body])
    .id(IdSource::Json("/event/id"))
    .event_type(Source::Json("/event/type"))
    .docs(
        "https://github.com/hookdeck/webhook-skills",
        Evidence::ThirdParty,
    )
    .notes(&[
        "There is no time in the token: a captured request verifies for ever.",
        "The hash of the body is in padded base64, where other providers write hex.",
        "Keys may also be RSA, elliptic curves or Ed25519; this row takes HMAC keys only, so that no \
         public key can pass for one.",
    ]);

    /// monday.com.
    pub const MONDAY: Scheme =
        token("monday", Mac::HmacSha256, Slot::header("Authorization").optional_word("Bearer "), &MONDAY_TOKEN)
            .claim_timestamp("iat")
            .tolerance(Duration::from_secs(6 * 60))
            .id(IdSource::Json("/event/triggerUuid"))
            .event_type(Source::Json("/event/type"))
            .retry_horizon(Duration::from_secs(30 * 60))
            .docs(
                "https://developer.monday.com/apps/docs/authorization-header",
                Evidence::OfficialDocs,
            )
            .notes(&[
                "The token does not cover the body: whoever captured one can send any body with it for \
                 five minutes. `/event/triggerUuid` is unsigned too, so using it as the event key is a \
                 choice to make by name.",
                "`aud` must be the public URL of your endpoint.",
                "Two secrets: the signing secret for boards and integrations, the client secret for the \
                 app's life cycle. Webhooks made with a personal API token carry no token at all.",
                "Retried once a minute for 30 minutes (unverified).",
            ]);

    /// Crystallize.
    pub const CRYSTALLIZE: Scheme = token(
        "crystallize",
        Mac::HmacSha256,
        Slot::header("X-Crystallize-Signature"),
        &CRYSTALLIZE_TOKEN,
    )
    .content(&[Part::Url, Part::Method, Part::Body])
    .claim_timestamp("iat")
    .tolerance(Duration::from_secs(60 * 60))
    .stability(Stability::JsonExcept(&[]))
    .docs(
        "https://www.npmjs.com/package/@crystallize/js-api-client",
        Evidence::OfficialSdk,
    )
    .notes(&[
        "The claim `hmac` is a plain hash, of URL, method and the parsed body as JavaScript writes it \
         anew: it covers what the body means and not its white space.",
        "A body of which JavaScript's text is not certain is refused: names that are whole numbers or \
         occur twice, half a surrogate pair, numbers below 10^-6, from 10^21 on, or with two shortest \
         texts.",
        "`exp` bounds the age; that it is at most an hour ahead is ours.",
        "What names the event is not known: choose it.",
    ]);
}
