//! Tokens under Ed25519.

use super::jwt::token;
use crate::scheme::{
    Evidence, IdSource, Jwt, KeySource, Mac, Part, Scheme, SecretFormat, Slot, Source, Transform,
    Unit,
};

const NEON_TOKEN: Jwt = Jwt::new().detached().critical(&["b64"]);

catalog! {
    /// Neon Auth: a detached signature.
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
