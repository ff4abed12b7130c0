//! The deliveries: an id, or a signed request.

use hookproof::{
    Secrets, scheme,
    testing::{Signed, sign},
};
use time::{OffsetDateTime, macros::datetime};

const SECRET: &str = "whsec_T3st0nlyAlphaKey4711xyz";

/// When all requests are signed, whatever the time of day.
pub(crate) const SIGNED: OffsetDateTime = datetime!(2027-01-15 08:00 UTC);

/// An event as it is sent: its id, or `id|signature`.
pub(crate) fn delivery(event: usize, is_signed: bool) -> String {
    let id = format!("evt_{event}");
    if !is_signed {
        return id;
    }
    let signed = sign(&scheme::STRIPE, SECRET, body(&id).as_bytes(), SIGNED).unwrap();
    let [(_, signature)] = &signed.headers[..] else {
        panic!("not one header: {signed:?}");
    };
    format!("{id}|{signature}")
}

fn body(id: &str) -> String {
    format!(r#"{{"id":"{id}"}}"#)
}

pub(crate) fn secrets() -> Secrets {
    Secrets::new(&scheme::STRIPE, [SECRET]).unwrap()
}

pub(crate) fn request(delivery: &str) -> Signed {
    let (id, signature) = delivery.split_once('|').unwrap();
    Signed {
        headers: vec![("Stripe-Signature".into(), signature.into())],
        body: body(id).into_bytes(),
        method: "POST".into(),
        url: "https://hooks.example.com/in".into(),
    }
}
