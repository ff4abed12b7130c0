//! Values in JSON bodies.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::SignError;

/// How many elements the array at a pointer has; 0 if there is none.
pub(super) fn length(body: &[u8], pointer: &str) -> Result<usize, SignError> {
    let body: Value = serde_json::from_slice(body).map_err(|_| SignError::Body)?;
    let list = body.pointer(pointer).and_then(Value::as_array);
    Ok(list.map(Vec::len).unwrap_or_default())
}

pub(super) fn lacks(body: &[u8], pointer: &str) -> bool {
    crate::json::text_at(body, pointer) == Ok(None)
}

/// The body with one more member; whole numbers are written as numbers.
pub(super) fn with(body: &[u8], pointer: &str, value: &str) -> Result<Vec<u8>, SignError> {
    let mut document: Value = serde_json::from_slice(body).map_err(|_| SignError::Body)?;
    let number = value.parse::<u64>().ok();
    let number = number.filter(|number| number.to_string() == value);
    let value = number.map_or_else(|| Value::from(value), Value::from);
    place(&mut document, pointer, value);
    Ok(document.to_string().into_bytes())
}

/// The base64 text of a JSON document, with one more member.
pub(super) fn with_encoded(old: &str, pointer: &str, value: &str) -> String {
    let old = STANDARD.decode(old).unwrap_or_default();
    let mut document = serde_json::from_slice(&old).unwrap_or_else(|_| json!({}));
    place(&mut document, pointer, value.into());
    STANDARD.encode(document.to_string())
}

/// Sets the member at `pointer`, with the objects and lists on the way to it.
fn place(mut at: &mut Value, pointer: &str, value: Value) {
    for name in pointer.split('/').skip(1) {
        at = match name.parse::<usize>() {
            Ok(index) => {
                if !at.is_array() {
                    *at = json!([]);
                }
                let Value::Array(list) = at else { return };
                while list.len() <= index {
                    list.push(json!({}));
                }
                match list.get_mut(index) {
                    Some(item) => item,
                    None => return,
                }
            }
            Err(_) => {
                if !at.is_object() {
                    *at = json!({});
                }
                let Value::Object(members) = at else { return };
                members.entry(name.to_owned()).or_insert(Value::Null)
            }
        };
    }
    *at = value;
}
