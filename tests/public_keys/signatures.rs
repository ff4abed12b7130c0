//! Signatures that OpenSSL 3 made with the keys of `testing::test_key` over [`MESSAGE`], and some
//! that were bent.

use hookproof::scheme::Mac;

pub(crate) const BODY: &[u8] = br#"{"id":"evt_1"}"#;

/// What is signed: a time, a full stop and the body.
pub(crate) const MESSAGE: &[u8] = br#"1800000000.{"id":"evt_1"}"#;

/// Of every algorithm one, and of ECDSA the other form (`n - s`) too.
pub(crate) const GOOD: &[(Mac, &str)] = &[
    (
        Mac::Ed25519,
        "LlFECv0rUmFc6vgs66BGQZzQVJjjWlRO2MXytdGF5/X6MLQp0oOvKT5zIi2h4Fmj3qvmDwPyNv9fGFYyWJM/AA==",
    ),
    (
        Mac::EcdsaP256Sha256Der,
        "MEUCIQD0NE6srlKwvm4PFPLBYyKS2qNnG4X7ZFw+hATUtyZYaAIgQ7SJx1wB42gzdWQ/a2H/y9DSbSXE\
         ldVyEcG9jrqMfWE=",
    ),
    (
        Mac::EcdsaP256Sha256Der,
        "MEYCIQD0NE6srlKwvm4PFPLBYyKS2qNnG4X7ZFw+hATUtyZYaAIhALxLdjej/hyYzIqbwJSeADPsFI2H\
         4oHJEuH4DTRB1qfw",
    ),
    (
        Mac::EcdsaP256Sha256Raw,
        "9DROrK5SsL5uDxTywWMiktqjZxuF+2RcPoQE1LcmWGhDtInHXAHjaDN1ZD9rYf/L0NJtJcSV1XIRwb2Ouox9YQ==",
    ),
    (
        Mac::EcdsaP256Sha1Der,
        "MEQCIA56VfT9ekuM1QtIRQpbSC/USoQKnC0t/p3OB4ysr7oPAiANov94v5KrvRxB2klqEoPtROBZzG1/\
         YP0/O3317vnEvA==",
    ),
    (
        Mac::RsaSha256,
        "RZ477XNnYSCSv13nHFK/Y75/SOD5/We8PzDK3oANUvHjtY3BEwLqKblNXpZk1gDhGMEKs6XHzR5qKebH\
         /SYam2xxUQ0v5G6YntMWdF0tYlm0UecC74OmllwJoEfUg4G/aC/D4QVGtaiCN11Hwtel2lvcIjaYoJ4i\
         UVjx4emQYDBTJoazrA7SEP/PDKjz1W+5JRRRlyjT+9kxKEQYRNR0SqquXizWgklv7XGJhRVCW/+T1Dsz\
         6YWZ4ubrp7+G8s8Jl7iqnHGwaH83GOQLPRKkIqfP4aKoODh0bee4vNiZbkY9sJ0qREkKM4qNdSpmiTWi\
         Do/7qkxcr+/61cH8Ldh35w==",
    ),
    (
        Mac::RsaSha512,
        "ggsUyjJ7J7yXBrVFefPUd2biYiWrv8vwhduHGAtakXGoTLsCOm2pIVt4N1eGmei7oncsx44sfbDfzm2A\
         /oZM9pbyVIA/29sFu21sdI1qvhvLNzw4ytGNjJvW1XLyHz1zqhyRPxG8fk3NfgNo0mHOlMhf2Q/7IkmP\
         OvH5bRU3zhXl57stXETUVRTkRe/ZIxTSgqrRs4l29Dp0fdB+st2gPqTADooMyFdvRemF+Vjl5g/xNej1\
         7h/GNDERzSZYmvtL2Erpjddx1u05b1je7+NpHSBc3qicxtXLwPMCSJIm4OCcQD8jKTsyq0vfAi8iaX8M\
         gatgqrJwcnD1tbfTXlc7Fg==",
    ),
    (
        Mac::RsaSha1,
        "ZEKzSQg1DzmIHb5n64yGZBqSdbzvIOB7vsg2LLe2P+SHRF23WhJVdpjYeXHmxirP/EMh8mw7WUf+Nfco\
         z2oAxUT1Aqo7qdQAJj44NLTHpkdWBj9mpo8Fga/cudcwlLd9PB3sh0WAckdrh6pThGDQUTZXw0XWSugS\
         pWw4zqusmMlbHO662Hm0EOHuO68MHSV3U7CPkJjgx/Cdc8Q8NhczfuKC9f+wsXZgIY7izt6fTzg06Ov5\
         m+xqqONKmQiIbXC96B9og5ilGA5nbvcLMwBVbiWysO5hOSFV1t8yJhmMQIP3sGKj/BqtAYZhjebBZ2cZ\
         aF10v+n0yDisKg2PBMJtxQ==",
    ),
    (
        Mac::RsaPssSha512,
        "fJh+SnGz6xPQVV2VLmaASlSBkk6TTC9SRdArVrDHX4BTtzgZ9syjmDd/xAnWivcTksoH8dDFUdH/0Jo9\
         O1cgO6Rw+4fwUCAYEUa53cyLPhxaMGTBMDOWnrVf+Y+WoCNa9zjM35O/aElNO7ky7ynqyPJ98ZXTEnke\
         H1QaqoNxghlEn4n2ecnTVoZUeYvWWYnw0N3KZcMpP5zDu+wshjYIDRtqYnF34ne6Q7bTJRtUOhAs0Fm/\
         SHAtuDq734Y9Ew0LxTQ+kvIOVT9M/2MhHDV7Jsi+T2J+0jqwKIXDoNKjdjKTGbEX5QoepmBeiR+REFMH\
         tY81fVxAOXi03HfKf5PdYQ==",
    ),
];

