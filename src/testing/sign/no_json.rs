//! Without the feature no scheme with values in a JSON body can be signed for.

use super::SignError;

pub(super) fn length(_: &[u8], _: &str) -> Result<usize, SignError> {
    Err(SignError::Body)
}

pub(super) fn lacks(_: &[u8], _: &str) -> bool {
    false
}

pub(super) fn with(_: &[u8], _: &str, _: &str) -> Result<Vec<u8>, SignError> {
    Err(SignError::Body)
}

pub(super) fn with_encoded(old: &str, _: &str, _: &str) -> String {
    old.to_owned()
}
