//! Plain hashes with the secret among what is hashed, over the whole body.

use std::time::Duration;

use crate::scheme::{Encoding, Evidence, Hash, Mac, Part, Scheme, Slot, Source, Stability, Unit};

const CLOUDINARY_DIGITS: &str = "the body is a JSON object, so the digits begin behind its brace; a time cut short lies decades \
     in the past, so the age must be judged";

const fn cloudinary(name: &'static str, hash: Hash) -> Scheme {
    Scheme::new(name, Mac::Hash(hash))
        .signature(Slot::header("X-Cld-Signature"), Encoding::Hex)
        .timestamp(Slot::header("X-Cld-Timestamp"), Unit::Seconds)
        .tolerance(Duration::from_secs(2 * 60 * 60))
        .content(&[Part::Body, Part::Timestamp, Part::Secret])
        .ambiguous_boundary(CLOUDINARY_DIGITS)
        .event_type(Source::Json("/notification_type"))
        .docs(
            "https://www.npmjs.com/package/cloudinary",
            Evidence::OfficialSdk,
        )
}

catalog! {
    /// Recharge.
    pub const RECHARGE: Scheme = Scheme::new("recharge", Mac::Hash(Hash::Sha256))
        .signature(Slot::header("X-Recharge-Hmac-Sha256"), Encoding::Hex)
        .content(&[Part::Secret, Part::Body])
        .event_type(Source::Header("X-Recharge-Topic"))
        .docs("https://github.com/hookdeck/webhook-skills", Evidence::ThirdParty)
        .notes(&[
            "No HMAC, in spite of the header's name, but SHA-256 of secret and body: **whoever has seen a \
             request can append to its body and sign that** without the secret. What is appended begins \
             with the byte 0x80, which no JSON holds there: parse the whole body strictly.",
            "A newer header, `X-Recharge-Webhook-Signature`, binds a time; it is not read here.",
            "No id of the event is known, and the topic is in an unsigned header.",
        ]);

    /// Moralis Streams.
    pub const MORALIS: Scheme = Scheme::new("moralis", Mac::Hash(Hash::Keccak256))
        .signature(Slot::header("x-signature").prefix("0x"), Encoding::Hex)
        .content(&[Part::Body, Part::Secret])
        .stability(Stability::JsonExcept(&["/retries"]))
        .docs("https://www.npmjs.com/package/@moralisweb3/streams", Evidence::OfficialSdk)
        .notes(&[
            "Keccak-256 as Ethereum has it, which is not SHA3-256 and no HMAC.",
            "The SDK serialises the body anew before it hashes; here the raw bytes count, which are the \
             same for compact JSON.",
            "Every event is sent at least twice, `confirmed` being false at first; stream, block and \
             `confirmed` together are what to choose for a key.",
            "`/retries` counts attempts, by its name (unverified), and is left out of the fingerprint.",
            "A new stream is tried with a nearly empty body, which wants 200.",
        ]);

    /// Cloudinary with SHA-1, its default.
    pub const CLOUDINARY: Scheme = cloudinary("cloudinary", Hash::Sha1).notes(&[
        "A plain SHA-1 of body, time and API secret. Choose SHA-256 in the account \
         (`signature_algorithm`) and `cloudinary-sha256` here if you can.",
        "The SDKs judge only how old a request is; here the window has two sides.",
        "No event is named; `/public_id` and `/version` are the object's.",
    ]);

    /// Cloudinary with SHA-256.
    pub const CLOUDINARY_SHA256: Scheme =
        cloudinary("cloudinary-sha256", Hash::Sha256).notes(&[
            "A plain SHA-256 of body, time and API secret, if the account is set so; 40 hexadecimal \
             digits are SHA-1 and are refused here.",
            "The SDKs judge only how old a request is; here the window has two sides.",
            "No event is named; `/public_id` and `/version` are the object's.",
        ]);

    /// PhonePe, version 2 of its callbacks.
    pub const PHONEPE: Scheme = Scheme::new("phonepe", Mac::Hash(Hash::Sha256))
        .signature(Slot::header("Authorization"), Encoding::Hex)
        .content(&[Part::Secret])
        .event_type(Source::Json("/event"))
        .stability(Stability::None)
        .docs("https://www.npmjs.com/package/pg-sdk-node", Evidence::OfficialSdk)
        .notes(&[
            "The header is the SHA-256 of `username:password`, the same in every request: **whoever has \
             seen one can write any other**. Ask the API for the order.",
            "The secret is the text `username:password`, in which a password may hold colons.",
            "The older callbacks with `X-VERIFY` are another scheme.",
        ]);
}
