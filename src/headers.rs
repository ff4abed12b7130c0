//! Reading request headers from whatever type the caller's HTTP stack uses.
//!
//! [`verify`](crate::verify) asks for single header fields by name and nothing else, so any
//! collection of name/value pairs will do. Names are compared without regard to ASCII case
//! (RFC 9110 §5.1); values stay bytes, because a signature covers bytes.

use std::collections::HashMap;

/// What a header field looks like in one request.
///
/// A field that occurs twice is told apart from one that occurs once: where two parsers may each
/// pick another line, "first wins" would let a stranger choose what is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup<'h> {
    /// No such field.
    Absent,
    /// Exactly one field line, with its value as received.
    One(&'h [u8]),
    /// Two or more field lines of that name.
    Many,
}

impl<'h> Lookup<'h> {
    /// Adds one more field line to what was seen so far.
    #[must_use]
    pub fn and(self, value: &'h [u8]) -> Self {
        match self {
            Lookup::Absent => Lookup::One(value),
            Lookup::One(_) | Lookup::Many => Lookup::Many,
        }
    }
}

/// The headers of one request, and its method and public URL where a scheme signs them.
///
/// `Sync`, so that a verified delivery may be held across an await point. Implemented for slices, arrays and `Vec`s of pairs, for [`HashMap`] and (feature `http`) for
/// `http::HeaderMap`. A type of your own needs one method:
///
/// ```
/// use hookproof::headers::{Headers, Lookup};
///
/// struct Lambda(Vec<(String, String)>);
///
/// impl Headers for Lambda {
///     fn lookup(&self, name: &str) -> Lookup<'_> {
///         self.0.lookup(name)
///     }
/// }
/// # let event = Lambda(vec![("X-Id".into(), "7".into())]);
/// # assert_eq!(event.lookup("x-id"), Lookup::One(b"7"));
/// ```
pub trait Headers: Sync {
    /// Finds a field by name, ignoring ASCII case, and says whether it occurs once or more often.
    fn lookup(&self, name: &str) -> Lookup<'_>;

    /// The values of all field lines of that name, in order, for the few senders who write one value
    /// to a line ([`Slot::lines`](crate::scheme::Slot::lines)). A type of your own that does not
    /// implement it shows one line or none, so that such deliveries are refused and nothing is
    /// overlooked.
    fn lines(&self, name: &str) -> Vec<&[u8]> {
        match self.lookup(name) {
            Lookup::One(value) => vec![value],
            Lookup::Absent | Lookup::Many => Vec::new(),
        }
    }

    /// The request method, if the caller supplied it (see [`RequestTarget`]).
    fn method(&self) -> Option<&str> {
        None
    }

    /// The public URL the sender addressed, if the caller supplied it (see [`RequestTarget`]).
    fn url(&self) -> Option<&str> {
        None
    }
}

fn all<'h, I, K, V>(pairs: I, name: &str) -> Vec<&'h [u8]>
where
    I: Iterator<Item = (&'h K, &'h V)>,
    K: AsRef<str> + 'h + ?Sized,
    V: AsRef<[u8]> + 'h + ?Sized,
{
    let named = pairs.filter(|(key, _)| key.as_ref().eq_ignore_ascii_case(name));
    named.map(|(_, value)| value.as_ref()).collect()
}

fn find<'h, I, K, V>(pairs: I, name: &str) -> Lookup<'h>
where
    I: Iterator<Item = (&'h K, &'h V)>,
    K: AsRef<str> + 'h + ?Sized,
    V: AsRef<[u8]> + 'h + ?Sized,
{
    let mut found = Lookup::Absent;
    for (key, value) in pairs {
        if key.as_ref().eq_ignore_ascii_case(name) {
            found = found.and(value.as_ref());
        }
    }
    found
}

