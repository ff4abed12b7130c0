//! HTTP message signatures whose MAC is right, so that a fuzzer gets at what they cover.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest as _, Sha256};

use crate::{
    meaning::{Message, header, target_parts},
    oracle::Answer,
    own,
    signed::{NOW, judge as verify, mac},
};

/// The components that [`own::HTTP`] requires.
const REQUIRED: [&str; 5] = ["@method", "@authority", "@path", "@query", "x-own-id"];

/// The input that reads as a request: its method and URL, headers, an empty line and the body.
pub fn seed(flags: u8, method: &str, url: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("{method} {url}\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\n"));
    }
    head.push('\n');
    [&[flags], head.as_bytes(), body].concat()
}

/// Target: [`own::HTTP`], over any input of a signature.
pub fn http_signature(data: &[u8]) {
    judge(data);
}

fn read(data: &[u8]) -> Option<(u8, Message)> {
    let (flags, mut rest) = data.split_first()?;
    let mut line = || {
        let end = rest.iter().position(|&byte| byte == b'\n')?;
        let line = &rest[..end];
        rest = &rest[end + 1..];
        Some(line)
    };
    let (method, url) = std::str::from_utf8(line()?).ok()?.split_once(' ')?;
    let mut headers = Vec::new();
    while let Some(field) = line().filter(|field| !field.is_empty()) {
        let colon = field.iter().position(|&byte| byte == b':')?;
        let name = String::from_utf8(field[..colon].to_vec()).ok()?;
        headers.push((name, field[colon + 1..].trim_ascii().to_vec()));
    }
    Some((
        *flags,
        Message {
            method: method.into(),
            url: url.into(),
            headers,
            body: rest.to_vec(),
        },
    ))
}

/// Runs the target, and says what came of it once the second opinion has agreed.
pub fn judge(data: &[u8]) -> Answer {
    let Some((flags, mut request)) = read(data) else {
        return Answer::Refused;
    };
    // Bit 0: the body's digest is put in. Bit 1: it is another body's.
    if flags & 1 != 0 {
        let digest = match flags & 2 {
            0 => Sha256::digest(&request.body),
            _ => Sha256::digest([&request.body[..], b"x"].concat()),
        };
        let digest = format!("sha-256=:{}:", STANDARD.encode(digest));
        request
            .headers
            .push(("Content-Digest".into(), digest.into()));
    }
    let input = header(&request, "Signature-Input").unwrap_or_default();
    let inputs = std::str::from_utf8(input).map(labels).unwrap_or_default();
    let base = |label: &Label| base(label, &request);
    let signed: Vec<(&Label, String)> = inputs
        .iter()
        .filter_map(|label| Some((label, base(label)?)))
        .collect();
    let signatures: Vec<String> = signed
        .iter()
        .map(|(label, base)| format!("{}=:{}:", label.name, STANDARD.encode(mac(base.as_bytes()))))
        .collect();
    request
        .headers
        .push(("Signature".into(), signatures.join(", ").into_bytes()));

    let answer = verify(&own::HTTP, &request);
    let good = |(label, _): &&(&Label, String)| label.is_good(&request);
    let fresh = |(label, _): &(&Label, String)| label.is_fresh();
    let good: Vec<_> = signed.iter().filter(good).collect();
    match answer {
        Answer::Accepted => assert!(good.iter().any(|label| fresh(label)), "{request:?}"),
        Answer::Stale => assert!(!good.is_empty(), "{request:?}"),
        Answer::Refused => {}
    }
    if answer != Answer::Refused && flags & 1 != 0 {
        assert_eq!(flags & 2, 0, "another body's digest");
    }
    answer
}

/// One member of `Signature-Input`, cut without looking at what is allowed.
struct Label {
    name: String,
    components: Vec<String>,
    /// Components and parameters, as they are written.
    text: String,
    parameters: Vec<String>,
}

/// Cuts at a byte outside quotes.
fn split(text: &str, at: char) -> Vec<&str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(|c: char| {
        let cut = c == at && !quoted;
        quoted ^= c == '"' && !escaped;
        escaped = quoted && c == '\\' && !escaped;
        cut
    })
    .collect()
}

fn labels(text: &str) -> Vec<Label> {
    let label = |member: &str| {
        let (name, text) = member.trim_matches([' ', '\t']).split_once('=')?;
        let mut parts = split(text, ')').into_iter();
        let list = parts.next()?.strip_prefix('(')?;
        let rest = text.get(list.len() + 2..)?;
        let components = split(list, ' ').into_iter().filter(|one| !one.is_empty());
        Some(Label {
            name: name.to_owned(),
            components: components.map(str::to_owned).collect(),
            text: text.to_owned(),
            parameters: split(rest, ';')
                .into_iter()
                .skip(1)
                .map(str::to_owned)
                .collect(),
        })
    };
    split(text, ',').into_iter().filter_map(label).collect()
}

impl Label {
    fn covers(&self, name: &str) -> bool {
        self.components
            .iter()
            .any(|own| own.strip_prefix('"').and_then(|own| own.strip_suffix('"')) == Some(name))
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        let named = |one: &String| one.split('=').next() == Some(name);
        let found = self.parameters.iter().find(|one| named(one))?;
        found.split_once('=').map(|(_, value)| value)
    }

    fn second(&self, name: &str) -> Option<i64> {
        self.parameter(name)?.parse().ok()
    }

    /// Whether it covers all that the rule asks for, by name or by what says more.
    fn is_good(&self, request: &Message) -> bool {
        let target =
            self.covers("@target-uri") || (self.covers("@scheme") && self.covers("@authority"));
        let covered = |name: &&str| {
            let more = ["@authority", "@path", "@query"].contains(name);
            let request_target =
                self.covers("@request-target") && ["@path", "@query"].contains(name);
            self.covers(name) || request_target || (more && target)
        };
        let digest = STANDARD.encode(Sha256::digest(&request.body));
        let body = header(request, "Content-Digest").is_some_and(|field| {
            String::from_utf8_lossy(field).contains(&digest) || !field.starts_with(b"sha-256")
        });
        REQUIRED.iter().all(covered)
            && self.covers("content-digest")
            && body
            && self.parameter("keyid").is_some()
            && self
                .parameter("alg")
                .is_none_or(|alg| alg == "\"hmac-sha256\"")
            && self.second("created").is_some()
    }

    fn is_fresh(&self) -> bool {
        self.second("created")
            .is_some_and(|sent| sent.abs_diff(NOW) <= 300)
            && self
                .parameter("expires")
                .is_none_or(|end| end.parse().is_ok_and(|end: i64| end >= NOW))
    }
}

/// The signature base of a label, for the components that need no parser of their own.
fn base(label: &Label, request: &Message) -> Option<String> {
    let [scheme, authority, path, query] = target_parts(&request.url)?;
    let mut base = String::new();
    for component in &label.components {
        let name = component.strip_prefix('"')?.strip_suffix('"')?;
        let value = match name {
            "@method" => request.method.clone(),
            "@target-uri" => request.url.clone(),
            "@authority" => authority.clone(),
            "@scheme" => scheme.clone(),
            "@path" => path.clone(),
            "@query" => format!("?{query}"),
            "@request-target" => match request.url.contains('?') {
                true => format!("{path}?{query}"),
                false => path.clone(),
            },
            _ => String::from_utf8(header(request, name)?.trim_ascii().to_vec()).ok()?,
        };
        base.push_str(&format!("{component}: {value}\n"));
    }
    base.push_str(&format!("\"@signature-params\": {}", label.text));
    Some(base)
}
