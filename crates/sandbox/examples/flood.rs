//! A load generator: sends prepared `loja` webhooks as fast as the answers come, and prints one line of JSON.
//!
//! The load is a closed loop: each connection sends its next request once it has the answer to the last one. What
//! is sent is made and signed beforehand, so that what is measured is the program at the other end.
//!
//! ```sh
//! cargo run --release --example flood -p sandbox -- --addr 127.0.0.1:8080 --orders 10000
//! ```
//!
//! With `--write FILE` the requests go to a file instead, each as its length, a line feed and its bytes; `--file FILE`
//! sends such a file. Two programs that are sent one file get the same bytes in the same order.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    rc::Rc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use clap::Parser;
use hdrhistogram::Histogram;
use jiff::Timestamp;
use sandbox::{
    dice::Dice,
    sender::{SIGNATURE_HEADER, sign},
    store::order::{Names, Order},
};
use secrecy::SecretString;
use tokio::{net::TcpStream, task::LocalSet, time::timeout};

/// The first order's first event; well in the past, where no receiver minds it.
const EPOCH_MS: i64 = 1_735_689_600_000;
/// Longest wait for one answer.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// Sends signed `loja` webhooks as fast as the answers come.
#[derive(Debug, Parser)]
#[command(name = "flood")]
struct Arguments {
    /// Where they go: host and port.
    #[arg(long, default_value = "127.0.0.1:8080")]
    addr: String,
    /// Connections, each with one request at a time.
    #[arg(short, long, default_value_t = 64)]
    connections: usize,
    /// Orders to make events of, about three each.
    #[arg(long, default_value_t = 10_000)]
    orders: u64,
    /// The share of events that are sent twice.
    #[arg(long, default_value_t = 0.10)]
    duplicates: f64,
    /// Events are shuffled within so many neighbours.
    #[arg(long, default_value_t = 400)]
    window: usize,
    /// What decides the lives of the orders and the disorder.
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// What signs the events.
    #[arg(long, env = "LOJA_WEBHOOK_SECRET", default_value = "segredo", hide_env_values = true)]
    secret: SecretString,
    /// The path they are posted to.
    #[arg(long, default_value = "/webhooks/loja")]
    path: String,
    /// Sends the requests of this file instead of making some.
    #[arg(long, conflicts_with = "write")]
    file: Option<PathBuf>,
    /// Writes the requests to this file and sends nothing.
    #[arg(long)]
    write: Option<PathBuf>,
}

/// What is sent.
struct Load {
    requests: Vec<Vec<u8>>,
    /// How many different ones there are.
    distinct: usize,
}

/// What came of it.
struct Seen {
    next: Cell<usize>,
    took_us: RefCell<Histogram<u64>>,
    answers: RefCell<BTreeMap<String, u64>>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run(&Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("flood: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let load = match &arguments.file {
        Some(path) => read(path)?,
        None => make(arguments)?,
    };
    let (requests, distinct) = (load.requests.len(), load.distinct);
    if let Some(path) = &arguments.write {
        write(path, &load)?;
        return say(&serde_json::json!({ "requests": requests, "distinct": distinct }));
    }
    let (seen, seconds) = send(load, &arguments.addr, arguments.connections.max(1)).await?;
    let took = seen.took_us.borrow();
    say(&serde_json::json!({
        "rps": (requests as f64 / seconds).round() as u64,
        "p50_us": took.value_at_quantile(0.50),
        "p99_us": took.value_at_quantile(0.99),
        "distinct": distinct,
        "requests": requests,
        "seconds": seconds,
        "answers": *seen.answers.borrow(),
    }))
}

fn say(line: &serde_json::Value) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{line}").context("standard output")
}

fn make(arguments: &Arguments) -> anyhow::Result<Load> {
    let (dice, names) = (Dice::new(arguments.seed), Names::default());
    let (mut requests, mut distinct) = (Vec::new(), 0);
    for number in 0..arguments.orders {
        let order = Order::new(dice, number);
        for sequence in 1..=order.life.steps().len() {
            let at = Timestamp::from_millisecond(EPOCH_MS + number as i64 * 10 + sequence as i64 * 60_000)?;
            let body = order.webhook(&names, sequence, at, 0.0)?;
            let request = request(arguments, &body);
            if dice.chance(arguments.duplicates, "sent twice", &[number, sequence as u64]) {
                requests.push(request.clone());
            }
            requests.push(request);
            distinct += 1;
        }
    }
    for (index, window) in requests.chunks_mut(arguments.window.max(1)).enumerate() {
        for place in (1..window.len()).rev() {
            let other = dice.below(place as u64 + 1, "place", &[index as u64, place as u64]);
            window.swap(place, other as usize);
        }
    }
    Ok(Load { requests, distinct })
}

fn request(arguments: &Arguments, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n{SIGNATURE_HEADER}: {}\r\n\
         content-length: {}\r\n\r\n",
        arguments.path,
        arguments.addr,
        sign(&arguments.secret, body),
        body.len(),
    );
    [head.as_bytes(), body].concat()
}

