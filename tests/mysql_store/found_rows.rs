//! `CLIENT_FOUND_ROWS` both ways. sqlx always tells the server to count the rows that were found, so
//! the other way needs somebody between them who takes it back.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::OnceLock,
    thread,
};

use super::{Bench, ask, batch, busy, number, run, win};

/// The same server behind a proxy that takes the flag out of each client's first packet, whose body
/// begins with the capabilities.
pub(crate) fn url() -> &'static str {
    static URL: OnceLock<String> = OnceLock::new();
    URL.get_or_init(|| {
        let options: url_parts::Parts = url_parts::of(super::url());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = format!("{}:{}", options.host, options.port);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), server.clone());
                thread::spawn(move || between(client, &server));
            }
        });
        format!("mysql://{}127.0.0.1:{port}{}", options.user, options.rest)
    })
}

fn between(mut client: TcpStream, server: &str) {
    const FOUND_ROWS: u8 = 2;
    // While the server is away, as after its end, so is this.
    let Ok(mut server) = TcpStream::connect(server) else {
        return;
    };
    let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Both);
    });
    // Three bytes of length, one of sequence, and the lowest of the capabilities.
    let mut head = [0; 5];
    if client.read_exact(&mut head).is_ok() {
        assert_ne!(head[4] & FOUND_ROWS, 0, "sqlx asks for it");
        head[4] &= !FOUND_ROWS;
        let _ = server.write_all(&head);
        let _ = std::io::copy(&mut client, &mut server);
    }
    let _ = server.shutdown(Shutdown::Both);
}

mod url_parts {
    /// `mysql://` user, host and port, the rest.
    pub(super) struct Parts {
        pub(super) user: String,
        pub(super) host: String,
        pub(super) port: u16,
        pub(super) rest: String,
    }

    pub(super) fn of(url: &str) -> Parts {
        let (_, after) = url.split_once("://").unwrap();
        let (place, rest) = after.split_at(after.find('/').unwrap_or(after.len()));
        let (user, place) = match place.rsplit_once('@') {
            Some((user, place)) => (format!("{user}@"), place),
            None => (String::new(), place),
        };
        let (host, port) = place.split_once(':').unwrap_or((place, "3306"));
        Parts {
            user,
            host: host.to_owned(),
            port: port.parse().unwrap(),
            rest: rest.to_owned(),
        }
    }
}

/// What each kind of session is told of an upsert that changes nothing. This is why no upsert's
/// count decides here: in the usual kind, a lost race counts as much as a won one.
async fn counted(bench: &Bench) -> (u64, u64) {
    let mut session = bench.pool.acquire().await.unwrap();
    batch(&mut session, "CREATE TABLE naive (id int PRIMARY KEY)").await;
    let upsert = "INSERT INTO naive VALUES (1) ON DUPLICATE KEY UPDATE id = id";
    let mut counts = Vec::new();
    for _ in 0..2 {
        let done = sqlx::query(upsert).execute(&mut *session).await.unwrap();
        counts.push(done.rows_affected());
    }
    (counts[0], counts[1])
}

#[test]
fn an_upserts_count_does_not_say_who_won() {
    let found = Bench::new();
    assert_eq!(run(counted(&found)), (1, 1));
    let changed = Bench::with(url(), &[], 4);
    assert_eq!(run(counted(&changed)), (1, 0));
}

/// A renewal to what is stored already changes nothing but the mark, and counts.
#[test]
fn writing_the_same_again_is_written() {
    use hookproof::IdempotencyStore;
    for url in [super::url(), url()] {
        let bench = Bench::with(url, &[], 4);
        let store = bench.store();
        run(async {
            let lease = win(&store, "e1").await;
            let mark = "SELECT mark FROM webhook_receipt";
            let before = number(&mut bench.beside().await, mark).await;
            let lease = store.renew(lease, super::LEASE).await.unwrap();
            assert_ne!(number(&mut bench.beside().await, mark).await, before);
            let lease = store.renew(lease, super::LEASE).await.unwrap();
            busy(&store, "e1").await;
            store.release(lease).await.unwrap();
            let again = ask("e1");
            drop(super::won(store.claim(again).await.unwrap()));
        });
    }
}
