//! What a signed request says, read by other means than the crate's: every scheme, whatever it
//! covers. Two requests that pass under one signature must say the same.

use std::borrow::Cow;

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use hookproof::scheme::{
    ClaimRule, Condition, HttpSignature, Jwt, Part, Place, Scheme, Slot, Stamp, Transform,
};
use serde_json::{Value, value::RawValue};

use crate::oracle::{self, Fields, Members};

/// A request, as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The method.
    pub method: String,
    /// The public URL.
    pub url: String,
    /// Header names and values.
    pub headers: Fields,
    /// The body.
    pub body: Vec<u8>,
}

/// Whether something that the scheme can sign says the same in both; of bodies whose elements are
/// signed one by one, whether all that the other says, the one says too.
pub fn same(scheme: &Scheme, one: &Message, other: &Message) -> bool {
    let (one, other) = (said(scheme, one), said(scheme, other));
    let among = |other: &Vec<Vec<Value>>| {
        let within = |one: &Vec<Vec<Value>>| other.iter().all(|element| one.contains(element));
        !other.is_empty() && one.iter().any(within)
    };
    other.iter().any(among)
}

/// For each content that the request can be put into: what each element says.
fn said(scheme: &Scheme, request: &Message) -> Vec<Vec<Vec<Value>>> {
    if let Some(rules) = scheme.token_rules() {
        return token(scheme, rules, request)
            .into_iter()
            .map(|said| vec![said])
            .collect();
    }
    if let Some(rule) = scheme.http_signature_rule() {
        return http(rule, request)
            .into_iter()
            .map(|said| vec![said])
            .collect();
    }
    let elements = elements(scheme, request);
    let element = |parts: &'static [Part], element: &Option<String>| {
        let mut said = Vec::new();
        say(scheme, request, element.as_deref(), parts, &mut said)?;
        // Where the format leaves open what ends where, so does this.
        Some(match scheme.ambiguity() {
            Some(_) => vec![said.iter().map(text).collect::<String>().into()],
            None => said,
        })
    };
    let contents = scheme.contents();
    contents
        .filter_map(|parts| elements.iter().map(|one| element(parts, one)).collect())
        .collect()
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).collect(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The JSON that pointers point into: the body or a field of it, or each element of its array.
fn elements(scheme: &Scheme, request: &Message) -> Vec<Option<String>> {
    let body = match scheme.json_field() {
        Some(name) => form(request)
            .and_then(|form| field(&form, name))
            .map(Into::into),
        None => None,
    };
    let body = body.unwrap_or_else(|| request.body.clone());
    let body = String::from_utf8(body).ok();
    let Some(pointer) = scheme.each_element() else {
        return vec![body];
    };
    let list = body.as_deref().and_then(|body| at(body, pointer));
    let list: Vec<&RawValue> = list
        .and_then(|list| serde_json::from_str(list).ok())
        .unwrap_or_default();
    list.into_iter()
        .map(|element| Some(element.get().to_owned()))
        .collect()
}

/// The text at a pointer, through objects and arrays.
pub fn at<'t>(text: &'t str, pointer: &str) -> Option<&'t str> {
    let mut text = serde_json::from_str::<&RawValue>(text).ok()?.get();
    for token in pointer.split('/').skip(1) {
        let token = &token.replace("~1", "/").replace("~0", "~");
        text = if text.starts_with('[') {
            let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            items.get(token.parse::<usize>().ok()?)?.get()
        } else {
            let Members(members) = serde_json::from_str(text).ok()?;
            let mut named = members.into_iter().filter(|(name, _)| name == token);
            named.next().filter(|_| named.next().is_none())?.1.get()
        };
    }
    Some(text)
}

/// A value as text: strings decoded, numbers as they are written.
pub fn scalar(text: &str) -> Option<String> {
    match text.as_bytes().first()? {
        b'"' => serde_json::from_str(text).ok(),
        b'{' | b'[' | b'n' => None,
        _ => Some(text.to_owned()),
    }
}

