//! Plain hashes over the parts of a content: keyed hashes, and what ECDSA and RSA sign.

/// A hash of at most 64 bytes.
pub(crate) struct Digest {
    bytes: [u8; 64],
    length: usize,
}

impl Digest {
    /// Hashes the parts in order, without joining them.
    pub(super) fn of<D: sha2::Digest>(parts: &[&[u8]]) -> Self {
        #[cfg(test)]
        super::COMPUTED.set(super::COMPUTED.get().saturating_add(1));
        let mut hash = D::new();
        for part in parts {
            hash.update(part);
        }
        let mut bytes = [0; 64];
        let output = hash.finalize();
        bytes
            .iter_mut()
            .zip(&output)
            .for_each(|(to, from)| *to = *from);
        Self {
            bytes,
            length: output.len(),
        }
    }

    #[cfg(feature = "keyed-hash")]
    pub(super) fn new(hash: crate::scheme::Hash, parts: &[&[u8]]) -> Self {
        use crate::scheme::Hash;
        match hash {
            Hash::Sha256 => Self::of::<sha2::Sha256>(parts),
            Hash::Sha384 => Self::of::<sha2::Sha384>(parts),
            Hash::Sha512 => Self::of::<sha2::Sha512>(parts),
            Hash::Sha1 => Self::of::<sha1::Sha1>(parts),
            Hash::Md5 => Self::of::<md5::Md5>(parts),
            Hash::Keccak256 => Self::of::<sha3::Keccak256>(parts),
        }
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

#[cfg(all(test, feature = "keyed-hash"))]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use crate::{
        scheme::{Encoding, Hash, Mac},
        verify::MacKey,
    };

    /// The test vectors for `abc`, or of Keccak-256 for nothing, of the hashes' own publications.
    #[test]
    fn hashes_are_those_of_their_standards() {
        let abc: &[&[u8]] = &[b"a", b"", b"bc"];
        let cases: [(Hash, &[&[u8]], &str); 6] = [
            (
                Hash::Sha256,
                abc,
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (
                Hash::Sha384,
                abc,
                "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed\
                 8086072ba1e7cc2358baeca134c825a7",
            ),
            (
                Hash::Sha512,
                abc,
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                 2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            ),
            (Hash::Sha1, abc, "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (Hash::Md5, abc, "900150983cd24fb0d6963f7d28e17f72"),
            (
                Hash::Keccak256,
                &[],
                "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
            ),
        ];
        for (hash, parts, expected) in cases {
            let key = MacKey::new(Mac::Hash(hash), b"the secret is a part").unwrap();
            let tag = key.compute(parts);
            assert_eq!(
                key.compare(&tag, Encoding::Hex, expected.as_bytes()),
                Some(true),
                "{hash:?}"
            );
            let other = expected.replacen(|c: char| c.is_ascii_digit(), "f", 1);
            assert_eq!(
                key.compare(&tag, Encoding::Hex, other.as_bytes()),
                Some(false),
                "{hash:?}"
            );
            let short = expected.get(2..).unwrap();
            assert_eq!(
                key.compare(&tag, Encoding::Hex, short.as_bytes()),
                Some(false),
                "{hash:?}"
            );
            assert_eq!(Mac::Hash(hash).tag_len(), Some(expected.len() / 2));
        }
    }
}
