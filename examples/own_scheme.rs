//! Providers that are not in the catalogue, each in a few lines of data.
//!
//! `cargo run --example own_scheme`
#![allow(clippy::print_stdout)]

use std::error::Error;

use hookproof::{
    Secrets,
    headers::RequestTarget,
    scheme::{Encoding, IdSource, Mac, Part, Scheme, SecretFormat, Slot, Source, Unit},
    testing::Signer,
};
use time::OffsetDateTime;

const ACME_HEADER: Slot = Slot::header("X-Acme").list(b',');

/// A list header with time and signatures, as many send it.
const ACME: Scheme = Scheme::new("acme", Mac::HmacSha256)
    .signature(ACME_HEADER.prefix("v1="), Encoding::Hex)
    .timestamp(ACME_HEADER.prefix("t="), Unit::Seconds)
    .content(&[Part::Timestamp, Part::Text("."), Part::Body])
    .id(IdSource::Json("/id"))
    .event_type(Source::Json("/type"));

/// Signs method and URL before the body, with a blank and a line end between them.
const SIGNS_URL: Scheme = Scheme::new("signs-url", Mac::HmacSha512)
    .signature(Slot::header("X-Signature"), Encoding::Base64)
    .content(&[
        Part::Method,
        Part::Text(" "),
        Part::Url,
        Part::Text("\n"),
        Part::Body,
    ])
    .id(IdSource::Json("/event/id"));

/// Signs the body alone, but the body holds the time of sending.
const TIME_IN_BODY: Scheme = Scheme::new("time-in-body", Mac::HmacSha256)
    .signature(Slot::header("X-Signature").prefix("sha256="), Encoding::Hex)
    .content(&[Part::Body])
    .body_timestamp("/sent_at", Unit::Rfc3339)
    .secret(SecretFormat::Base64 { prefix: "key_" })
    .id(IdSource::Composite(&["/account", "/sequence"]));

fn main() -> Result<(), Box<dyn Error>> {
    let now = OffsetDateTime::from_unix_timestamp(1_800_000_000)?;
    let url = "https://hooks.example.com/in?shop=7";
    let cases: [(&'static Scheme, &str, &[u8], &str); 3] = [
        (
            &ACME,
            "the-secret-of-acme",
            br#"{"id":"evt_1","type":"paid"}"#,
            "evt_1",
        ),
        (&SIGNS_URL, "another-secret", br#"{"event":{"id":7}}"#, "7"),
        (
            &TIME_IN_BODY,
            "key_c2l4dGVlbi1ieXRlcy1vci1tb3Jl",
            br#"{"account":"a1","sequence":12,"sent_at":"2027-01-15T08:00:00Z"}"#,
            "2:a1,2:12,",
        ),
    ];
    for (scheme, secret, body, id) in cases {
        let signed = Signer::new(scheme, secret)
            .at(now)
            .target("POST", url)
            .sign(body)?;

        // What your handler does: headers as they came, method and public URL beside them.
        let secrets = Secrets::new(scheme, [secret])?;
        let request = RequestTarget::new(&signed.headers, "POST", url);
        let delivery = hookproof::verify(body, &request, &secrets, now)?;
        assert_eq!(delivery.event_key("")?.id(), id);
        println!(
            "{}: event {id:?}, covered: {:?}",
            scheme.name(),
            delivery.coverage()
        );

        let elsewhere = RequestTarget::new(&signed.headers, "POST", "https://hooks.example.com/");
        let signs_url = scheme.parts().contains(&Part::Url);
        assert_eq!(
            hookproof::verify(body, &elsewhere, &secrets, now).is_err(),
            signs_url
        );
        assert!(hookproof::verify(b"{}", &request, &secrets, now).is_err());
    }
    Ok(())
}
