//! The drill: what attackers, retries and failures send, over real HTTP.

use std::error::Error;

use hookproof::{
    scheme::{self, IdSource, Mac, Scheme, Source, Stamp, Unit},
    testing::{Signed, Signer},
};
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::task::JoinSet;

use crate::{
    demo_secret, providers, secret,
    server::{PUBLIC, Server},
    with_settings,
};

/// One line of the table.
struct Row {
    sent: String,
    expected: String,
    got: String,
}

struct Drill<'s> {
    server: &'s Server,
    rows: Vec<Row>,
    acted: (u32, u32),
}

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A JSON body with an id, a type and a time where the scheme looks for them.
fn body(scheme: &Scheme, id: &str, kind: &str) -> Result<Vec<u8>> {
    let mut body = json!({ "id": id, "type": kind });
    if let Some(Source::Json(pointer)) = scheme.event_type_source() {
        put(&mut body, pointer, kind.into());
    }
    let ids: &[&str] = match &scheme.id_source() {
        IdSource::Json(pointer) | IdSource::JsonOrContent(pointer) => &[pointer],
        IdSource::Composite(pointers) => pointers,
        _ => &[],
    };
    for pointer in ids {
        put(&mut body, pointer, id.into());
    }
    if let Some((Stamp::Json(pointer), unit)) = scheme.timestamp_source() {
        let now = OffsetDateTime::now_utc();
        let time = match unit {
            Unit::Seconds => now.unix_timestamp().into(),
            Unit::Millis => (now.unix_timestamp() * 1000).into(),
            _ => now.format(&Rfc3339)?.into(),
        };
        put(&mut body, pointer, time);
    }
    Ok(body.to_string().into_bytes())
}

/// Sets the member at `pointer`, with the objects on the way to it.
fn put(mut place: &mut Value, pointer: &str, value: Value) {
    for name in pointer.split('/').skip(1) {
        if !place.is_object() {
            *place = json!({});
        }
        place = &mut place[name];
    }
    *place = value;
}

fn signed(scheme: &'static Scheme, id: &str, kind: &str) -> Result<Signed> {
    sign(
        scheme,
        &secret(scheme),
        id,
        &body(scheme, id, kind)?,
        OffsetDateTime::now_utc(),
    )
}

fn sign(
    scheme: &'static Scheme,
    secret: &str,
    id: &str,
    body: &[u8],
    at: OffsetDateTime,
) -> Result<Signed> {
    let url = format!("{PUBLIC}/hooks/{}", scheme.name());
    let mut signer = Signer::new(scheme, with_settings(scheme, secret))
        .at(at)
        .target("POST", &url);
    if let Some(header) = scheme.delivery_id_header() {
        signer = signer.header(header, id);
    }
    Ok(signer.sign(body)?)
}

/// Sends one request and returns the status.
fn send(url: &str, request: &Signed) -> u16 {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .build();
    let mut post = ureq::Agent::new_with_config(config).post(url);
    for (name, value) in &request.headers {
        post = post.header(name, value);
    }
    post.send(&request.body[..])
        .map_or(0, |answer| answer.status().as_u16())
}

impl<'s> Drill<'s> {
    fn new(server: &'s Server) -> Self {
        Self {
            server,
            rows: Vec::new(),
            acted: (0, 0),
        }
    }

    /// Where a request goes in truth: this server, with the query that was signed.
    fn url(&self, scheme: &Scheme, request: &Signed) -> String {
        let query = request
            .url
            .split_once('?')
            .map(|(_, query)| format!("?{query}"));
        let query = query.unwrap_or_default();
        let (address, name) = (self.server.address(), scheme.name());
        format!("http://{address}/hooks/{name}{query}")
    }

    /// Sends requests at once, and returns their statuses in ascending order.
    async fn together(&self, scheme: &Scheme, requests: Vec<Signed>) -> Result<Vec<u16>> {
        let mut sending = JoinSet::new();
        for request in requests {
            let url = self.url(scheme, &request);
            sending.spawn_blocking(move || send(&url, &request));
        }
        let mut statuses = Vec::new();
        while let Some(status) = sending.join_next().await {
            statuses.push(status?);
        }
        statuses.sort_unstable();
        Ok(statuses)
    }

