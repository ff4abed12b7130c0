//! Keys made ready, and the one place where a signature is compared.

#[cfg(any(feature = "keyed-hash", feature = "ecdsa", feature = "rsa"))]
mod digest;
mod hmac;
#[cfg(any(feature = "ed25519", feature = "ecdsa", feature = "rsa"))]
mod public;
mod text;

use ::hmac::{Hmac, digest::CtOutput};
use sha2::{Digest as _, Sha256, Sha384, Sha512};
use subtle::ConstantTimeEq as _;

use crate::{
    scheme::{Encoding, Mac},
    secrets::SecretFault,
};

#[cfg(any(feature = "ed25519", feature = "ecdsa", feature = "rsa"))]
pub(crate) use public::PublicKey;
pub(super) use text::plausible;

use hmac::{keyed, run, same};

/// A key with its schedule done or its point decoded: using it is all that a request pays.
///
/// Zeroized on drop by the hash crates' own `zeroize` feature.
pub(crate) enum MacKey {
    Sha256(Hmac<Sha256>),
    Sha512(Box<Hmac<Sha512>>),
    Sha384(Box<Hmac<Sha384>>),
    #[cfg(feature = "sha1")]
    Sha1(Hmac<sha1::Sha1>),
    /// The secret is one of the parts, so there is nothing to keep here.
    #[cfg(feature = "keyed-hash")]
    Hash(crate::scheme::Hash),
    #[cfg(any(feature = "ed25519", feature = "ecdsa", feature = "rsa"))]
    Public(Box<PublicKey>),
    /// A keyed digest of the token: comparing digests hides where, and whether in length, two
    /// tokens differ.
    Token(Hmac<Sha256>, [u8; 32]),
}

/// What is known of one request under one key before any signature is looked at: its MAC, or the
/// hash of what a public key is to vouch for.
pub(crate) enum Tag<'p> {
    Sha256(CtOutput<Hmac<Sha256>>),
    Sha512(CtOutput<Hmac<Sha512>>),
    Sha384(CtOutput<Hmac<Sha384>>),
    #[cfg(feature = "sha1")]
    Sha1(CtOutput<Hmac<sha1::Sha1>>),
    #[cfg(any(feature = "keyed-hash", feature = "ecdsa", feature = "rsa"))]
    Digest(digest::Digest),
    /// The parts themselves: of a token, which signs nothing, and of Ed25519, which hashes the
    /// signature before them.
    Parts(#[cfg_attr(not(feature = "ed25519"), allow(dead_code))] &'p [&'p [u8]]),
}

impl Tag<'_> {
    /// For signing, and for the answer to a challenge. Whoever verifies lets [`MacKey::compare`]
    /// do it.
    #[cfg(any(feature = "testing", feature = "handshake"))]
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Tag::Sha256(tag) => tag.as_bytes(),
            Tag::Sha512(tag) => tag.as_bytes(),
            Tag::Sha384(tag) => tag.as_bytes(),
            #[cfg(feature = "sha1")]
            Tag::Sha1(tag) => tag.as_bytes(),
            #[cfg(any(feature = "keyed-hash", feature = "ecdsa", feature = "rsa"))]
            Tag::Digest(digest) => digest.as_slice(),
            Tag::Parts(_) => &[],
        }
    }

    fn matches(&self, signature: &[u8]) -> bool {
        match self {
            Tag::Sha256(tag) => same(tag, signature),
            Tag::Sha512(tag) => same(tag, signature),
            Tag::Sha384(tag) => same(tag, signature),
            #[cfg(feature = "sha1")]
            Tag::Sha1(tag) => same(tag, signature),
            #[cfg(any(feature = "keyed-hash", feature = "ecdsa", feature = "rsa"))]
            Tag::Digest(digest) => digest.as_slice().ct_eq(signature).into(),
            Tag::Parts(_) => false,
        }
    }
}

