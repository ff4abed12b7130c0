//! The page of handshakes, made from the rows.

use std::fmt::Write as _;

use hookproof::{
    handshake::{ALL, Allowed, Body, Handshake, Key, Moment, Piece, Place, When},
    scheme::{Encoding, Evidence},
};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/handshakes.md");

#[test]
fn the_page_of_handshakes_matches_the_rows() {
    let made = page();
    if std::env::var_os("HOOKPROOF_WRITE_GUIDE").is_some() {
        std::fs::write(FILE, &made).unwrap();
    }
    let stored = std::fs::read_to_string(FILE).unwrap();
    assert!(
        stored == made,
        "src/guide/handshakes.md is out of date; see this test's documentation"
    );
}

fn page() -> String {
    let mut out = String::from(
        "# Handshakes\n\nMade from the rows of `hookproof::handshake` by `tests/guide`; edit those. How to answer them is in that\n\
         module's documentation (feature `handshake`).\n\n\
         * **unsigned**: anyone may ask, and the answer proves nothing about who did. Before `verify`.\n\
         * **signed**: verified like any delivery, answered after.\n\
         * **offer**: unsigned, and brings the secret for all later deliveries. Only while you create a subscription.\n\n\
         Facts marked *unverified* are from memory of the documentation. Echoed texts have at most 4096 bytes and no control\n\
         characters; *token* means ASCII letters, digits and `+ / = _ - . ~`. Every answer carries\n\
         `X-Content-Type-Options: nosniff`.\n\n\
         | name | kind | settings | answer | evidence |\n|---|---|---|---|---|\n",
    );
    for row in ALL {
        let name = row.name();
        let unverified = if row.is_unverified() {
            ", *unverified*"
        } else {
            ""
        };
        writeln!(
            out,
            "| [`{name}`](#{name}) | {} | {} | {} | {}{unverified} |",
            kind(row.moment()),
            row.setting_names().join(", "),
            answer(row),
            evidence(row.evidence()),
        )
        .unwrap();
    }
    for row in ALL {
        section(&mut out, row);
    }
    out
}

fn section(out: &mut String, row: &Handshake) {
    writeln!(out, "\n## {}\n", row.name()).unwrap();
    let mut line = |what: &str, text: String| writeln!(out, "* {what}: {text}").unwrap();
    line("kind", kind(row.moment()).into());
    let conditions: Vec<String> = row.conditions().iter().map(when).collect();
    line("recognised by", conditions.join("; "));
    if !row.setting_names().is_empty() {
        line("settings", row.setting_names().join(", "));
    }
    if let Some((at, index)) = row.expectation() {
        let setting = row.setting_names()[index];
        line(
            "checked",
            format!(
                "{} is the {setting}, or it is refused with {}",
                place(at),
                row.refusal_status()
            ),
        );
    }
    if let Some((at, allowed)) = row.challenge_place() {
        let what = match row.moment() {
            Moment::Subscribing => "offered secret",
            _ => "challenge",
        };
        let allowed = match allowed {
            Allowed::Token => "a token".into(),
            Allowed::Hex(least, most) => format!("{least} to {most} hexadecimal digits"),
            Allowed::Text => "any text".into(),
            _ => panic!("a new form needs a name here"),
        };
        line(what, format!("{}, {allowed}", place(at)));
    }
    line("answer", answer(row));
    if let Some((at, hosts)) = row.confirmation() {
        let suffixes: Vec<_> = hosts
            .suffixes
            .iter()
            .map(|s| format!("`{}…{s}`", hosts.prefix))
            .collect();
        line(
            "to be fetched by you",
            format!("{}, `https` on {} only", place(at), suffixes.join(" or ")),
        );
    }
    if row.is_unverified() {
        line(
            "unverified",
            "part of this is from memory of the documentation".into(),
        );
    }
    if !row.docs_url().is_empty() {
        line("source", format!("<{}>", row.docs_url()));
    }
    for note in row.traps() {
        writeln!(out, "* {note}").unwrap();
    }
}

fn kind(moment: Moment) -> &'static str {
    match moment {
        Moment::Unsigned => "unsigned",
        Moment::Verified => "signed",
        Moment::Subscribing => "offer",
        _ => panic!("a new moment needs a name here"),
    }
}

fn when(when: &When) -> String {
    match when {
        When::Method(methods) => methods.join(" or "),
        When::Has(at) => place(*at),
        When::Lacks(at) => format!("no {}", place(*at)),
        When::Is(at, text) => format!("{} is `{text}`", place(*at)),
        When::Members(names) => format!("a JSON body of `{}` and nothing else", names.join("`, `")),
        When::Fields(names) => format!("a form of `{}` and nothing else", names.join("`, `")),
        When::EmptyBody => "no body".into(),
        _ => panic!("a new condition needs a name here"),
    }
}

fn place(place: Place) -> String {
    match place {
        Place::Header(name) => format!("header `{name}`"),
        Place::Query(name) => format!("`{name}` in the query"),
        Place::Form(name) => format!("`{name}` in the form"),
        Place::Param(name) => format!("`{name}` in the query or the form"),
        Place::Json(pointer) => format!("`{pointer}` in the body"),
        _ => panic!("a new place needs a name here"),
    }
}

fn answer(row: &Handshake) -> String {
    let mut out = row.answer_status().to_string();
    for (name, value) in row.answer_headers() {
        write!(out, ", header `{name}` = {}", pieces(row, value)).unwrap();
    }
    match row.answer_body() {
        Body::Empty => {}
        Body::Text(text) => write!(out, ", text {}", pieces(row, text)).unwrap(),
        Body::Fixed(json) => write!(out, ", JSON `{json}`").unwrap(),
        Body::Json(members) => {
            let members: Vec<_> = members
                .iter()
                .map(|(name, value)| format!("`{name}` = {}", pieces(row, value)))
                .collect();
            write!(out, ", JSON with {}", members.join(" and ")).unwrap();
        }
        _ => panic!("a new body needs a name here"),
    }
    out
}

fn pieces(row: &Handshake, all: &[Piece]) -> String {
    let all: Vec<String> = all.iter().map(|one| piece(row, one)).collect();
    all.join(" + ")
}

fn piece(row: &Handshake, piece: &Piece) -> String {
    match piece {
        // A bar would end a cell of the table.
        Piece::Text("|") => "a vertical bar".into(),
        Piece::Text(text) => format!("`{text}`"),
        Piece::Challenge if row.moment() == Moment::Subscribing => "the secret".into(),
        Piece::Challenge => "the challenge".into(),
        Piece::Setting(index) => format!("the {}", row.setting_names()[*index]),
        Piece::Sha256(of) => format!("hex SHA-256({})", pieces(row, of)),
        Piece::Hmac(algorithm, key, encoding) => {
            let encoding = match encoding {
                Encoding::Hex => "hex",
                Encoding::Base64 => "base64",
                _ => panic!("a new encoding needs a name here"),
            };
            let key = match key {
                Key::Setting(index) => row.setting_names()[*index].to_owned(),
                Key::Sha1Of(index) => format!("SHA-1({})", row.setting_names()[*index]),
                _ => panic!("a new key needs a name here"),
            };
            format!("{encoding} {}({key}, challenge)", super::mac(*algorithm))
        }
        _ => panic!("a new piece needs a name here"),
    }
}

fn evidence(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::OfficialSdk => "official SDK read",
        other => super::evidence(other),
    }
}
