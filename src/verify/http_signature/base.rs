//! The signature base (RFC 9421 §2): the text that is signed, made of the request.

use http::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sfv::{BareItemFromInput, ItemSerializer, RefBareItem, StringRef, key_ref};

use crate::{
    headers::Lookup,
    scheme::{CONTENT_DIGEST, DERIVED, MAX_HEADER_BYTES, is_field_name},
    verify::{Invalid, Malformed, Reader, Rejection, fields::Item},
};

/// The derived component that is a parameter of the query, named by a parameter of its own.
const QUERY_PARAM: &str = "@query-param";

/// What RFC 9421 §2.2.8 leaves as it is in a query parameter: the URL standard's
/// `application/x-www-form-urlencoded` percent-encode set.
const FORM: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'*')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_');

/// A component that can be read here: a field, or a part of the request itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Component<'m> {
    name: &'m StringRef,
    /// The encoded name of a query parameter.
    query_param: Option<&'m StringRef>,
}

impl<'m> Component<'m> {
    /// Refuses what this crate cannot compute, above all the parameters `sf`, `bs`, `key`, `req`
    /// and `tr`, and `@status`: to leave a parameter out would be to sign something else.
    pub(super) fn read(item: &'m Item<'_>) -> Result<Self, Malformed> {
        let BareItemFromInput::String(name) = &item.value else {
            return Err(Malformed::Component);
        };
        let name: &StringRef = name;
        let query_param = match (name.as_str(), item.parameters.as_slice()) {
            (QUERY_PARAM, [(key, BareItemFromInput::String(value))]) if key.as_str() == "name" => {
                Some(&**value)
            }
            (plain, []) if is_field_name(plain) || DERIVED.contains(&plain) => None,
            _ => return Err(Malformed::Component),
        };
        Ok(Self { name, query_param })
    }

    /// Whether it is the plain component of this name.
    pub(super) fn is(&self, name: &str) -> bool {
        self.query_param.is_none() && self.name.as_str() == name
    }

    /// Whether components cover what this name stands for: by it, or by those that determine it.
    pub(super) fn cover(components: &[Self], name: &str) -> bool {
        let has = |name: &str| components.iter().any(|component| component.is(name));
        let request = has("@request-target") || (has("@path") && has("@query"));
        let all = has("@target-uri") || (has("@scheme") && has("@authority") && request);
        has(name)
            || match name {
                "@target-uri" | "@scheme" | "@authority" => all,
                "@request-target" => all || request,
                "@path" | "@query" => all || has("@request-target"),
                _ => false,
            }
    }

    pub(super) fn is_digest(&self) -> bool {
        self.is(CONTENT_DIGEST)
    }

    /// Its line of the base, without the line end.
    fn write(
        &self,
        reader: &Reader<'_>,
        target: &Target<'_>,
        base: &mut String,
    ) -> Result<(), Rejection> {
        let line = ItemSerializer::with_buffer(base).bare_item(self.name);
        let named = self
            .query_param
            .map(|name| (key_ref("name"), RefBareItem::from(name)));
        let base = line.parameters(named).finish();
        base.push_str(": ");
        match (self.name.as_str(), self.query_param) {
            (_, Some(name)) => base.push_str(&target.query_param(name.as_str())?),
            ("@method", _) => base.push_str(target.method()?),
            (name, _) if name.starts_with('@') => target.write(name, base)?,
            (name, _) => base.push_str(field(reader, name)?),
        }
        Ok(())
    }
}

/// The base for components and the sender's own text of list and parameters.
pub(super) fn base(
    reader: &Reader<'_>,
    target: &Target<'_>,
    components: &[Component<'_>],
    parameters: &[u8],
) -> Result<String, Rejection> {
    let mut base = String::new();
    for component in components {
        component.write(reader, target, &mut base)?;
        base.push('\n');
    }
    base.push_str("\"@signature-params\": ");
    base.push_str(std::str::from_utf8(parameters).map_err(|_| Malformed::Component)?);
    Ok(base)
}

/// The value of a field that occurs once (RFC 9421 §2.1). Several lines would be joined there; in
/// this crate a single-valued field that occurs twice is a fault, and no field here is a list.
fn field<'a>(reader: &Reader<'a>, name: &str) -> Result<&'a str, Rejection> {
    let value = match reader.lookup(name) {
        Lookup::One(value) if value.len() <= MAX_HEADER_BYTES => value,
        Lookup::Absent => return Err(Invalid::MissingComponent.into()),
        Lookup::One(_) | Lookup::Many => return Err(Malformed::Component.into()),
    };
    // A line end would let a value write lines of its own; other bytes have no place in the base.
    let fits = |byte: &u8| matches!(byte, b'\t' | b' '..=b'~');
    std::str::from_utf8(value)
        .ok()
        .filter(|_| value.iter().all(fits))
        .map(|value| value.trim_matches([' ', '\t']))
        .ok_or_else(|| Malformed::Component.into())
}

