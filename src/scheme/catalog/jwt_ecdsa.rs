//! Tokens under ECDSA.

use super::jwt::token;
use crate::scheme::{
    ClaimRule, Encoding, Evidence, Jwt, KeySource, Mac, Part, Scheme, SecretFormat, Slot, Source,
};

const PLAID_TOKEN: Jwt =
    Jwt::new().claims(&[ClaimRule::BodyHash("request_body_sha256", Encoding::Hex)]);

catalog! {
    /// Plaid.
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
}
