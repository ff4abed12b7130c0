//! The HTTP side: one gate per provider on one store, and a handler that acts.

use std::{
    collections::HashMap,
    error::Error,
    net::{Ipv4Addr, SocketAddr},
    path::Path as FilePath,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, Path, State},
    http::{HeaderMap, Method, StatusCode, Uri, header::RETRY_AFTER},
    response::Response,
    routing::post,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookproof::{
    Event, EventKey, Gate, Secrets, SqliteStore, Verdict, Verified,
    gate::{DEFAULT_BODY_LIMIT, HandlerError},
    headers::RequestTarget,
    scheme::{IdSource, Mac, Scheme},
};
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;
use tokio::{sync::oneshot, task::JoinHandle};

use crate::{demo_secret, providers, secret, with_settings};

/// What the gateway did: how often each event was acted on, and tried.
#[derive(Debug, Default)]
pub(crate) struct Actions(Mutex<HashMap<String, (u32, u32)>>);

impl Actions {
    fn count(&self, event: &str, done: bool) {
        let mut all = self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        let (acted, tried) = all.entry(event.to_owned()).or_default();
        *acted += u32::from(done);
        *tried += 1;
    }

    /// How many actions were completed in all, and how many attempts were made.
    pub(crate) fn totals(&self) -> (u32, u32) {
        let all = self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        all.values()
            .fold((0, 0), |(acted, tried), (a, t)| (acted + a, tried + t))
    }
}

/// Where the senders think that this server is.
pub(crate) const PUBLIC: &str = "https://hooks.example.com";

type Gates = HashMap<&'static str, Gate<Arc<SqliteStore>>>;

struct App {
    gates: Gates,
    actions: Arc<Actions>,
    log: bool,
}

pub(crate) struct Server {
    address: SocketAddr,
    actions: Arc<Actions>,
    stop: oneshot::Sender<()>,
    running: JoinHandle<std::io::Result<()>>,
}

/// The current and the previous secret: a rotation is nothing but two secrets in the ring.
fn ring(scheme: &'static Scheme) -> Result<Secrets, hookproof::SecretsError> {
    let previous = with_settings(scheme, &demo_secret(scheme, "0")).key_id("previous");
    Secrets::new(
        scheme,
        [
            with_settings(scheme, &secret(scheme)).key_id("current"),
            previous,
        ],
    )
}

/// A key made of the body, whoever wrote it.
fn body_key(
    scheme: &Scheme,
    delivery: &Verified<'_>,
    tenant: &str,
) -> Result<EventKey, hookproof::KeyError> {
    let hash = STANDARD.encode(Sha256::digest(delivery.body()));
    EventKey::business(tenant, "demo-body", &format!("{} {hash}", scheme.name()))
}

fn gate(
    scheme: &'static Scheme,
    store: &Arc<SqliteStore>,
) -> Result<Gate<Arc<SqliteStore>>, Box<dyn Error>> {
    let gate = Gate::new(ring(scheme)?, store.clone()).lease(Duration::from_secs(30));
    Ok(match (scheme.mac(), scheme.id_source()) {
        // No id in a header either. What the body says is the application's to choose; for a
        // demonstration, equal bodies are the same event.
        (Mac::Token, IdSource::None) => {
            gate.key_by(move |delivery, tenant| body_key(scheme, delivery, tenant))
        }
        // A token that says nothing of the body, whose id is therefore anybody's.
        (_, IdSource::Json(_)) if !scheme.coverage().id => {
            gate.key_by(move |delivery, tenant| body_key(scheme, delivery, tenant))
        }
        // Nothing is signed, so nothing better than the unsigned id can be had. Whoever sees one
        // request has the token as well.
        (Mac::Token, _) => {
            gate.key_by(|delivery, tenant| delivery.danger_unsigned_event_key(tenant))
        }
        // No id, and equal bodies may be two events. For a demonstration, equal is the same.
        (_, IdSource::None) if scheme.coverage().body => {
            gate.key_by(|delivery, tenant| delivery.content_key(tenant))
        }
        // Only some fields are signed, and none of them names an event.
        (_, IdSource::None) => {
            gate.key_by(move |delivery, tenant| body_key(scheme, delivery, tenant))
        }
        _ => gate,
    })
}

/// The application's own work. `demo.fail-once` fails at its first attempt.
async fn act(event: Event, actions: &Actions) -> Result<Verdict, HandlerError> {
    let kind = event.event_type().unwrap_or_else(|| "an event".into());
    let fails = kind == "demo.fail-once" && event.attempt() == 1;
    // Long enough for concurrent duplicates to meet.
    tokio::time::sleep(Duration::from_millis(20)).await;
    actions.count(event.key().id(), !fails);
    if fails {
        return Err("the demonstration failed as asked".into());
    }
    Ok(Verdict::done(format!("handled {kind:?}")))
}

async fn hook(
    State(app): State<Arc<App>>,
    Path(provider): Path<String>,
    target: Uri,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some(gate) = app.gates.get(provider.as_str()) else {
        return answer(404, None, b"no such provider");
    };
    let now = OffsetDateTime::now_utc();
    let actions = app.actions.clone();
    // The URL that the sender called: its host is configured, and never taken from the request.
    let url = format!("{PUBLIC}{target}");
    let request = RequestTarget::new(&headers, method.as_str(), &url);
    let outcome = gate
        .handle(&body, &request, now, async move |event| {
            act(event, &actions).await
        })
        .await;
    if app.log {
        println!("{outcome}");
    }
    answer(outcome.status(), outcome.retry_after(), outcome.body())
}

fn answer(status: u16, retry_after: Option<u64>, body: &[u8]) -> Response {
    let mut response = Response::new(Body::from(body.to_vec()));
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

impl Server {
    /// Listens on a loopback port, `0` for a free one.
    pub(crate) async fn start(
        file: &FilePath,
        port: u16,
        log: bool,
    ) -> Result<Self, Box<dyn Error>> {
        let store = Arc::new(SqliteStore::open(file)?);
        let mut gates = Gates::new();
        for scheme in providers() {
            gates.insert(scheme.name(), gate(scheme, &store)?);
        }
        let actions = Arc::new(Actions::default());
        let app = Arc::new(App {
            gates,
            actions: actions.clone(),
            log,
        });
        // The server's own limit keeps a stranger's body out of memory; the gate's, a little
        // below, answers and logs.
        let router = Router::new()
            .route("/hooks/{provider}", post(hook))
            .layer(DefaultBodyLimit::max(DEFAULT_BODY_LIMIT + 64 * 1024))
            .with_state(app);
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let serving = axum::serve(listener, router).with_graceful_shutdown(async {
            // A dropped sender stops the server too.
            let _ = stopped.await;
        });
        let running = tokio::spawn(async move { serving.await });
        Ok(Self {
            address,
            actions,
            stop,
            running,
        })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn actions(&self) -> &Actions {
        &self.actions
    }

    /// Finishes what is under way and frees the port.
    pub(crate) async fn stop(self) -> Result<(), Box<dyn Error>> {
        let _ = self.stop.send(());
        self.running.await??;
        Ok(())
    }
}