/// Method and URL as the caller gave them.
pub(super) struct Target<'a> {
    method: Option<&'a str>,
    url: Result<(&'a str, Uri), Malformed>,
}

impl<'a> Target<'a> {
    pub(super) fn read(reader: &Reader<'a>) -> Self {
        let url = reader.url().ok_or(Malformed::NoTarget);
        Self {
            method: reader.method(),
            url: url.and_then(|url| Ok((url, absolute(url).ok_or(Malformed::Target)?))),
        }
    }

    fn method(&self) -> Result<&'a str, Malformed> {
        let method = self.method.ok_or(Malformed::NoTarget)?;
        let token = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_graphic());
        token.then_some(method).ok_or(Malformed::Target)
    }

    fn url(&self) -> Result<&(&'a str, Uri), Malformed> {
        self.url.as_ref().map_err(|fault| *fault)
    }

    /// The value of a component derived from the URL (RFC 9421 §2.2.2 to §2.2.7).
    fn write(&self, name: &str, base: &mut String) -> Result<(), Malformed> {
        let (url, uri) = self.url()?;
        let scheme = uri.scheme_str().unwrap_or_default();
        match name {
            "@target-uri" => base.push_str(url),
            // The parser has put it in lower case.
            "@scheme" => base.push_str(scheme),
            "@path" => base.push_str(uri.path()),
            "@query" => {
                base.push('?');
                base.push_str(uri.query().unwrap_or_default());
            }
            // In the form that servers are asked in: path and query.
            "@request-target" => {
                base.push_str(uri.path());
                if let Some(query) = uri.query() {
                    base.push('?');
                    base.push_str(query);
                }
            }
            "@authority" => {
                base.push_str(&uri.host().unwrap_or_default().to_ascii_lowercase());
                match (scheme, uri.port_u16()) {
                    (_, None) | ("https", Some(443)) | ("http", Some(80)) => {}
                    (_, Some(port)) => base.push_str(&format!(":{port}")),
                }
            }
            _ => return Err(Malformed::Component),
        }
        Ok(())
    }

    /// The value of the one query parameter of that encoded name, encoded (RFC 9421 §2.2.8).
    fn query_param(&self, name: &str) -> Result<String, Rejection> {
        let (_, uri) = self.url()?;
        let encode = |text: &str| utf8_percent_encode(text, FORM).to_string();
        let query = uri.query().unwrap_or_default().as_bytes();
        let mut found = form_urlencoded::parse(query).filter(|(own, _)| encode(own) == name);
        let (_, value) = found.next().ok_or(Invalid::MissingComponent)?;
        // Twice the same name may not be signed; and all that is no UTF-8 is decoded alike.
        if found.next().is_some() || value.contains('\u{fffd}') || name.contains("%EF%BF%BD") {
            return Err(Malformed::Component.into());
        }
        Ok(encode(&value))
    }
}

