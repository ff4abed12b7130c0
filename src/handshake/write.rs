//! Putting an answer together, piece by piece.

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::{Answer, Body, Key, Piece, Responder};
use crate::{
    scheme::{Encoding, Mac},
    secrets::SecretFault,
    verify::{MacKey, encode},
};

impl Responder {
    pub(super) fn write(&self, challenge: &str, confirm: Option<String>) -> Answer {
        let (kind, body) = match self.row.body {
            Body::Empty => (None, Vec::new()),
            Body::Text(pieces) => (
                Some("text/plain; charset=utf-8"),
                self.join(pieces, challenge),
            ),
            Body::Fixed(json) => (Some("application/json"), json.as_bytes().to_vec()),
            Body::Json(members) => {
                let members = members.iter().map(|(name, pieces)| {
                    let value = self.join(pieces, challenge);
                    let value = String::from_utf8_lossy(&value).into_owned();
                    ((*name).to_owned(), serde_json::Value::String(value))
                });
                let object = serde_json::Value::Object(members.collect());
                (Some("application/json"), object.to_string().into_bytes())
            }
        };
        let own = self.row.headers.iter().map(|(name, pieces)| {
            let value = self.join(pieces, challenge);
            (*name, String::from_utf8_lossy(&value).into_owned())
        });
        let kind = kind.map(|kind| ("Content-Type", kind.to_owned()));
        let nosniff = ("X-Content-Type-Options", "nosniff".to_owned());
        let headers = kind.into_iter().chain([nosniff]).chain(own);
        Answer {
            status: self.row.status,
            headers: headers
                .map(|(name, value)| (name, Zeroizing::new(value)))
                .collect(),
            body: Zeroizing::new(body),
            confirm,
        }
    }

    fn join(&self, pieces: &[Piece], challenge: &str) -> Vec<u8> {
        let mut joined = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => joined.extend_from_slice(text.as_bytes()),
                Piece::Challenge => joined.extend_from_slice(challenge.as_bytes()),
                Piece::Setting(index) => joined.extend_from_slice(self.setting(*index)),
                Piece::Sha256(pieces) => {
                    let bytes = Zeroizing::new(self.join(pieces, challenge));
                    let digest = Sha256::digest(&*bytes);
                    joined.extend(encode(Encoding::Hex, &digest));
                }
                Piece::Hmac(algorithm, key, encoding) => {
                    // The row's check lets no other algorithm pass than those that have a key here.
                    if let Ok(key) = self.key(*algorithm, *key) {
                        let parts = [challenge.as_bytes()];
                        let tag = key.compute(&parts);
                        joined.extend(encode(*encoding, tag.as_slice()));
                    }
                }
            }
        }
        joined
    }

    fn key(&self, algorithm: Mac, key: Key) -> Result<MacKey, SecretFault> {
        match key {
            Key::Setting(index) => MacKey::new(algorithm, self.setting(index)),
            #[cfg(feature = "sha1")]
            Key::Sha1Of(index) => {
                let digest =
                    Zeroizing::new(<[u8; 20]>::from(sha1::Sha1::digest(self.setting(index))));
                MacKey::new(algorithm, &*digest)
            }
        }
    }
}