impl<K: AsRef<str> + Sync, V: AsRef<[u8]> + Sync> Headers for [(K, V)] {
    fn lookup(&self, name: &str) -> Lookup<'_> {
        find(self.iter().map(|(key, value)| (key, value)), name)
    }

    fn lines(&self, name: &str) -> Vec<&[u8]> {
        all(self.iter().map(|(key, value)| (key, value)), name)
    }
}

impl<K: AsRef<str> + Sync, V: AsRef<[u8]> + Sync, const N: usize> Headers for [(K, V); N] {
    fn lookup(&self, name: &str) -> Lookup<'_> {
        self.as_slice().lookup(name)
    }

    fn lines(&self, name: &str) -> Vec<&[u8]> {
        self.as_slice().lines(name)
    }
}

impl<K: AsRef<str> + Sync, V: AsRef<[u8]> + Sync> Headers for Vec<(K, V)> {
    fn lookup(&self, name: &str) -> Lookup<'_> {
        self.as_slice().lookup(name)
    }

    fn lines(&self, name: &str) -> Vec<&[u8]> {
        self.as_slice().lines(name)
    }
}

impl<K: AsRef<str> + Sync, V: AsRef<[u8]> + Sync, S: Sync> Headers for HashMap<K, V, S> {
    fn lookup(&self, name: &str) -> Lookup<'_> {
        find(self.iter(), name)
    }

    fn lines(&self, name: &str) -> Vec<&[u8]> {
        all(self.iter(), name)
    }
}

#[cfg(feature = "http")]
impl Headers for http::HeaderMap {
    fn lookup(&self, name: &str) -> Lookup<'_> {
        let mut found = Lookup::Absent;
        for value in self.get_all(name) {
            found = found.and(value.as_bytes());
        }
        found
    }

    fn lines(&self, name: &str) -> Vec<&[u8]> {
        let values = self.get_all(name).iter();
        values.map(http::HeaderValue::as_bytes).collect()
    }
}

impl<H: Headers + ?Sized> Headers for &H {
    fn lookup(&self, name: &str) -> Lookup<'_> {
        (**self).lookup(name)
    }

    fn lines(&self, name: &str) -> Vec<&[u8]> {
        (**self).lines(name)
    }

    fn method(&self) -> Option<&str> {
        (**self).method()
    }

    fn url(&self) -> Option<&str> {
        (**self).url()
    }
}

/// Headers together with the method and the public URL, for schemes that sign those too.
///
/// The URL is the one the *sender* called. Behind a proxy that is not what your server sees, so
/// build it from configuration (`https://hooks.example.com` + path and query), never from the
/// `Host` header, which a stranger chooses.
///
/// ```
/// use hookproof::headers::{Headers, Lookup, RequestTarget};
///
/// let headers = [("X-Signature", "00")];
/// let request = RequestTarget::new(&headers, "POST", "https://hooks.example.com/in?shop=7");
/// assert_eq!(request.url(), Some("https://hooks.example.com/in?shop=7"));
/// assert_eq!(request.lookup("x-signature"), Lookup::One(b"00"));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct RequestTarget<'a, H: ?Sized> {
    headers: &'a H,
    method: &'a str,
    url: &'a str,
}

impl<'a, H: Headers + ?Sized> RequestTarget<'a, H> {
    /// Adds method (upper case, as on the request line) and absolute public URL to `headers`.
    pub const fn new(headers: &'a H, method: &'a str, url: &'a str) -> Self {
        Self {
            headers,
            method,
            url,
        }
    }
}

impl<H: Headers + ?Sized> Headers for RequestTarget<'_, H> {
    fn lookup(&self, name: &str) -> Lookup<'_> {
        self.headers.lookup(name)
    }

    fn lines(&self, name: &str) -> Vec<&[u8]> {
        self.headers.lines(name)
    }

    fn method(&self) -> Option<&str> {
        Some(self.method)
    }

    fn url(&self) -> Option<&str> {
        Some(self.url)
    }
}
