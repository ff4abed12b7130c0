//! Other crates' verification of the same requests.

use hookproof_benches::Group;

use crate::request::Request;
#[allow(unused_imports, reason = "depends on the features")]
use {crate::request::Kind, std::hint::black_box};

/// What must be said beside a row.
pub fn note(case: &str) -> &'static str {
    match case {
        "svix 2.9.1" => "needs its TLS client stack to build",
        "async-stripe-webhook rc.10" => "also parses the JSON, as its only entry point does",
        _ => "",
    }
}

/// Adds the peers that are built in and know the request's scheme.
#[allow(unused_variables, reason = "depends on the features")]
pub fn add<'a>(group: &mut Group<'a>, request: &'a Request) {
    #[cfg(feature = "peer-webhook-verify")]
    {
        use webhook_verify::{Provider, Secret, VerifyOptions, verify};

        let provider = || match request.kind {
            Kind::GitHub => Provider::GitHub,
            Kind::Stripe => Provider::Stripe,
            Kind::StandardWebhooks => Provider::StandardWebhooks,
        };
        let secret = Secret::new(request.kind.secret());
        group.case("webhook-verify 0.1.0 map", move || {
            let (headers, body) = black_box((&request.map, &request.body));
            verify(provider(), headers, body, &secret, VerifyOptions::default())
                .expect("the request is authentic");
        });
        let secret = Secret::new(request.kind.secret());
        group.case("webhook-verify 0.1.0 pairs", move || {
            let (headers, body) = black_box((&request.pairs, &request.body));
            verify(provider(), headers, body, &secret, VerifyOptions::default())
                .expect("the request is authentic");
        });
    }
    #[cfg(feature = "peer-standardwebhooks")]
    if request.kind == Kind::StandardWebhooks {
        let webhook = standardwebhooks::Webhook::new(&request.kind.secret()).expect("a secret");
        group.case("standardwebhooks 1.0.1", move || {
            let (headers, body) = black_box((&request.map, &request.body));
            webhook
                .verify(body, headers)
                .expect("the request is authentic");
        });
    }
    #[cfg(feature = "peer-svix")]
    if request.kind == Kind::StandardWebhooks {
        let webhook = svix::webhooks::Webhook::new(&request.kind.secret()).expect("a secret");
        group.case("svix 2.9.1", move || {
            let (headers, body) = black_box((&request.map, &request.body));
            webhook
                .verify(body, headers)
                .expect("the request is authentic");
        });
    }
    #[cfg(feature = "peer-async-stripe")]
    if request.kind == Kind::Stripe {
        let secret = request.kind.secret();
        group.case("async-stripe-webhook rc.10", move || {
            let (headers, body) = black_box((&request.map, &request.body));
            let body = str::from_utf8(body).expect("JSON is UTF-8");
            let signature = headers["stripe-signature"].to_str().expect("ASCII");
            stripe_webhook::Webhook::construct_event(body, signature, &secret)
                .expect("the request is authentic")
        });
    }
}
