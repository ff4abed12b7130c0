//! Where a scheme's keys come from, and which addresses a request may name.

use super::Slot;

/// Where the keys of a scheme come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeySource {
    /// From the application's configuration.
    Given,
    /// From a list that the provider publishes, by the id in the request; this says where.
    ById(&'static str),
    /// From an address in the request, which must match one of the rules.
    Url(Slot, &'static [UrlRule]),
}

/// Which `https` addresses a request may name for its certificate.
///
/// ```
/// use hookproof::scheme::UrlRule;
///
/// const SNS: UrlRule = UrlRule::host("sns.*.amazonaws.com").path("/", ".pem");
/// let url = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-01.pem";
/// assert_eq!(SNS.admit(url), Some(url));
/// assert_eq!(SNS.admit("https://sns.evil.example/x.pem"), None);
/// assert_eq!(SNS.admit("https://sns.eu-west-1.amazonaws.com@evil.example/x.pem"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UrlRule {
    host: &'static str,
    path_start: &'static str,
    path_end: &'static str,
}

/// Longest address that is looked at, in bytes.
const MAX_URL: usize = 2048;

impl UrlRule {
    /// Exactly this host; a `*` stands for one label of letters, digits and hyphens.
    pub const fn host(host: &'static str) -> Self {
        Self {
            host,
            path_start: "/",
            path_end: "",
        }
    }

    /// How the path must begin and end.
    #[must_use]
    pub const fn path(self, start: &'static str, end: &'static str) -> Self {
        Self {
            path_start: start,
            path_end: end,
            ..self
        }
    }

    /// The address, if the rule lets it pass. Stricter than URLs are: no user, port, query,
    /// fragment, escape or second path separator in a row, so that no two parsers can read it
    /// differently.
    pub fn admit<'u>(&self, url: &'u str) -> Option<&'u str> {
        let rest = url.strip_prefix("https://")?;
        let (host, path) = rest.split_at_checked(rest.find('/')?)?;
        let sober = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
        let good = url.len() <= MAX_URL
            && self.is_host(host)
            && path.bytes().all(sober)
            && !path.contains("//")
            && !path.contains("..")
            && path.starts_with(self.path_start)
            && path.ends_with(self.path_end);
        good.then_some(url)
    }

    /// An address that it lets pass.
    #[cfg(feature = "testing")]
    pub(crate) fn example(&self) -> String {
        let host = self.host.replace('*', "example-1");
        format!("https://{host}{}key{}", self.path_start, self.path_end)
    }

    fn is_host(&self, host: &str) -> bool {
        let mut labels = host.split('.');
        let label = |label: &str| {
            !label.is_empty()
                && label
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'-')
        };
        let all = self.host.split('.').all(|wanted| {
            let found = labels.next().unwrap_or_default();
            label(found) && (wanted == "*" || wanted.eq_ignore_ascii_case(found))
        });
        all && labels.next().is_none()
    }
}
