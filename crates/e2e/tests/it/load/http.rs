//! A small HTTP server of our own: it can be late, and it can break a connection where a framework would not let us.

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

/// A request.
pub(crate) struct Request {
    /// With its query.
    pub(crate) path: String,
    /// By lower-case name.
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// What it gets.
pub(crate) enum Reply {
    Answer {
        status: u16,
        body: String,
        after: Duration,
    },
    /// The connection is broken instead.
    Reset,
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Self::Answer { status, body: String::new(), after: Duration::ZERO }
    }
}

/// Serves on a free port, which is returned, until the test's runtime ends.
pub(crate) async fn serve(handle: impl Fn(Request) -> Reply + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let handle = Arc::new(handle);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let handle = handle.clone();
            // A peer that was killed breaks its connections.
            tokio::spawn(async move { keep_answering(stream, &*handle).await.unwrap_or_default() });
        }
    });
    port
}

async fn keep_answering(
    stream: TcpStream,
    handle: &(impl Fn(Request) -> Reply + Send + Sync),
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream).await? {
        match handle(request) {
            Reply::Reset => return Ok(()),
            Reply::Answer { status, body, after } => {
                tokio::time::sleep(after).await;
                let length = body.len();
                let answer = format!("HTTP/1.1 {status} -\r\ncontent-length: {length}\r\n\r\n{body}");
                stream.get_mut().write_all(answer.as_bytes()).await?;
            }
        }
    }
    Ok(())
}

async fn read(stream: &mut BufReader<TcpStream>) -> std::io::Result<Option<Request>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = HashMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(Some(Request { path, headers, body }))
}