#[cfg(test)]
thread_local! {
    /// MACs and hashes computed on this thread, for the test that bounds them.
    pub(crate) static COMPUTED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// Signatures checked with a public key on this thread, likewise.
    pub(crate) static CHECKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl MacKey {
    /// Makes a key ready. `key` is what [`decode`](crate::secrets::decode) made of the secret: of
    /// a public key its DER `SubjectPublicKeyInfo`.
    pub(crate) fn new(algorithm: Mac, key: &[u8]) -> Result<Self, SecretFault> {
        Ok(match algorithm {
            Mac::HmacSha256 => MacKey::Sha256(keyed(key)),
            Mac::HmacSha512 => MacKey::Sha512(Box::new(keyed(key))),
            Mac::HmacSha384 => MacKey::Sha384(Box::new(keyed(key))),
            #[cfg(feature = "sha1")]
            Mac::HmacSha1 => MacKey::Sha1(keyed(key)),
            #[cfg(feature = "keyed-hash")]
            Mac::Hash(hash) => MacKey::Hash(hash),
            Mac::Token => {
                // The key only has to be unknown to whoever times us; a digest of the token is.
                let blind: Hmac<Sha256> = keyed(&Sha256::digest(key));
                let digest = run(&blind, &[key]).into_bytes().into();
                MacKey::Token(blind, digest)
            }
            #[cfg(any(feature = "ed25519", feature = "ecdsa", feature = "rsa"))]
            public => MacKey::Public(Box::new(PublicKey::new(public, key)?)),
        })
    }

    /// The MAC or hash over `parts` in order.
    pub(crate) fn compute<'p>(&self, parts: &'p [&'p [u8]]) -> Tag<'p> {
        match self {
            MacKey::Sha256(key) => Tag::Sha256(run(key, parts)),
            MacKey::Sha512(key) => Tag::Sha512(run(key.as_ref(), parts)),
            MacKey::Sha384(key) => Tag::Sha384(run(key.as_ref(), parts)),
            #[cfg(feature = "sha1")]
            MacKey::Sha1(key) => Tag::Sha1(run(key, parts)),
            #[cfg(feature = "keyed-hash")]
            MacKey::Hash(hash) => Tag::Digest(digest::Digest::new(*hash, parts)),
            #[cfg(any(feature = "ed25519", feature = "ecdsa", feature = "rsa"))]
            MacKey::Public(key) => key.hash(parts),
            MacKey::Token(..) => Tag::Parts(parts),
        }
    }

    /// Whether `signature`, decoded already, is this key's over `parts`. Constant-time for MACs.
    #[allow(
        dead_code,
        reason = "for envelopes that decode the signature themselves"
    )]
    pub(crate) fn verifies(&self, parts: &[&[u8]], signature: &[u8]) -> bool {
        let tag = self.compute(parts);
        self.judge(&tag, signature).unwrap_or_default()
    }

    /// Decodes one signature as received and lets the MAC compare it, or the public key check it.
    /// `None`: not readable.
    pub(crate) fn compare(&self, tag: &Tag<'_>, encoding: Encoding, text: &[u8]) -> Option<bool> {
        match self {
            MacKey::Token(blind, digest) => {
                let decoded;
                let token = match encoding {
                    Encoding::Base64 => {
                        decoded = text::any_length(text)?;
                        decoded.as_slice()
                    }
                    _ => text,
                };
                let presented: [u8; 32] = run(blind, &[token]).into_bytes().into();
                Some(presented.as_slice().ct_eq(digest).into())
            }
            #[cfg(any(feature = "ed25519", feature = "ecdsa", feature = "rsa"))]
            MacKey::Public(key) => {
                let mut room = [0; text::SIGNATURE_ROOM];
                key.check(tag, text::decode(encoding, text, &mut room)?)
            }
            _ => {
                let mut room = [0; text::MAC_ROOM];
                text::decode(encoding, text, &mut room).map(|bytes| tag.matches(bytes))
            }
        }
    }

    /// Whether the signature's bytes are right; `None` if they are no signature at all.
    fn judge(&self, tag: &Tag<'_>, signature: &[u8]) -> Option<bool> {
        match self {
            #[cfg(any(feature = "ed25519", feature = "ecdsa", feature = "rsa"))]
            MacKey::Public(key) => key.check(tag, signature),
            _ => Some(tag.matches(signature)),
        }
    }
}
