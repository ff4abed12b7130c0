//! The algorithms that prove a delivery, and how a proof is written.

/// The algorithm that proves a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mac {
    /// HMAC with SHA-256 (RFC 2104, FIPS 180-4); 32 bytes.
    HmacSha256,
    /// HMAC with SHA-512; 64 bytes.
    HmacSha512,
    /// HMAC with SHA-384; 48 bytes.
    HmacSha384,
    /// HMAC with SHA-1; 20 bytes. Still unforgeable as a MAC, but only for schemes that offer
    /// nothing else.
    #[cfg(feature = "sha1")]
    HmacSha1,
    /// A plain hash over a content that holds the secret ([`Part::Secret`](super::Part::Secret)): weaker than HMAC in
    /// theory (a secret in front can be extended, RFC 2104 §6), and what some providers do.
    #[cfg(feature = "keyed-hash")]
    Hash(Hash),
    /// Ed25519 (RFC 8032); 64 bytes. Verified strictly: a signature has one spelling.
    #[cfg(feature = "ed25519")]
    Ed25519,
    /// ECDSA on P-256 with SHA-256 (FIPS 186-5), the signature in ASN.1 DER as TLS writes it.
    #[cfg(feature = "ecdsa")]
    EcdsaP256Sha256Der,
    /// The same, the signature as `r || s`; 64 bytes. What JOSE and RFC 9421 write.
    #[cfg(feature = "ecdsa")]
    EcdsaP256Sha256Raw,
    /// ECDSA on P-256 with SHA-1, in DER; only for schemes that offer nothing else.
    #[cfg(all(feature = "ecdsa", feature = "sha1"))]
    EcdsaP256Sha1Der,
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 §8.2).
    #[cfg(feature = "rsa")]
    RsaSha256,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    #[cfg(feature = "rsa")]
    RsaSha512,
    /// RSASSA-PKCS1-v1_5 with SHA-1; only for schemes that offer nothing else.
    #[cfg(all(feature = "rsa", feature = "sha1"))]
    RsaSha1,
    /// RSASSA-PSS with SHA-512, MGF1 with SHA-512 and a salt of 64 bytes.
    #[cfg(feature = "rsa")]
    RsaPssSha512,
    /// No MAC: the header carries the shared secret itself. Proves that the sender knew it (or
    /// saw one earlier request), and says nothing about body, time or id.
    Token,
}

impl Mac {
    /// Length of the signature in bytes once decoded, or `None` where it varies: tokens,
    /// DER, RSA.
    pub const fn tag_len(self) -> Option<usize> {
        match self {
            Mac::HmacSha256 => Some(32),
            Mac::HmacSha512 => Some(64),
            Mac::HmacSha384 => Some(48),
            #[cfg(feature = "sha1")]
            Mac::HmacSha1 => Some(20),
            #[cfg(feature = "keyed-hash")]
            Mac::Hash(hash) => Some(hash.len()),
            #[cfg(feature = "ed25519")]
            Mac::Ed25519 => Some(64),
            #[cfg(feature = "ecdsa")]
            Mac::EcdsaP256Sha256Raw => Some(64),
            _ => None,
        }
    }

    /// Whether the key is public: it verifies and cannot sign.
    pub const fn is_public_key(self) -> bool {
        match self {
            Mac::HmacSha256 | Mac::HmacSha512 | Mac::HmacSha384 | Mac::Token => false,
            #[cfg(feature = "sha1")]
            Mac::HmacSha1 => false,
            #[cfg(feature = "keyed-hash")]
            Mac::Hash(_) => false,
            #[allow(unreachable_patterns, reason = "without the features there are none")]
            _ => true,
        }
    }
}

/// The hash of a [`Mac::Hash`].
#[cfg(feature = "keyed-hash")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hash {
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
    /// SHA-1.
    Sha1,
    /// MD5.
    Md5,
    /// Keccak-256 with the padding of before FIPS 202, as Ethereum uses it.
    Keccak256,
}

#[cfg(feature = "keyed-hash")]
impl Hash {
    const fn len(self) -> usize {
        match self {
            Hash::Sha256 | Hash::Keccak256 => 32,
            Hash::Sha384 => 48,
            Hash::Sha512 => 64,
            Hash::Sha1 => 20,
            Hash::Md5 => 16,
        }
    }
}

/// How the signature's bytes are written in the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// Hexadecimal, either case (the bytes are compared, not the text).
    Hex,
    /// Base64, standard alphabet, padded and canonical (RFC 4648 §4).
    Base64,
    /// Base64, URL-safe alphabet, with or without padding (RFC 4648 §5).
    Base64Url,
    /// Hexadecimal in lower case only, for providers whose other spellings must be refused.
    LowerHex,
    /// The base64 of the hexadecimal text, which is in lower case.
    HexInBase64,
    /// Base64 in either alphabet, which may be percent-encoded on top.
    PercentBase64,
    /// The bytes themselves; for [`Mac::Token`].
    Plain,
}