/// Adds what the parts say; `None` if something that they need is not there.
fn say(
    scheme: &Scheme,
    request: &Message,
    element: Option<&str>,
    parts: &[Part],
    said: &mut Vec<Value>,
) -> Option<()> {
    let url = request.url.split('#').next()?;
    for part in parts {
        match part {
            Part::Text(_) | Part::Secret | Part::Setting(_) => {}
            Part::Require(condition) => require(request, element, condition, said)?,
            Part::Body => said.push(bytes(&request.body)),
            Part::Method => said.push(request.method.clone().into()),
            Part::Url => said.push(request.url.clone().into()),
            Part::UrlBase => said.push(url.split('?').next()?.into()),
            Part::Path => said.push(target(url).split('?').next()?.into()),
            Part::PathAndQuery => said.push(target(url).into()),
            Part::Timestamp => {
                let Some((Stamp::Slot(slot), _)) = scheme.timestamp_source() else {
                    return None;
                };
                said.push(value(request, element, &slot)?);
            }
            Part::Header(slot) | Part::Value(slot) => said.push(value(request, element, slot)?),
            Part::JsonText(pointer) => {
                let text = at(element?, pointer)?;
                said.push(serde_json::from_str(text).unwrap_or(text.into()));
            }
            Part::SortedQuery => said.push(sorted(parameters(request)?, false)),
            Part::SortedForm => said.push(sorted(form(request)?, true)),
            Part::HeaderList(list) => {
                let names = header(request, list.names.name())?;
                // In one item of several, names stand between blanks.
                let blanks = !list.names.fixed_prefix().is_empty();
                for item in oracle::cut(list.names, names) {
                    for name in item.split(|byte| blanks && *byte == b' ') {
                        let name = std::str::from_utf8(name).ok()?.trim();
                        said.push(bytes(header(request, name)?.trim_ascii()));
                    }
                }
            }
            Part::Of(Transform::LowerCase, inner) => {
                let mut group = Vec::new();
                say(scheme, request, element, inner, &mut group)?;
                said.push(Value::from(group).to_string().to_ascii_lowercase().into());
            }
            // Both ways to write the port are tried, so neither says anything.
            Part::Of(Transform::OtherPort, _) => said.push(other_port(&request.url).into()),
            Part::Of(Transform::UnescapeUri, _) => {
                let url = percent_encoding::percent_decode_str(&request.url);
                said.push(bytes(&url.collect::<Vec<u8>>()));
            }
            Part::Of(_, inner) => say(scheme, request, element, inner, said)?,
            Part::IfPresent(inner) => {
                let mut group = Vec::new();
                let there = say(scheme, request, element, inner, &mut group);
                said.push(there.map_or(Value::Null, |()| group.into()));
            }
            other => panic!("{other:?} needs a meaning here"),
        }
    }
    Some(())
}

/// Whether the condition holds, and what it binds.
fn require(
    request: &Message,
    element: Option<&str>,
    condition: &Condition,
    said: &mut Vec<Value>,
) -> Option<()> {
    let has_query = !query(request).is_empty();
    let met = match condition {
        Condition::Equals(slot, wanted) => value(request, element, slot).is_some_and(|value| {
            text(&value) == *wanted || text(&value) == STANDARD.encode(wanted)
        }),
        Condition::Missing(slot) => value(request, element, slot).is_none(),
        Condition::BodySha256(_) => {
            said.push(bytes(&request.body));
            true
        }
        Condition::NoQuery => !has_query,
        Condition::Query => has_query,
        Condition::NoBody => request.body.is_empty(),
        Condition::NoForm => form(request)?.is_empty(),
        Condition::Form => !form(request)?.is_empty(),
        _ => true,
    };
    met.then_some(())
}

/// Path and query.
fn target(url: &str) -> &str {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    rest.find(['/', '?']).map_or("", |start| &rest[start..])
}

fn query(request: &Message) -> &[u8] {
    let url = request.url.split('#').next().unwrap_or_default();
    url.split_once('?')
        .map_or("", |(_, query)| query)
        .as_bytes()
}

/// The URL with the port that it has not: without any, or with the usual one.
fn other_port(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, tail) = rest.split_at(end);
    let name_end = host.rfind(']').unwrap_or(0);
    match (
        host[name_end..].rfind(':'),
        scheme.to_ascii_lowercase().as_str(),
    ) {
        (Some(at), "http" | "https") => format!("{scheme}://{}{tail}", &host[..name_end + at]),
        (None, "https") => format!("{scheme}://{host}:443{tail}"),
        (None, "http") => format!("{scheme}://{host}:80{tail}"),
        _ => url.to_owned(),
    }
}

/// The value of a header that occurs once.
pub fn header<'m>(request: &'m Message, name: &str) -> Option<&'m [u8]> {
    let named = |(known, _): &&(String, Vec<u8>)| known.eq_ignore_ascii_case(name);
    let mut found = request.headers.iter().filter(named);
    found
        .next()
        .filter(|_| found.next().is_none())
        .map(|(_, value)| &value[..])
}

