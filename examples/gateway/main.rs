//! A webhook gateway: a real HTTP server (axum, loopback only) on an embedded SQLite file that takes
//! deliveries for every provider of the catalogue at `/hooks/{provider}` and acts on each event once.
//!
//! * `cargo run --example gateway` starts it and prints a curl command that works.
//!   Options: `--port N` (default: a free one), `--db FILE` (default: a temporary file).
//! * `cargo run --example gateway -- --drill` sends itself a drill over real HTTP, prints what was
//!   sent, expected and got, and exits non-zero if anything differs.
//!
//! Secrets are for demonstration, and printed. Set `HOOKPROOF_SECRET_STRIPE` and the like (the
//! provider's name in upper case, `-` as `_`) to use your own.
#![allow(
    clippy::print_stdout,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing
)]

mod drill;
mod server;

use std::{error::Error, process::ExitCode};

use hookproof::{
    scheme::{self, Scheme},
    testing::Signer,
};
use server::Server;
use time::OffsetDateTime;

#[derive(Debug, Default)]
struct Options {
    drill: bool,
    port: u16,
    db: Option<String>,
}

fn options() -> Result<Options, Box<dyn Error>> {
    let mut options = Options::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--drill" => options.drill = true,
            "--port" => options.port = words.next().ok_or("--port needs a number")?.parse()?,
            "--db" => options.db = Some(words.next().ok_or("--db needs a file")?),
            other => return Err(format!("unknown option {other:?}").into()),
        }
    }
    Ok(options)
}

/// The providers of this demonstration: those with a shared secret, which can be made up here. Of
/// the others the public key would have to be theirs.
fn providers() -> impl Iterator<Item = &'static Scheme> {
    let rows = scheme::ALL.iter().copied();
    rows.filter(|scheme| !scheme.mac().is_public_key())
}

/// The secret of a provider: from the environment, or one for demonstration.
fn secret(scheme: &Scheme) -> String {
    let name = scheme.name().to_uppercase().replace('-', "_");
    std::env::var(format!("HOOKPROOF_SECRET_{name}")).unwrap_or_else(|_| demo_secret(scheme, "1"))
}

fn demo_secret(scheme: &Scheme, version: &str) -> String {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let text = format!("demo-secret-{version}-of-{}", scheme.name());
    match scheme.secret_format() {
        scheme::SecretFormat::Base64 { prefix } => format!("{prefix}{}", STANDARD.encode(text)),
        scheme::SecretFormat::Hex => text.bytes().map(|byte| format!("{byte:02x}")).collect(),
        _ => text,
    }
}

/// A secret with some text for every setting that its scheme needs.
fn with_settings(scheme: &Scheme, text: &str) -> hookproof::Secret {
    let needed = scheme.settings().iter();
    needed.fold(hookproof::Secret::from(text), |secret, name| {
        secret.setting(name, "of-the-demo")
    })
}

/// A request that is good for five minutes, and a way to make more.
fn curl(server: &Server) -> Result<String, Box<dyn Error>> {
    let secret = secret(&scheme::PLAIN);
    let body = r#"{"type":"invoice.paid","data":{"id":"inv_42"}}"#;
    let now = OffsetDateTime::now_utc();
    let signed = Signer::new(&scheme::PLAIN, secret.as_str())
        .at(now)
        .header("X-Webhook-Id", "evt_0001")
        .sign(body.as_bytes())?;
    let mut command = format!("curl -i http://{}/hooks/plain", server.address());
    for (name, value) in &signed.headers {
        command.push_str(&format!(" -H '{name}: {value}'"));
    }
    command.push_str(&format!(" --data-binary '{body}'"));
    Ok(command)
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("gateway: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Ctrl-C, or what a supervisor sends, so that the temporary file goes either way.
async fn stop_signal() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

async fn run() -> Result<ExitCode, Box<dyn Error>> {
    let options = options()?;
    // Deleted with everything in it when this function ends.
    let folder = tempfile::tempdir()?;
    let file = options
        .db
        .map_or_else(|| folder.path().join("receipts.db"), Into::into);
    let server = Server::start(&file, options.port, !options.drill).await?;
    if options.drill {
        let passed = drill::run(&server).await?;
        server.stop().await?;
        return Ok(if passed {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        });
    }
    let names: Vec<_> = providers().map(Scheme::name).collect();
    println!(
        "hookproof gateway on http://{}/hooks/{{provider}}",
        server.address()
    );
    println!("providers: {}", names.join(" "));
    println!("receipts:  {}", file.display());
    println!(
        "secret of \"plain\": {} (for demonstration)",
        secret(&scheme::PLAIN)
    );
    println!("\nTry it, twice or more (the signature is good for five minutes):\n");
    println!("{}\n", curl(&server)?);
    println!("Ctrl-C stops the gateway. Decisions:");
    stop_signal().await?;
    server.stop().await?;
    Ok(ExitCode::SUCCESS)
}