    async fn in_turn(&self, scheme: &Scheme, requests: Vec<Signed>) -> Result<Vec<u16>> {
        let mut statuses = Vec::new();
        for request in requests {
            statuses.extend(self.together(scheme, vec![request]).await?);
        }
        Ok(statuses)
    }

    /// Records what came of it, with the actions since the last record.
    fn record(&mut self, sent: impl Into<String>, expected: (&str, u32), statuses: &[u16]) {
        let (before, now) = (self.acted, self.server.actions().totals());
        self.acted = now;
        let statuses: Vec<_> = statuses.iter().map(u16::to_string).collect();
        let got = format!("{}; actions {}", statuses.join(" "), now.0 - before.0);
        let expected = format!("{}; actions {}", expected.0, expected.1);
        self.rows.push(Row {
            sent: sent.into(),
            expected,
            got,
        });
    }

    fn print(&self) -> bool {
        let width = |of: fn(&Row) -> &String| {
            self.rows
                .iter()
                .map(|row| of(row).chars().count())
                .max()
                .unwrap_or_default()
        };
        let (sent, expected) = (width(|row| &row.sent), width(|row| &row.expected));
        println!("{:sent$}  {:expected$}  got", "sent", "expected");
        for row in &self.rows {
            let mark = if row.expected == row.got {
                ""
            } else {
                "   <-- differs"
            };
            println!(
                "{:sent$}  {:expected$}  {}{mark}",
                row.sent, row.expected, row.got
            );
        }
        let wrong = self
            .rows
            .iter()
            .filter(|row| row.expected != row.got)
            .count();
        println!("{} lines, {wrong} differ", self.rows.len());
        wrong == 0
    }
}

/// Runs the drill; whether all came as expected.
pub(crate) async fn run(server: &Server) -> Result<bool> {
    let mut drill = Drill::new(server);
    retries(&mut drill).await?;
    attacks(&mut drill).await?;
    operations(&mut drill).await?;
    for scheme in providers() {
        provider(&mut drill, scheme).await?;
    }
    Ok(drill.print())
}

async fn retries(drill: &mut Drill<'_>) -> Result<()> {
    let request = signed(&scheme::STRIPE, "evt_five", "invoice.paid")?;
    let got = drill.in_turn(&scheme::STRIPE, vec![request; 5]).await?;
    drill.record("five identical", ("200 200 200 200 200", 1), &got);

    // While one acts, the others are asked to come again; afterwards they are duplicates.
    let request = signed(&scheme::STRIPE, "evt_twenty", "invoice.paid")?;
    let mut got = drill
        .together(&scheme::STRIPE, vec![request.clone(); 20])
        .await?;
    let all = got.len();
    got.retain(|status| !matches!(status, 200 | 409));
    got.extend(drill.in_turn(&scheme::STRIPE, vec![request]).await?);
    let sent = format!("twenty concurrent ({all} answered 200 or 409), then one");
    drill.record(sent, ("200", 1), &got);

    let request = signed(&scheme::STRIPE, "evt_retry", "demo.fail-once")?;
    let got = drill.in_turn(&scheme::STRIPE, vec![request; 3]).await?;
    drill.record(
        "a handler failure, its retry, one more",
        ("500 200 200", 1),
        &got,
    );
    Ok(())
}