/// DER with a length in two bytes, DER with a byte behind it, and the two forms mixed up.
pub(crate) const UNREADABLE: &[(Mac, &str)] = &[
    (
        Mac::EcdsaP256Sha256Der,
        "MIFFAiEA9DROrK5SsL5uDxTywWMiktqjZxuF+2RcPoQE1LcmWGgCIEO0icdcAeNoM3VkP2th/8vQ0m0l\
         xJXVchHBvY66jH1h",
    ),
    (
        Mac::EcdsaP256Sha256Der,
        "MEUCIQD0NE6srlKwvm4PFPLBYyKS2qNnG4X7ZFw+hATUtyZYaAIgQ7SJx1wB42gzdWQ/a2H/y9DSbSXE\
         ldVyEcG9jrqMfWEA",
    ),
    (
        Mac::EcdsaP256Sha256Der,
        "9DROrK5SsL5uDxTywWMiktqjZxuF+2RcPoQE1LcmWGhDtInHXAHjaDN1ZD9rYf/L0NJtJcSV1XIRwb2Ouox9YQ==",
    ),
    (
        Mac::EcdsaP256Sha256Raw,
        "MEUCIQD0NE6srlKwvm4PFPLBYyKS2qNnG4X7ZFw+hATUtyZYaAIgQ7SJx1wB42gzdWQ/a2H/y9DSbSXE\
         ldVyEcG9jrqMfWE=",
    ),
];

/// A salt of 20 bytes, the two paddings mixed up, and SHA-1 where SHA-256 belongs.
pub(crate) const WRONG: &[(Mac, &str)] = &[
    (
        Mac::RsaPssSha512,
        "CfqJEVm7iKsyPg4VKobGy7bFMDKEmD5637HngntT3N/FKSo6PfoehXWBLvfqrfRBUsqQSj5dLmR0q2Nb\
         NRym1Nsa2YpCXv9beiyssSX3CnlQNJngtk/v38W9G9oACGkUbZOLgQ+99mssaB39sqxpf/WtMcURLRLn\
         jQZ69KCyuNwCCHccCjCm6a3/s7GglwOejl/WRn3y6SOsfNNJp9ncPYRXl+Z3aAIuqkiC4wezRHoWNPZu\
         ZvM5UnYJDA41DZ/n/L9jP5KYriXWAtbZshweerh82tE1ZMa/XAfIT08X2fAWetwwuhpWNxa+nx0uALzk\
         ZRP5QYfEmGu0t6t1LHbn4w==",
    ),
    (
        Mac::RsaPssSha512,
        "ggsUyjJ7J7yXBrVFefPUd2biYiWrv8vwhduHGAtakXGoTLsCOm2pIVt4N1eGmei7oncsx44sfbDfzm2A\
         /oZM9pbyVIA/29sFu21sdI1qvhvLNzw4ytGNjJvW1XLyHz1zqhyRPxG8fk3NfgNo0mHOlMhf2Q/7IkmP\
         OvH5bRU3zhXl57stXETUVRTkRe/ZIxTSgqrRs4l29Dp0fdB+st2gPqTADooMyFdvRemF+Vjl5g/xNej1\
         7h/GNDERzSZYmvtL2Erpjddx1u05b1je7+NpHSBc3qicxtXLwPMCSJIm4OCcQD8jKTsyq0vfAi8iaX8M\
         gatgqrJwcnD1tbfTXlc7Fg==",
    ),
    (
        Mac::RsaSha512,
        "fJh+SnGz6xPQVV2VLmaASlSBkk6TTC9SRdArVrDHX4BTtzgZ9syjmDd/xAnWivcTksoH8dDFUdH/0Jo9\
         O1cgO6Rw+4fwUCAYEUa53cyLPhxaMGTBMDOWnrVf+Y+WoCNa9zjM35O/aElNO7ky7ynqyPJ98ZXTEnke\
         H1QaqoNxghlEn4n2ecnTVoZUeYvWWYnw0N3KZcMpP5zDu+wshjYIDRtqYnF34ne6Q7bTJRtUOhAs0Fm/\
         SHAtuDq734Y9Ew0LxTQ+kvIOVT9M/2MhHDV7Jsi+T2J+0jqwKIXDoNKjdjKTGbEX5QoepmBeiR+REFMH\
         tY81fVxAOXi03HfKf5PdYQ==",
    ),
    (
        Mac::RsaSha256,
        "ZEKzSQg1DzmIHb5n64yGZBqSdbzvIOB7vsg2LLe2P+SHRF23WhJVdpjYeXHmxirP/EMh8mw7WUf+Nfco\
         z2oAxUT1Aqo7qdQAJj44NLTHpkdWBj9mpo8Fga/cudcwlLd9PB3sh0WAckdrh6pThGDQUTZXw0XWSugS\
         pWw4zqusmMlbHO662Hm0EOHuO68MHSV3U7CPkJjgx/Cdc8Q8NhczfuKC9f+wsXZgIY7izt6fTzg06Ov5\
         m+xqqONKmQiIbXC96B9og5ilGA5nbvcLMwBVbiWysO5hOSFV1t8yJhmMQIP3sGKj/BqtAYZhjebBZ2cZ\
         aF10v+n0yDisKg2PBMJtxQ==",
    ),
    (
        Mac::EcdsaP256Sha256Der,
        "MEQCIA56VfT9ekuM1QtIRQpbSC/USoQKnC0t/p3OB4ysr7oPAiANov94v5KrvRxB2klqEoPtROBZzG1/\
         YP0/O3317vnEvA==",
    ),
];
