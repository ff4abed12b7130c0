//! Rows of values as one text, since a statement has a fixed number of parameters.

use std::fmt::Write;

/// Builds an array of arrays of JSON. Bytes are in hexadecimal, so nothing in it needs quoting, and no
/// character set can change it.
#[derive(Debug, Default)]
pub(super) struct Rows(String);

impl Rows {
    pub(super) fn begin(&mut self) {
        self.0.push_str(if self.0.is_empty() { "[[" } else { ",[" });
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.next();
        self.0.push('"');
        self.0.push_str(&hex::encode(bytes));
        self.0.push('"');
    }

    pub(super) fn number(&mut self, number: i64) {
        self.next();
        // Into a text it cannot fail.
        let _ = write!(self.0, "{number}");
    }

    pub(super) fn bytes_or_null(&mut self, bytes: Option<&[u8]>) {
        match bytes {
            Some(bytes) => self.bytes(bytes),
            None => self.null(),
        }
    }

    pub(super) fn number_or_null(&mut self, number: Option<i64>) {
        match number {
            Some(number) => self.number(number),
            None => self.null(),
        }
    }

    pub(super) fn end(&mut self) {
        self.0.push(']');
    }

    pub(super) fn finish(mut self) -> String {
        self.0.push_str(if self.0.is_empty() { "[]" } else { "]" });
        self.0
    }

    fn null(&mut self) {
        self.next();
        self.0.push_str("null");
    }

    fn next(&mut self) {
        if !self.0.ends_with('[') {
            self.0.push(',');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_an_array_of_arrays() {
        assert_eq!(Rows::default().finish(), "[]");
        let mut rows = Rows::default();
        rows.begin();
        rows.bytes(b"\x00\"\xff");
        rows.bytes_or_null(None);
        rows.bytes_or_null(Some(b""));
        rows.end();
        rows.begin();
        rows.number(i64::MIN);
        rows.number_or_null(Some(7));
        rows.number_or_null(None);
        rows.end();
        let text = "[[\"0022ff\",null,\"\"],[-9223372036854775808,7,null]]";
        assert_eq!(rows.finish(), text);
    }
}
