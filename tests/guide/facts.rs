//! What the file of a provider's vectors says beside what its row needs: which secret it is, how it
//! is rotated, how long deliveries are retried.

use std::fs;

use hookproof::scheme::Scheme;
use serde_json::Value;

pub(crate) fn lines(scheme: &Scheme) -> Vec<(&'static str, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/");
    let file = format!("{folder}{}.json", scheme.provider());
    let Ok(text) = fs::read_to_string(file) else {
        return Vec::new();
    };
    let file: Value = serde_json::from_str(&text).unwrap();
    [
        ("which secret", "secret_format"),
        ("rotation", "rotation"),
        ("retries", "retry"),
    ]
    .into_iter()
    .filter_map(|(what, member)| {
        let fact = file.get("scheme")?.get(member)?.as_str()?;
        Some((what, words(fact)?))
    })
    .collect()
}

/// The text as it can stand in Markdown; `None` where it says that nothing is known.
fn words(fact: &str) -> Option<String> {
    // What was written down from memory says so at length.
    let from_memory = ["re-read", "recalled", "general knowledge"];
    let from_memory = from_memory.iter().any(|mark| fact.contains(mark));
    let mut text = fact;
    if from_memory {
        let marks = [
            " [recalled",
            " (not re-read",
            " (recalled",
            "not re-read",
            " not re-read",
        ];
        let end = marks.iter().filter_map(|mark| fact.find(mark)).min();
        text = fact.get(..end.unwrap_or(fact.len()))?;
    }
    let text = text.trim_matches([' ', '.', ';', ',']);
    let unknown = ["none", "not ", "n/a", "unknown", "utf8", "none seen"];
    let nothing = text.is_empty()
        || unknown
            .iter()
            .any(|start| text == *start || (start.ends_with(' ') && text.starts_with(start)))
        || text == "none documented"
        || text == "utf8 bytes";
    if nothing {
        return None;
    }
    let mut words = String::new();
    for c in text.chars() {
        if "<>[]*_`|\\".contains(c) {
            words.push('\\');
        }
        words.push(c);
    }
    if from_memory {
        words.push_str(" (unverified)");
    }
    Some(words)
}
