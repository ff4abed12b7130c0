//! A worker process, as its parent sees it.

use std::{
    net::{TcpListener, TcpStream},
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use super::{queue::Queue, wire::Post};

/// A worker process, and what its senders have seen of it.
pub(crate) struct Worker {
    process: Mutex<Child>,
    was_killed: AtomicBool,
}

impl Worker {
    pub(crate) fn start(name: &str, post: &Post) -> Self {
        // A file that may not grow is an error to the writer, and not its end.
        let script = r#"trap '' XFSZ; exec "$0" "$@""#;
        let process = Command::new("sh")
            .args(["-c", script])
            .arg(std::env::current_exe().unwrap())
            .args([name, "--exact", "--nocapture", "--test-threads=1"])
            .envs(post.variables())
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self {
            process: Mutex::new(process),
            was_killed: AtomicBool::new(false),
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.lock().unwrap().id()
    }

    pub(crate) fn kill(&self) {
        self.was_killed.store(true, SeqCst);
        self.process.lock().unwrap().kill().unwrap();
    }

    pub(crate) fn was_killed(&self) -> bool {
        self.was_killed.load(SeqCst)
    }

    /// Without connections it ends by itself, and well.
    pub(crate) fn end(&self, queue: &Queue) {
        loop {
            if let Some(status) = self.process.lock().unwrap().try_wait().unwrap() {
                assert!(status.success(), "a worker failed: {status}");
                return;
            }
            if !queue.wait() {
                return self.kill();
            }
        }
    }

    /// Its connections, one for each sender.
    pub(crate) fn connections(
        &self,
        listener: &TcpListener,
        hands: usize,
        queue: &Queue,
    ) -> Vec<TcpStream> {
        let mut all = Vec::new();
        while all.len() < hands && queue.is_on() {
            match listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false).unwrap();
                    all.push(stream);
                }
                Err(_) => {
                    let ended = self.process.lock().unwrap().try_wait().unwrap();
                    assert!(ended.is_none(), "a worker ended before its work: {ended:?}");
                    thread::sleep(Duration::from_millis(1));
                }
            }
        }
        all
    }
}

impl Drop for Worker {
    /// However it comes to this.
    fn drop(&mut self) {
        let process = self.process.get_mut();
        let process = process.unwrap_or_else(PoisonError::into_inner);
        let _ = process.kill();
        let _ = process.wait();
    }
}
