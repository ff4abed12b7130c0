//! HTTP message signatures (RFC 9421), one row for each algorithm.

use crate::scheme::{Evidence, HttpSignature, Mac, Scheme, SecretFormat};

/// What a webhook's receiver relies on: which request it is, and its body. `@target-uri` stands for
/// the last three as well.
const RULE: HttpSignature = HttpSignature::new(&["@method", "@authority", "@path", "@query"]);

const NOTES: &[&str] = &[
    "The standard names no event: make a row of your own from this one, with a rule that requires \
     your sender's id header (`Scheme::named`, `Scheme::http_signature`, `Scheme::id`).",
    "The body is covered through `Content-Digest` only, which must be among the components and is \
     computed anew; libraries that check the signature alone take any body. It is over the bytes \
     as transferred: let nothing decompress them first.",
    "Method and URL must be given (`RequestTarget`): the URL that the sender called, from your \
     configuration. `@target-uri` covers its parts (`@authority`, `@path`, `@query`) as well.",
    "`@request-target` is taken in the form of a request to a server: path and query.",
    "A `nonce` is signed and new for each attempt: kept for as long as the window, it finds replays. \
     It does not name the event.",
    "`alg` must agree with the row and never chooses; `created` must be there; `expires` counts too.",
    "Refused: a covered field on several lines, the component parameters `sf`, `bs`, `key`, `req` \
     and `tr`, `@status`, values that are not ASCII, and spellings of `Signature-Input` and \
     `Signature` that a serialiser would not write.",
];

const fn signed(name: &'static str, mac: Mac, secret: SecretFormat) -> Scheme {
    Scheme::new(name, mac)
        .provider_name("rfc9421")
        .http_signature(&RULE)
        .secret(secret)
        .docs(
            "https://www.rfc-editor.org/rfc/rfc9421.html",
            Evidence::OfficialDocs,
        )
        .notes(NOTES)
}

catalog! {
    /// HTTP message signatures with a shared secret.
    pub const RFC9421_HMAC_SHA256: Scheme = signed(
        "rfc9421-hmac-sha256",
        Mac::HmacSha256,
        SecretFormat::Base64 { prefix: "" },
    );

    /// HTTP message signatures with Ed25519.
    #[cfg(feature = "ed25519")]
    pub const RFC9421_ED25519: Scheme =
        signed("rfc9421-ed25519", Mac::Ed25519, SecretFormat::PublicKey);

    /// HTTP message signatures with ECDSA on P-256.
    #[cfg(feature = "ecdsa")]
    pub const RFC9421_ECDSA_P256_SHA256: Scheme = signed(
        "rfc9421-ecdsa-p256-sha256",
        Mac::EcdsaP256Sha256Raw,
        SecretFormat::PublicKey,
    );

    /// HTTP message signatures with RSASSA-PSS.
    #[cfg(feature = "rsa")]
    pub const RFC9421_RSA_PSS_SHA512: Scheme = signed(
        "rfc9421-rsa-pss-sha512",
        Mac::RsaPssSha512,
        SecretFormat::PublicKey,
    );

    /// HTTP message signatures with RSASSA-PKCS1-v1_5.
    #[cfg(feature = "rsa")]
    pub const RFC9421_RSA_V1_5_SHA256: Scheme = signed(
        "rfc9421-rsa-v1_5-sha256",
        Mac::RsaSha256,
        SecretFormat::PublicKey,
    );
}