/// An absolute `http` or `https` URL that every parser cuts alike: no user, no fragment.
fn absolute(url: &str) -> Option<Uri> {
    let sober = url.len() <= MAX_HEADER_BYTES
        && url
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'#');
    let uri: Uri = url.parse().ok().filter(|_| sober)?;
    let known = matches!(uri.scheme_str()?, "http" | "https");
    let (authority, host) = (uri.authority()?.as_str(), uri.host()?);
    // What follows the host must be a port.
    let plain = authority == host || uri.port_u16().is_some();
    (known && plain && !authority.contains('@')).then_some(uri)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use crate::headers::RequestTarget;

    const NO_HEADERS: [(&str, &str); 0] = [];

    fn derived(url: &str, name: &str) -> Result<String, Malformed> {
        let request = RequestTarget::new(&NO_HEADERS, "POST", url);
        let reader = Reader::new(&crate::scheme::RFC9421_HMAC_SHA256, &request);
        let mut value = String::new();
        Target::read(&reader)
            .write(name, &mut value)
            .map(|()| value)
    }

    /// RFC 9421 §2.2.2 to §2.2.7, and RFC 9110 §4.2.3 for what is normalised.
    #[test]
    fn derived_components_are_those_of_the_rfc() {
        let url = "https://www.example.com/path?param=value";
        for (url, name, expected) in [
            (url, "@target-uri", url),
            (url, "@authority", "www.example.com"),
            (url, "@scheme", "https"),
            (url, "@request-target", "/path?param=value"),
            (url, "@path", "/path"),
            (url, "@query", "?param=value"),
            (
                "HTTPS://WWW.Example.com:443",
                "@authority",
                "www.example.com",
            ),
            ("HTTPS://WWW.Example.com:443", "@scheme", "https"),
            ("https://www.example.com", "@path", "/"),
            ("https://www.example.com", "@request-target", "/"),
            ("https://www.example.com?a", "@request-target", "/?a"),
            ("https://www.example.com/path", "@query", "?"),
            ("https://www.example.com/path?", "@query", "?"),
            (
                "https://www.example.com:80/",
                "@authority",
                "www.example.com:80",
            ),
            (
                "http://www.example.com:80/",
                "@authority",
                "www.example.com",
            ),
            (
                "http://[2001:DB8::1]:8080/",
                "@authority",
                "[2001:db8::1]:8080",
            ),
            ("https://a.example/%7Ea/%2F/../b", "@path", "/%7Ea/%2F/../b"),
            ("https://a.example/p?queryString", "@query", "?queryString"),
        ] {
            assert_eq!(derived(url, name).as_deref(), Ok(expected), "{url} {name}");
        }
    }

    #[test]
    fn urls_that_parsers_cut_differently_are_refused() {
        let long = format!("https://a.example/{}", "x".repeat(MAX_HEADER_BYTES));
        for url in [
            "",
            "/in?shop=7",
            "a.example:443",
            "ftp://a.example/",
            "https:///in",
            "https://user@a.example/",
            "https://a.example:/",
            "https://a.example:99999/",
            "https://a.example/#part",
            "https://a.example/a b",
            "https://a.example/\u{e9}",
            "https://a.example/\r\nx",
            &long,
        ] {
            assert_eq!(derived(url, "@path"), Err(Malformed::Target), "{url}");
        }
    }

    /// The examples of RFC 9421 §2.2.8.
    #[test]
    fn query_parameters_are_encoded_anew() {
        let parameter = |url: &str, name: &str| {
            let request = RequestTarget::new(&NO_HEADERS, "GET", url);
            let reader = Reader::new(&crate::scheme::RFC9421_HMAC_SHA256, &request);
            let value = Target::read(&reader).query_param(name);
            value.map_err(|why| why.kind())
        };
        let url = "https://example.com/path?param=value&foo=bar&baz=batman&qux=";
        for (name, expected) in [("baz", "batman"), ("qux", ""), ("param", "value")] {
            assert_eq!(parameter(url, name).as_deref(), Ok(expected));
        }
        let url = "https://www.example.com/parameters?var=this%20is%20a%20big%0Amultiline%20value\
                   &bar=with+plus+whitespace&fa%C3%A7ade%22%3A%20=something";
        for (name, expected) in [
            ("var", "this%20is%20a%20big%0Amultiline%20value"),
            ("bar", "with%20plus%20whitespace"),
            ("fa%C3%A7ade%22%3A%20", "something"),
        ] {
            assert_eq!(parameter(url, name).as_deref(), Ok(expected));
        }
        let missing = Err(Rejection::from(Invalid::MissingComponent).kind());
        let bad = Err(Rejection::from(Malformed::Component).kind());
        assert_eq!(parameter(url, "fa\u{e7}ade\": "), missing);
        assert_eq!(parameter("https://a.example/?b=1", "a"), missing);
        assert_eq!(parameter("https://a.example/?a=1&a=1", "a"), bad);
        assert_eq!(parameter("https://a.example/?a=1&%61=2", "a"), bad);
        assert_eq!(parameter("https://a.example/?a=%ff", "a"), bad);
    }
}
