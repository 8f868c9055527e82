//! HTTP by hand: header bytes and repeated lines go out exactly as a case has them.

use std::time::{Duration, Instant};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::case::Delivery;

/// What came back.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) took: Duration,
}

/// Sends a request to a port of this machine.
pub(crate) async fn send(port: u16, path: &str, delivery: &Delivery) -> Answer {
    let began = Instant::now();
    let sent = tokio::time::timeout(Duration::from_secs(20), exchange(port, path, delivery));
    let head = sent.await.unwrap_or_default();
    let status = head.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    Answer { status: status.unwrap_or(0), took: began.elapsed() }
}

async fn exchange(port: u16, path: &str, delivery: &Delivery) -> String {
    let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let (mut from, mut to) = stream.into_split();
    let mut request =
        format!("{} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", delivery.method)
            .into_bytes();
    if !delivery.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-length")) {
        request.extend(format!("Content-Length: {}\r\n", delivery.body.len()).into_bytes());
    }
    for (name, value) in &delivery.headers {
        request.extend(name.as_bytes());
        request.extend(b": ");
        request.extend(value);
        request.extend(b"\r\n");
    }
    request.extend(b"\r\n");
    request.extend(&delivery.body);
    // A server that has refused may stop reading before everything is sent.
    let writing = tokio::spawn(async move {
        let _refused_early = to.write_all(&request).await;
        to
    });
    let mut head = Vec::new();
    let mut part = [0; 1024];
    while !head.contains(&b'\n') {
        match from.read(&mut part).await {
            Ok(count) if count > 0 => head.extend(&part[..count]),
            _ => break,
        }
    }
    writing.abort();
    String::from_utf8_lossy(&head).into_owned()
}