fn value(request: &Message, element: Option<&str>, slot: &Slot) -> Option<Value> {
    let parameter = || field(&parameters(request)?, slot.name());
    let form_field = || field(&form(request)?, slot.name());
    let whole: Cow<'_, [u8]> = match slot.place() {
        Place::Header => header(request, slot.name())?.into(),
        Place::Json => scalar(at(element?, slot.name())?)?.into_bytes().into(),
        Place::Query => parameter()?.into_bytes().into(),
        Place::Form => form_field()?.into_bytes().into(),
        Place::Param => parameter().or_else(form_field)?.into_bytes().into(),
        _ => request.body.as_slice().into(),
    };
    let whole = match slot.inner_pointer() {
        Some(pointer) => {
            let document = String::from_utf8(STANDARD.decode(&whole).ok()?).ok()?;
            scalar(at(&document, pointer)?)?.into_bytes().into()
        }
        None => whole,
    };
    // Several items may share the place; those with other prefixes are not this value.
    let items: Vec<Value> = oracle::cut(*slot, &whole).into_iter().map(bytes).collect();
    (!items.is_empty()).then(|| items.into())
}

fn bytes(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => STANDARD.encode(bytes).into(),
    }
}

/// The pairs of a form, if they are UTF-8.
fn pairs(text: &[u8]) -> Option<Vec<(String, String)>> {
    let decode = |text: &[u8]| {
        let text: Vec<u8> = text
            .iter()
            .map(|b| if *b == b'+' { b' ' } else { *b })
            .collect();
        String::from_utf8(percent_encoding::percent_decode(&text).collect()).ok()
    };
    let pairs = text
        .split(|byte| *byte == b'&')
        .filter(|pair| !pair.is_empty());
    let pair = |pair: &[u8]| {
        let mut halves = pair.splitn(2, |byte| *byte == b'=');
        let mut half = || decode(halves.next().unwrap_or_default());
        Some((half()?, half()?))
    };
    pairs.map(pair).collect()
}

/// The parameters of the URL's query.
pub fn parameters(request: &Message) -> Option<Vec<(String, String)>> {
    pairs(query(request))
}

/// The value of the one pair of that name.
pub fn field(pairs: &[(String, String)], name: &str) -> Option<String> {
    let mut found = pairs.iter().filter(|(own, _)| own == name);
    let (_, value) = found.next().filter(|_| found.next().is_none())?;
    Some(value.clone())
}

fn sorted(mut pairs: Vec<(String, String)>, once: bool) -> Value {
    pairs.sort();
    if once {
        pairs.dedup();
    }
    let pair = |(name, value): (String, String)| [name, value];
    pairs.into_iter().flat_map(pair).collect::<Vec<_>>().into()
}

/// The fields of a body that says it is a form, or says nothing; none of another.
pub fn form(request: &Message) -> Option<Vec<(String, String)>> {
    let kind = header(request, "Content-Type").unwrap_or(b"application/x-www-form-urlencoded");
    let kind = String::from_utf8_lossy(kind);
    let mut items = kind.split(';').map(str::trim);
    let media = items.next().unwrap_or_default().to_ascii_lowercase();
    match media.as_str() {
        "application/x-www-form-urlencoded" => pairs(&request.body),
        "multipart/form-data" => {
            let named = |item: &&str| item.to_ascii_lowercase().starts_with("boundary=");
            let boundary = items.find(named).map_or("", |item| &item[9..]);
            let quoted = boundary
                .strip_prefix('"')
                .and_then(|rest| rest.strip_suffix('"'));
            let body = String::from_utf8_lossy(&request.body);
            Some(multipart(quoted.unwrap_or(boundary), &body))
        }
        _ => Some(Vec::new()),
    }
}

/// RFC 7578, for bodies that are as they should be.
fn multipart(boundary: &str, body: &str) -> Vec<(String, String)> {
    let body = format!("\r\n{body}");
    let mark = format!("\r\n--{boundary}");
    let mut parts = body.split(&mark).skip(1);
    let mut fields = Vec::new();
    for part in parts.by_ref().take_while(|part| !part.starts_with("--")) {
        let Some((head, value)) = part.split_once("\r\n\r\n") else {
            continue;
        };
        let disposition = head.split("\r\n").find(|line| {
            line.to_ascii_lowercase()
                .starts_with("content-disposition:")
        });
        let disposition =
            disposition.filter(|line| !line.replace([' ', '\t'], "").contains(";filename"));
        let name = disposition.and_then(|line| line.split_once("name=\"")?.1.split('"').next());
        if let Some(name) = name {
            fields.push((name.to_owned(), value.to_owned()));
        }
    }
    fields
}