fn write(path: &Path, load: &Load) -> anyhow::Result<()> {
    let place = || path.display().to_string();
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).with_context(place)?);
    for request in &load.requests {
        writeln!(file, "{}", request.len()).with_context(place)?;
        file.write_all(request).with_context(place)?;
    }
    file.flush().with_context(place)
}

fn read(path: &Path) -> anyhow::Result<Load> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    let (mut rest, mut requests) = (&bytes[..], Vec::new());
    while !rest.is_empty() {
        let request = first(rest).with_context(|| {
            format!(
                "{}: request {} is not a length, a line feed and its bytes",
                path.display(),
                requests.len()
            )
        })?;
        rest = &rest[request.1..];
        requests.push(request.0.to_vec());
    }
    let mut different: Vec<&Vec<u8>> = requests.iter().collect();
    different.sort_unstable();
    different.dedup();
    Ok(Load { distinct: different.len(), requests })
}

/// The first request and where the next one begins.
fn first(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let feed = bytes.iter().position(|byte| *byte == b'\n')?;
    let length: usize = std::str::from_utf8(&bytes[..feed]).ok()?.parse().ok()?;
    let end = (feed + 1).checked_add(length)?;
    Some((bytes.get(feed + 1..end)?, end))
}

/// Sends each request once; gives what came of it, and the seconds it took in all.
async fn send(load: Load, addr: &str, connections: usize) -> anyhow::Result<(Rc<Seen>, f64)> {
    ensure!(!load.requests.is_empty(), "there is nothing to send");
    let seen = Rc::new(Seen {
        next: Cell::new(0),
        took_us: RefCell::new(Histogram::new_with_bounds(1, 120_000_000, 3)?),
        answers: RefCell::default(),
    });
    let requests = Rc::new(load.requests);
    let tasks = LocalSet::new();
    let began = Instant::now();
    for _ in 0..connections {
        tasks.spawn_local(connection(requests.clone(), seen.clone(), addr.to_owned()));
    }
    tasks.await;
    Ok((seen, began.elapsed().as_secs_f64()))
}

/// Sends what is next until nothing is left.
async fn connection(requests: Rc<Vec<Vec<u8>>>, seen: Rc<Seen>, addr: String) {
    let (mut stream, mut answer) = (None, Vec::new());
    while let Some(request) = requests.get(seen.next.get()) {
        seen.next.set(seen.next.get() + 1);
        let began = Instant::now();
        let result = timeout(ANSWER_MAX, exchange(&mut stream, &addr, request, &mut answer)).await;
        let took_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        seen.took_us.borrow_mut().saturating_record(took_us.max(1));
        let word = match result.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into())) {
            Ok(status) => status.to_string(),
            Err(error) => {
                stream = None;
                error.kind().to_string()
            }
        };
        *seen.answers.borrow_mut().entry(word).or_default() += 1;
    }
}

/// Sends one request and reads its answer; gives the status.
async fn exchange(
    stream: &mut Option<TcpStream>,
    addr: &str,
    request: &[u8],
    answer: &mut Vec<u8>,
) -> std::io::Result<u16> {
    let open = match stream.take() {
        Some(open) => open,
        None => {
            let open = TcpStream::connect(addr).await?;
            open.set_nodelay(true)?;
            open
        }
    };
    write_all(&open, request).await?;
    answer.clear();
    let head = loop {
        read_some(&open, answer).await?;
        if let Some(head) = Head::of(answer)? {
            break head;
        }
    };
    while answer.len() < head.length {
        read_some(&open, answer).await?;
    }
    if head.keeps_open {
        *stream = Some(open);
    }
    Ok(head.status)
}

async fn write_all(stream: &TcpStream, mut bytes: &[u8]) -> std::io::Result<()> {
    while !bytes.is_empty() {
        stream.writable().await?;
        match stream.try_write(bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

async fn read_some(stream: &TcpStream, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    let mut part = [0; 4096];
    loop {
        stream.readable().await?;
        match stream.try_read(&mut part) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                bytes.extend_from_slice(&part[..read]);
                return Ok(());
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

/// What is needed of an answer's head.
struct Head {
    status: u16,
    /// Of the whole answer.
    length: usize,
    keeps_open: bool,
}

impl Head {
    /// Reads it, once it is whole. An answer without `content-length` has no body: none that is asked here streams.
    fn of(answer: &[u8]) -> std::io::Result<Option<Self>> {
        let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
        let text = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
        let mut lines = text.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let (mut body, mut keeps_open) = (0, true);
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            match (name, value.trim()) {
                ("content-length", value) => body = value.parse().map_err(|_| ErrorKind::InvalidData)?,
                ("connection", "close") => keeps_open = false,
                ("transfer-encoding", _) => return Err(ErrorKind::Unsupported.into()),
                _ => {}
            }
        }
        let status = status.ok_or(ErrorKind::InvalidData)?;
        Ok(Some(Self { status, length: end + 4 + body, keeps_open }))
    }
}
