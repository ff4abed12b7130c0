//! What parent and workers say to each other: one line each way.

use std::{
    io::{
        BufRead, BufReader,
        ErrorKind::{Interrupted, TimedOut, WouldBlock},
        Write,
    },
    net::TcpStream,
    time::Duration,
};

use super::plan::Point;

const PLACE: &str = "HOOKPROOF_CAMPAIGN_PLACE";
const PORT: &str = "HOOKPROOF_CAMPAIGN_PORT";
const WORKER: &str = "HOOKPROOF_CAMPAIGN_WORKER";

/// A worker's post.
#[derive(Debug)]
pub(crate) struct Post {
    pub(crate) worker: usize,
    pub(crate) port: u16,
    /// Where the database is.
    pub(crate) place: String,
}

impl Post {
    /// None in a process that is no worker.
    pub(crate) fn of_this_process() -> Option<Self> {
        let said = |name| std::env::var(name).unwrap();
        Some(Self {
            place: std::env::var(PLACE).ok()?,
            port: said(PORT).parse().unwrap(),
            worker: said(WORKER).parse().unwrap(),
        })
    }

    pub(crate) fn variables(&self) -> [(&'static str, String); 3] {
        [
            (PLACE, self.place.clone()),
            (PORT, self.port.to_string()),
            (WORKER, self.worker.to_string()),
        ]
    }
}

/// One of the connections.
pub(crate) struct Link {
    stream: BufReader<TcpStream>,
}

impl Link {
    pub(crate) fn new(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        let stream = BufReader::new(stream);
        Self { stream }
    }

    /// None if the other side has gone.
    pub(crate) fn say(&mut self, line: &str) -> Option<()> {
        self.stream
            .get_mut()
            .write_all(format!("{line}\n").as_bytes())
            .ok()
    }

    /// None if the other side has gone.
    pub(crate) fn hear(&mut self) -> Option<String> {
        self.hear_while(|| true)
    }

    /// None if the other side has gone, or there is nothing to wait for any more, which is asked
    /// time and again.
    pub(crate) fn hear_while(&mut self, is_worth_it: impl Fn() -> bool) -> Option<String> {
        let moment = Some(Duration::from_millis(500));
        self.stream.get_ref().set_read_timeout(moment).unwrap();
        let mut line = Vec::new();
        while is_worth_it() {
            match self.stream.read_until(b'\n', &mut line) {
                Ok(_) => {
                    let line = line.strip_suffix(b"\n")?;
                    return Some(String::from_utf8(line.to_vec()).unwrap());
                }
                // What has come of a line stays in it.
                Err(error) if matches!(error.kind(), WouldBlock | TimedOut | Interrupted) => {}
                Err(_) => return None,
            }
        }
        None
    }
}

/// A batch on its way to a worker.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    /// Where to stop.
    pub(crate) stop: Option<Point>,
    /// How far the store's clock is off, in seconds.
    pub(crate) clock: i64,
    pub(crate) is_disk_full: bool,
    /// Event ids, or `id|signature`.
    pub(crate) deliveries: Vec<String>,
}

impl Request {
    pub(crate) fn line(&self) -> String {
        let stop = self
            .stop
            .map_or("-".into(), |point| point.number().to_string());
        let deliveries = self.deliveries.join(" ");
        format!(
            "{stop} {} {} {deliveries}",
            self.clock,
            u8::from(self.is_disk_full)
        )
    }

    pub(crate) fn of(line: &str) -> Self {
        let mut words = line.split(' ');
        let mut next = || words.next().unwrap();
        let (stop, clock, full) = (next(), next(), next());
        Self {
            stop: stop.parse().ok().map(Point::of_number),
            clock: clock.parse().unwrap(),
            is_disk_full: full == "1",
            deliveries: words.map(str::to_owned).collect(),
        }
    }
}

/// What became of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Told {
    /// 200: done now. Or accepted into an inbox.
    New,
    /// 200: done before.
    Duplicate,
    /// 409.
    InProgress,
    /// 500: the handler failed.
    Failed,
    /// 500: somebody else took the event over.
    LeaseLost,
    /// 503, and why.
    Unavailable,
    /// No connection, or no lock, within the time allowed.
    Starved,
    DiskFull,
    Serialization,
}

impl Told {
    pub(crate) const ALL: [Self; 9] = [
        Self::New,
        Self::Duplicate,
        Self::InProgress,
        Self::Failed,
        Self::LeaseLost,
        Self::Unavailable,
        Self::Starved,
        Self::DiskFull,
        Self::Serialization,
    ];

    pub(crate) fn is_2xx(self) -> bool {
        matches!(self, Self::New | Self::Duplicate)
    }
}

/// What comes back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The handler stands still with so many events in its hands.
    Stopped(usize),
    Answers(Vec<Told>),
}

impl Reply {
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Stopped(events) => format!("stopped {events}"),
            Self::Answers(all) => {
                let code = |told: &Told| Told::ALL.iter().position(|t| t == told).unwrap();
                all.iter().map(|told| code(told).to_string()).collect()
            }
        }
    }

    pub(crate) fn of(line: &str) -> Self {
        match line.strip_prefix("stopped ") {
            Some(events) => Self::Stopped(events.parse().unwrap()),
            None => {
                let told = |byte: u8| Told::ALL[usize::from(byte - b'0')];
                Self::Answers(line.bytes().map(told).collect())
            }
        }
    }
}

/// Tells a handler that stands still to go on.
pub(crate) const GO: &str = "go";

/// Tells it that an event to stand still with may still come.
pub(crate) const WAIT: &str = "wait";
