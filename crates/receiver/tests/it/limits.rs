//! Limits of size, time and number.

use std::time::{Duration, Instant};

use testkit::{Event, SECRET, sign};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::app::App;

async fn raw(port: u16, request: &[u8], rest: Option<(Duration, &[u8])>) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(request).await.unwrap();
    if let Some((after, bytes)) = rest {
        tokio::time::sleep(after).await;
        let _peer_may_have_answered = stream.write_all(bytes).await;
    }
    let mut answer = vec![0; 256];
    let count =
        tokio::time::timeout(Duration::from_secs(15), stream.read(&mut answer)).await.unwrap().unwrap_or(0);
    String::from_utf8_lossy(&answer[..count]).into_owned()
}

#[tokio::test]
async fn a_body_over_the_limit_is_413_before_it_is_read() {
    let app = App::start().await;
    let declared = b"POST /webhooks/loja HTTP/1.1\r\nhost: x\r\nx-loja-signature: 00\r\ncontent-length: 50000000\r\n\r\n";
    let began = Instant::now();
    assert!(raw(app.port, declared, None).await.starts_with("HTTP/1.1 413"));
    assert!(began.elapsed() < Duration::from_secs(2));
    let body = vec![b'a'; 1_048_577];
    let signature = sign(SECRET, &body);
    let answer = app.client.post(format!("{}/webhooks/loja", app.url)).header("x-loja-signature", signature);
    // Chunked: the size is not declared.
    let stream = futures_util::stream::iter(
        body.chunks(100_000).map(|chunk| Ok::<_, std::io::Error>(chunk.to_vec())).collect::<Vec<_>>(),
    );
    let answer = answer.body(reqwest::Body::wrap_stream(stream)).send().await;
    assert!(answer.map_or(true, |answer| answer.status() == 413), "refused, or cut while sending");
    let exact = vec![b' '; 1_048_576];
    assert_eq!(app.post(exact).await.status(), 200, "the limit itself is allowed");
    assert_eq!(app.events().await, 1);
}

#[tokio::test]
async fn a_slow_body_is_408_and_holds_nobody_else_up() {
    let app = App::start_with(&[("ORDEM__RECEIVER__BODY_TIMEOUT", "700ms")]).await;
    let head = b"POST /webhooks/loja HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc";
    let slow = raw(app.port, head, Some((Duration::from_millis(1500), b"d")));
    let quick = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        app.post(Event::new("ped_1", "paid", 2).body()).await.status().as_u16()
    };
    let (slow, quick) = futures_util::future::join(slow, quick).await;
    assert!(slow.starts_with("HTTP/1.1 408"), "{slow}");
    assert_eq!(quick, 200);
}

#[tokio::test]
async fn a_full_queue_answers_503_with_retry_after_and_loses_no_200() {
    let app =
        App::start_with(&[("ORDEM__RECEIVER__QUEUE_MAX", "4"), ("ORDEM__RECEIVER__BATCH_MAX", "1")]).await;
    let posts = (0..300).map(|n| {
        let app = &app;
        async move {
            let answer = app.post(Event::new(&format!("ped_{n}"), "paid", 2).body()).await;
            (answer.status().as_u16(), answer.headers().contains_key("retry-after"))
        }
    });
    let answers = futures_util::future::join_all(posts).await;
    let stored = answers.iter().filter(|(status, _)| *status == 200).count();
    let turned_away = answers.iter().filter(|answer| **answer == (503, true)).count();
    assert_eq!(stored + turned_away, 300, "{answers:?}");
    assert!(turned_away > 0, "the queue was never full");
    assert_eq!(app.events().await, i64::try_from(stored).unwrap());
}

#[tokio::test]
async fn senders_that_stall_hold_no_more_memory_than_there_is_for_bodies() {
    let limits =
        [("ORDEM__RECEIVER__BODY_BYTES_MAX", "100000"), ("ORDEM__RECEIVER__BODIES_BYTES_MAX", "150000")];
    let app = App::start_with(&limits).await;
    let mut stalled = TcpStream::connect(("127.0.0.1", app.port)).await.unwrap();
    let head = b"POST /webhooks/loja HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n";
    stalled.write_all(head).await.unwrap();
    stalled.write_all(&vec![b' '; 99_999]).await.unwrap();
    let large = vec![b' '; 90_000];
    testkit::eventually("no room for another large body", 503, || async {
        app.post(large.clone()).await.status().as_u16()
    })
    .await;
    assert_eq!(app.post(Event::new("ped_1", "paid", 2).body()).await.status(), 200, "small ones pass");
    drop(stalled);
    testkit::eventually("room again", 200, || async { app.post(large.clone()).await.status().as_u16() })
        .await;
}
