//! Made-up private keys, one for each kind of public key.

use crate::scheme::Mac;

/// A made-up private key for an algorithm with public keys, to give to
/// [`Signer`](super::Signer) and [`public_key_of`](super::public_key_of); `None` for the others, whose secrets are any
/// text of enough length.
///
/// **These keys are printed here for everyone to read**: for tests and nothing else.
///
/// ```
/// # #[cfg(feature = "ed25519")] {
/// use hookproof::{Secrets, scheme, testing};
/// use time::macros::datetime;
///
/// let private = testing::test_key(scheme::DISCORD.mac()).unwrap();
/// let now = datetime!(2027-01-15 08:00 UTC);
/// let signed = testing::sign(&scheme::DISCORD, private, br#"{"id":"1","type":2}"#, now)?;
///
/// let public = testing::public_key_of(&scheme::DISCORD, private)?;
/// let secrets = Secrets::new(&scheme::DISCORD, [public])?;
/// let delivery = hookproof::verify(&signed.body, &signed, &secrets, now)?;
/// assert_eq!(delivery.event_key("")?.id(), "1");
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub const fn test_key(algorithm: Mac) -> Option<&'static str> {
    match algorithm {
        #[cfg(feature = "ed25519")]
        Mac::Ed25519 => Some(ED25519),
        #[cfg(feature = "ecdsa")]
        Mac::EcdsaP256Sha256Der | Mac::EcdsaP256Sha256Raw => Some(P256),
        #[cfg(all(feature = "ecdsa", feature = "sha1"))]
        Mac::EcdsaP256Sha1Der => Some(P256),
        #[cfg(feature = "rsa")]
        Mac::RsaSha256 | Mac::RsaSha512 | Mac::RsaPssSha512 => Some(RSA),
        #[cfg(all(feature = "rsa", feature = "sha1"))]
        Mac::RsaSha1 => Some(RSA),
        _ => None,
    }
}

#[cfg(feature = "ed25519")]
const ED25519: &str = "\
-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ83ntRP9wEKGJEfkuTCXZvgSwDPpFmr/0QtfZvimBte
-----END PRIVATE KEY-----
";

#[cfg(feature = "ecdsa")]
const P256: &str = "\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgAhV4JZXwMFQ3z1nd
2I2JEUk+WXjbfA7zyR5pO3hT66ihRANCAAQLGH7dp2EHgKeIA3M0Xi8sWVsOior1
2Tqrh3CqoIVonPb/+9aY24SBR2+eLyJIApFXmECQp7BncRyg1oqRjV1j
-----END PRIVATE KEY-----
";

#[cfg(feature = "rsa")]
const RSA: &str = "\
-----BEGIN PRIVATE KEY-----
MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQDFvj9o4V40TDTO
fXlDamzMna18Vhsv4iMOJd98Qhve2lMvup3vkxR2JPIOip5Mci6bQ0Zlf6BQxlIG
gzeZ0JhcPVoLja6F+LJvyaBowCfyJr8H9sHVjH6v/scJFIiDT3rVzcDTHNfuhUC0
XUYOfYGIVNvdXG4Z1iL16hS1K5oMFVz83vIBocLjtTsjb8BWfSoStZfMcshsI3zI
NiXp6XlPYpbsNFRxCE9sddKZ0PNLLkl4UHfdxuFIGxa5ZIaoHJj8p2lOvEyW2P47
pxKbHPRC7PBBRSb6Fypfg8NvNroSDUJO3T40/vBvqiNs9VojW6GdXg5Ama1uKEgi
DMd42PbxAgMBAAECggEAFaphDzA2HpvE42Tq/uBvuEGEaw2SH/5yYc/zew1ROWsJ
Vz7mpAOk58bngIFek7ik85z83w0LNx5riUwiMOeiceTE82QcHZCgmE/qk9+N4OGu
54P5O9kPXmAXVZ7a0CxKpJdNC7Rq0jbmXnyjut20bggCKPBCHfGQ1gnGKA11bOJO
+pF1exTsoXKIDsWCrw40FO89iaHqA87T7V/YojuGfWeCvDDtEmXPRQ6p2K3JAJnw
9qFIFo4OTHsJrWsimTa7rT3Khe8YmoUKNaSbkW7fXJNgsgb3TS3yB+eZzevEzsjV
/4icTQjj0zeC2o+j4BQA+oZl7FM6oIlCmWmA48kCeQKBgQDrGlWqTw3lqj2io15c
7FqKi1J5N45NSPV9s2P9uodbv12R98o91cLHhMbqkO4GtT62M7sqhLUkNipL6Prk
p0zblz70n1T1erbAmKL+UN/ae9RukPqBjJOy6AH10pvG9ozMIH2fi2DoKu12yBBq
KGgIfy+iiy2kQsfnzEAYu5jE1QKBgQDXUc8IHE6sdPuLQzUT4+Qn4B0ipoYxmNZW
WboJvEHFZbx2W185DYFU0f3FtRTZNnq0kH7jEyZ+SRCI6ak3v1emS2IVHJWCJ9ux
5E0tJ+hmChhoZZg7Nwc/SNDfQj4Mxmm0nNZ0RFvHINdW86HXqGK0tiux+JXN0Smu
XxngX+GnrQKBgFSFZjDRNPTRTFFRHFaZ3j8asW7Ey1L7nM4xFQyd55XTaYdVpw6t
79Wc5Ypkyj39IOuOE4bIqPq4wmICA1j60IXNjSOSuI98K4F4HnkBiEja5ddOJdE3
Qc463KGMstZHwvyL3b3i9Nbiv/ZJHKWdmzEa0HxGPwVjwMyTwKNjpht1AoGAL397
dSWRcVeo+bKMreOSu/0jUDZ92ckGVywZ7vXZaGsl5NIJMnO5OPXNzmRAwh3Teat6
YisiTa9ed2VcD9Eky6lLbK7OiFS0kQx0veZUzNWjRrxKlZ1w+tPcR7O8LmNChDYo
1KMTv9yNxD+gTwt1Irog73SPz0Q5tp6B/c4I4E0CgYBXdEEvuNVv4A3gDlQKpoQh
1ysM8W6jH47RfJnlQkvSinO8sP5rM2ySxdxqESE97X/Ssul/VMwkBIBK0xn2BZPw
y0PZSrhlJ9VaJnuj3cqQ1yBJ+0XHA9umMKAyIL6GgpBbFljN/BHqdSMO2CvjSKz/
LZZHu5Sv4G9Z87ABAz42hQ==
-----END PRIVATE KEY-----
";
