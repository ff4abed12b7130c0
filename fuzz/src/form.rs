//! Form bodies, multipart or not, and queries: what is signed is what a second reader finds.

use hookproof::scheme::Scheme;

use crate::{
    meaning::{self, Message, header},
    oracle::Answer,
    own,
    signed::{hex, judge, mac, sign},
};

/// The input that reads as a request with this kind of body.
pub fn seed(scheme: u8, kind: &str, query: &str, body: &[u8]) -> Vec<u8> {
    [&[scheme], format!("{kind}\n{query}\n").as_bytes(), body].concat()
}

/// Target: the schemes of [`own::FORMS`], over any body and query.
pub fn form(data: &[u8]) {
    run(data);
}

/// Runs the target, and says whether there was something to sign that passed.
pub fn run(data: &[u8]) -> bool {
    let Some((number, rest)) = data.split_first() else {
        return false;
    };
    let mut lines = rest.splitn(3, |byte| *byte == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let (kind, query) = (
        line().to_vec(),
        String::from_utf8_lossy(line()).into_owned(),
    );
    let mut request = Message {
        method: "POST".into(),
        url: format!("https://hooks.example.com/in?{query}"),
        headers: Vec::new(),
        body: line().to_vec(),
    };
    if !kind.is_empty() {
        request.headers.push(("Content-Type".into(), kind));
    }
    let scheme = own::FORMS[usize::from(*number) % own::FORMS.len()];
    let Some(signed) = sign(scheme, &request) else {
        return false;
    };
    let accepted = judge(scheme, &signed) == Answer::Accepted;
    let content = content(scheme, &signed);
    let right = content.map(|content| hex(&mac(content.as_bytes())).into_bytes());
    let sent = header(&signed, "X-Own-Signature");
    assert!(
        !accepted || sent == right.as_deref(),
        "{}: {signed:?}",
        scheme.name()
    );
    accepted
}

fn content(scheme: &Scheme, request: &Message) -> Option<String> {
    let (form, query) = (meaning::form(request)?, meaning::parameters(request)?);
    let one = |pairs: &[(String, String)], name| meaning::field(pairs, name);
    match scheme.name() {
        "own-fields" => Some(format!("{}\n{}", one(&form, "a")?, one(&query, "q")?)),
        "own-param" => one(&query, "p").or_else(|| one(&form, "p")),
        _ => {
            let (mut form, mut query) = (form, query);
            form.sort();
            form.dedup();
            query.sort();
            let form: String = form
                .into_iter()
                .map(|(name, value)| name + &value)
                .collect();
            let query = query
                .into_iter()
                .map(|(name, value)| format!("{name}={value}"));
            Some(format!("{form}\n{}", query.collect::<Vec<_>>().join("&")))
        }
    }
}
