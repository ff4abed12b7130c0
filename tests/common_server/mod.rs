//! Real database servers for tests: started from the installed binaries in a folder of their own,
//! on a free port of the loopback, and gone when the tests are, however those end.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]
// Each test starts the servers that it needs.
#![allow(dead_code)]

#[cfg(feature = "sqlx-mysql")]
pub(crate) mod mysql;
#[cfg(feature = "sqlx-postgres")]
pub(crate) mod postgres;

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    os::unix::{fs::chown, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// A shell between the tests and the server. It reads from the tests, and when there is nothing to
/// read any more, since they have ended or were killed, it ends the server and deletes the folder.
///
/// `$0` is the folder, `$1` the signal that ends the server, and the rest is its command.
const KEEPER: &str = r#"
trap '' INT HUP TERM
folder=$0 signal=$1; shift
start() { "$@" </dev/null >>"$folder/log" 2>&1 & server=$!; echo started; }
start "$@"
while read -r word; do
  case $word in
    kill) kill -KILL "$server"; wait "$server" 2>/dev/null; echo killed ;;
    start)
      # The shell takes note of those that have ended before it says whether this one has.
      jobs >/dev/null
      if kill -0 "$server" 2>/dev/null; then echo started; else start "$@"; fi ;;
  esac
done
kill -"$signal" "$server" 2>/dev/null
wait "$server" 2>/dev/null
rm -rf "$folder"
"#;

/// Who servers run as when the tests run as root, which servers refuse.
#[derive(Debug, Clone, Copy)]
struct User {
    uid: u32,
    gid: u32,
}

fn id(arguments: &[&str]) -> Option<u32> {
    let output = Command::new("id").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().parse().ok())?
}

fn user(names: &[&str]) -> Option<User> {
    if id(&["-u"])? != 0 {
        return None;
    }
    let user = |name| {
        let (uid, gid) = (id(&["-u", name])?, id(&["-g", name])?);
        Some(User { uid, gid })
    };
    names.iter().copied().find_map(user)
}

/// A folder that the server's user owns.
#[derive(Debug)]
struct Place {
    folder: PathBuf,
    user: Option<User>,
}

impl Place {
    fn new(users: &[&str]) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("hookproof-server-")
            .tempdir()
            .unwrap()
            .keep();
        let user = user(users);
        if let Some(User { uid, gid }) = user {
            chown(&folder, Some(uid), Some(gid)).unwrap();
        }
        Self { folder, user }
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder).process_group(0);
        if let Some(User { uid, gid }) = self.user {
            command.uid(uid).gid(gid);
        }
        command
    }

    /// Runs something to its end.
    fn run(&self, program: &Path, arguments: &[&str]) {
        let output = self.command(program).args(arguments).output().unwrap();
        assert!(
            output.status.success(),
            "{} failed: {}",
            program.display(),
            String::from_utf8_lossy(&output.stderr)
        );
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }
}

/// A running server with its keeper.
#[derive(Debug)]
struct Kept {
    keeper: Child,
    words: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Kept {
    fn start(place: &Place, end: &str, program: &Path, arguments: &[String]) -> Self {
        let mut keeper = place
            .command("sh")
            .args(["-c", KEEPER])
            .arg(&place.folder)
            .arg(end)
            .arg(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let words = keeper.stdin.take();
        let answers = BufReader::new(keeper.stdout.take().unwrap());
        let mut kept = Self {
            keeper,
            words,
            answers,
        };
        kept.hear("started");
        kept
    }

    fn hear(&mut self, expected: &str) {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), expected);
    }

    /// Ends the server as a crash would.
    fn kill(&mut self) {
        writeln!(self.words.as_mut().unwrap(), "kill").unwrap();
        self.hear("killed");
    }

    /// Starts the server unless it is running.
    fn start_again(&mut self) {
        writeln!(self.words.as_mut().unwrap(), "start").unwrap();
        self.hear("started");
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        drop(self.words.take());
        let _ = self.keeper.wait();
    }
}

/// A port that nobody has at the moment. Somebody else may take it before the server does, so
/// whoever starts one tries again.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
