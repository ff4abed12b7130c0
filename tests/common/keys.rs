//! A second made-up private key of each kind, beside `testing::test_key`.

use hookproof::{scheme::Scheme, testing};

/// The key for texts that begin with `another`, or the first one for all others.
pub fn private(scheme: &Scheme, text: &str) -> &'static str {
    let first = testing::test_key(scheme.mac()).expect("a scheme with public keys");
    match text.starts_with("another") {
        true => second(first),
        false => first,
    }
}

/// Of the same kind, which the first one's length tells.
fn second(first: &str) -> &'static str {
    match first.len() {
        ..=150 => ED25519,
        151..=400 => P256,
        _ => RSA,
    }
}

const ED25519: &str = "\
-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIDw8qhbawqvRKvC/IBTBTcETOdHpJCF3sS1hamEEHgIq
-----END PRIVATE KEY-----
";

const P256: &str = "\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgw6iRR4itMzsmzf2e
mV90pMuulcXrBi+uyFoRIdg7N9ihRANCAAR2WMYpXgCLMeamha1AxkInUc6gYjzG
RW1BhYMdD5K4HnoSRI1t7kryaZ4oND7c5ipEAE3vpv/3NzToYs8YdPga
-----END PRIVATE KEY-----
";

const RSA: &str = "\
-----BEGIN PRIVATE KEY-----
MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDAjQvJnvL4b09M
gByjXlbQKxgCsWMS74oEk2Qi4Ey+hP3UixkcMxcGiXEZc2BjPi25ZqUKBcpUFbDc
lV78bNtfXE/bieRZHNbv+bBqbCRi9+WR9iZmTh7PSzYdZ3UEguhCvwPJu6PhkoAl
0Esc5CBUi7zejE90A2E4hUT5Vf7HhhdWPV049ZTqMqVKBL+M2KsSL4vE+tCGaoRx
JcASV9HaQf70OOkbb0zB6LgElPIGT31Qq7jaRZDFVwSsqY8FD9giOyk/vRC9N3XL
OcMvr/bVnFdnp4EQYU8h1qZIpqOgEumrsot/RWP3NVLoR+jC5FwnUL7rA/qji9q0
6AwmOxVHAgMBAAECggEAHWTKsl4p4CP52odKF+RcY03YzfxvT+IyUw1/AVX1UTYz
G4GadTQVZUGQ+t4ijjPdPgq90gBdSSXAiIPi6qzhdja82Bo+Oh5Nb3fR5wUYLuWB
7ZzCcualDGcCXU3ATs5/D0VimiajV1mKZ3tbJA9tIgrs65pGvMKRUlQB2gA3MxTw
6J5p+L1A4/zIpq49SSOAgAeO7hV2b5dt9OB5CSXdW5wg2FEetYB9764GhuTz/Cgw
nOKza3nvwDoQrlpEEkOZpq/tP/1c1GGuheGDmc2zKZQY6kSAPgWv8O6yNASfTe0O
os/l5rWBkCbtaiSQOF6M4kcdhBqCpVQ2WXa7OWxmJQKBgQDjBKsvMXyplLLOCma/
1fFxdoj1/RzHBEQtzay09qgQsydjPO5VQUb38VLMR4f9AjpWS2MIsVbcVE3spSdo
0+maava8OSxmbHREuX/4MSyiz+OGT2c6e3rO7W6zCqIXyROVIL98aRTpfppZCoiQ
velKn5SQU2+VpjWH7EPc90NVtQKBgQDZIe4HALlZBpE2O98LsWg5z9mIZPHrPF+X
aHEmzfoTe/582EnfijA6GJRuck6iDiWwP/AA383hveUuytos7wzIX15s5lvumtqH
462m1FxvQRFaZKkStpOe4dqlpwmQ7kLHp+osnPDR8PlOaKRtoXKI3dPbS8XqJLVu
Y6Q7DXTciwKBgQCdMepnL1knA7QcP8+OHlKlQnLsAmwe0rFzFev1EqaliahIazSN
DDpcDVpL4WwkoZpLjr/wkPuYbTfYGTQEvlgPeOmIw/4enhKUU+5sqYBC7Libk/fi
4wXSq03v4/kBh1Zr+NUfDJRSajvuVADkWNxls8JnfZ7SfNisWclUBFM30QKBgGiK
BnDGr3YmTEmhP70AeB7FbIVXnIXWNmvONBQrvUgePaNb+w0uGhQOe4BFdohdaVXX
IrU5C4WxCKOjtLFHko7yI6MosYBKfAZK3vNgcPR7jmBH8IL69k3bjYqNxnRJ0ksQ
FBXQpb1eWJmglfHWdi9hJbwCWlJlxBhWzt5Dl00LAoGAIHMrNf7DgJfIt4G7BHGe
rgkmbIZslw2ys9EzHFLJma9QGp7K4NElb+TL6R3dDTD9u42cCaj2sXLoTzlfK+Xm
cfbROktc+PXHDluzKmu3m2Hd3TY/Ldt0cVrRQk0kZBfnxjCe7Pf8eGpj/23T28jU
DxW8zkUzsYVRi2/Gp3thSiM=
-----END PRIVATE KEY-----
";