/// A token says its own text, and covers what its claims are a hash of.
fn token(scheme: &Scheme, rules: &Jwt, request: &Message) -> Option<Vec<Value>> {
    let slot = scheme.signature_slot()?;
    let whole = match slot.place() {
        Place::Body => &request.body[..],
        _ => header(request, slot.name())?,
    };
    let token = oracle::cut(slot, whole).into_iter().next()?;
    let mut segments = token.split(|byte| *byte == b'.');
    let mut said: Vec<Value> = segments.by_ref().take(2).map(bytes).collect();
    if rules.is_detached() {
        say(scheme, request, None, scheme.parts(), &mut said)?;
    }
    for rule in rules.claim_rules() {
        match rule {
            ClaimRule::BodyHash(..) | ClaimRule::BodyHashUnlessEmpty(..) => {
                said.push(bytes(&request.body));
            }
            ClaimRule::UrlHash(_) | ClaimRule::Url(_) => said.push(request.url.clone().into()),
            ClaimRule::RequestJson(_) => {
                said.extend([request.url.clone().into(), request.method.clone().into()]);
                said.push(rewritten(&request.body).into());
            }
            _ => {}
        }
    }
    Some(said)
}

/// JSON text without what `JSON.parse` would not keep.
pub fn rewritten(body: &[u8]) -> Option<String> {
    fn write(text: &str) -> Option<String> {
        Some(match text.as_bytes().first()? {
            b'{' => {
                let Members(members) = serde_json::from_str(text).ok()?;
                let member = |(name, value): &(String, &RawValue)| {
                    let alone = members.iter().filter(|(other, _)| other == name).count() == 1;
                    let digits = !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
                    let index = digits && (name == "0" || !name.starts_with('0'));
                    let name = serde_json::to_string(name).ok()?;
                    (alone && !index).then(|| Some(format!("{name}:{}", write(value.get())?)))?
                };
                let members: Option<Vec<String>> = members.iter().map(member).collect();
                format!("{{{}}}", members?.join(","))
            }
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
                let items: Option<Vec<_>> = items.iter().map(|item| write(item.get())).collect();
                format!("[{}]", items?.join(","))
            }
            b'"' => serde_json::to_string(&serde_json::from_str::<String>(text).ok()?).ok()?,
            b't' | b'f' | b'n' => text.to_owned(),
            _ => {
                let number: f64 = text.parse().ok()?;
                let number = if number == 0.0 { 0.0 } else { number };
                let usual = number == 0.0 || (1e-6..1e21).contains(&number.abs());
                usual.then(|| format!("{number}"))?
            }
        })
    }
    let text = std::str::from_utf8(body).ok()?;
    let text = serde_json::from_str::<&RawValue>(text).ok();
    text.and_then(|text| write(text.get()))
}

/// What every signature of the rule covers, and one of the inputs that were signed.
fn http(rule: &HttpSignature, request: &Message) -> Option<Vec<Value>> {
    let [scheme, host, path, query] = target_parts(&request.url)?;
    let mut said = Vec::new();
    for name in rule.components() {
        said.push(match *name {
            "@method" => request.method.clone().into(),
            "@authority" => host.clone().into(),
            "@scheme" => scheme.clone().into(),
            "@path" => path.clone().into(),
            "@query" => query.clone().into(),
            "@target-uri" => request.url.clone().into(),
            "@request-target" => format!("{path}?{query}").into(),
            field => bytes(header(request, field)?.trim_ascii()),
        });
    }
    if rule.covers_body() {
        said.push(bytes(&request.body));
    }
    Some(said)
}

/// Scheme, authority, path and query, as RFC 9421 writes them.
pub fn target_parts(url: &str) -> Option<[String; 4]> {
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let host = rest.split(['/', '?']).next()?.to_ascii_lowercase();
    let usual = if scheme == "https" { ":443" } else { ":80" };
    let host = host.strip_suffix(usual).unwrap_or(&host).to_owned();
    let path = match target(url) {
        path if path.starts_with('/') => path.to_owned(),
        query => format!("/{query}"),
    };
    let (path, query) = path.split_once('?').unwrap_or((&path, ""));
    Some([scheme, host, path.into(), query.into()])
}

/// Base64 without padding, as tokens have it.
pub fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