async fn attacks(drill: &mut Drill<'_>) -> Result<()> {
    let mut request = signed(&scheme::STRIPE, "evt_flipped", "invoice.paid")?;
    request.body[8] ^= 1;
    let got = drill.in_turn(&scheme::STRIPE, vec![request]).await?;
    drill.record("a flipped byte", ("401", 0), &got);

    let now = OffsetDateTime::now_utc();
    let text = body(&scheme::STRIPE, "evt_forged", "invoice.paid")?;
    let request = sign(&scheme::STRIPE, "whsec_not-the-secret", "", &text, now)?;
    let got = drill.in_turn(&scheme::STRIPE, vec![request]).await?;
    drill.record("a wrong secret", ("401", 0), &got);

    let old = now - Duration::seconds(301);
    let text = body(&scheme::STRIPE, "evt_stale", "invoice.paid")?;
    let request = sign(&scheme::STRIPE, &secret(&scheme::STRIPE), "", &text, old)?;
    let got = drill.in_turn(&scheme::STRIPE, vec![request]).await?;
    drill.record("a stale one, rightly signed", ("401", 0), &got);

    let captured = signed(&scheme::PLAIN, "evt_captured", "invoice.paid")?;
    let mut resent = captured.clone();
    for (name, value) in &mut resent.headers {
        if name == "X-Webhook-Id" {
            *value = "evt_fresh".into();
        }
    }
    let got = drill
        .in_turn(&scheme::PLAIN, vec![captured, resent])
        .await?;
    drill.record(
        "a captured request, then under a fresh unsigned id",
        ("200 200", 1),
        &got,
    );

    let one = signed(&scheme::STRIPE, "evt_conflict", "invoice.paid")?;
    let other = signed(&scheme::STRIPE, "evt_conflict", "invoice.voided")?;
    let got = drill.in_turn(&scheme::STRIPE, vec![one, other]).await?;
    drill.record("a known id with other content", ("200 202", 1), &got);

    let text = [
        body(&scheme::STRIPE, "evt_large", "x")?,
        vec![b' '; 1024 * 1024],
    ]
    .concat();
    let request = sign(&scheme::STRIPE, &secret(&scheme::STRIPE), "", &text, now)?;
    let got = drill.in_turn(&scheme::STRIPE, vec![request]).await?;
    drill.record("an oversized body", ("413", 0), &got);
    Ok(())
}

async fn operations(drill: &mut Drill<'_>) -> Result<()> {
    let now = OffsetDateTime::now_utc();
    let mut requests = Vec::new();
    for (version, id) in [("0", "evt_previous"), ("2", "evt_not_yet")] {
        let text = body(&scheme::STRIPE, id, "invoice.paid")?;
        let secret = demo_secret(&scheme::STRIPE, version);
        requests.push(sign(&scheme::STRIPE, &secret, "", &text, now)?);
    }
    let got = drill.in_turn(&scheme::STRIPE, requests).await?;
    drill.record(
        "a rotated secret: the previous one, an unknown one",
        ("200 401", 1),
        &got,
    );
    Ok(())
}

/// For every provider: its delivery twice, and tampered with once.
async fn provider(drill: &mut Drill<'_>, scheme: &'static Scheme) -> Result<()> {
    let request = signed(scheme, &format!("each_{}", scheme.name()), "each")?;
    let mut tampered = request.clone();
    if scheme.coverage().body {
        tampered.body.push(b'x');
    } else {
        // Nothing of the body is protected: then under a secret that is not in the ring.
        let (id, stranger) = (format!("each_{}", scheme.name()), demo_secret(scheme, "9"));
        let body = body(scheme, &id, "each")?;
        tampered = sign(scheme, &stranger, &id, &body, OffsetDateTime::now_utc())?;
    }
    let got = drill
        .in_turn(scheme, vec![request.clone(), request, tampered])
        .await?;
    let by = match (scheme.mac(), scheme.id_source(), scheme.timestamp_source()) {
        (Mac::Token, ..) => "token",
        (_, IdSource::Header(_), _) if scheme.coverage().id => "signed id header",
        (_, IdSource::Json(_) | IdSource::JsonOrContent(_), _) => "id in the body",
        (_, IdSource::Composite(_), _) => "several values in the body",
        (_, _, Some((Stamp::Json(_), _))) => "content, time in the body",
        _ => "content",
    };
    let sent = format!("{} ({by}): twice, tampered", scheme.name());
    drill.record(sent, ("200 200 401", 1), &got);
    Ok(())
}
