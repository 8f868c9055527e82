//! Answers of any size and content: recording them never fails.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{
    sink::{Reply, Sink},
    stage::Stage,
};

#[tokio::test]
async fn an_endless_answer_is_cut_off() {
    let sink = Sink::start(|_| Reply::status(500).body(vec![b'x'; 1000]).endless()).await;
    let stage = Stage::new(&sink.url()).await;
    let id = stage.effect("ped_1", "release_picking", 0).await;
    let begun = Instant::now();
    stage.courier().round().await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5));
    let tried = stage.tried(id).await.remove(0);
    assert_eq!((tried.http_status, tried.excerpt.map(|text| text.len())), (Some(500), Some(1024)));
}

#[tokio::test]
async fn a_huge_answer_to_a_delivery_is_still_a_delivery() {
    let sink = Sink::start(|_| Reply::status(200).body(vec![b'x'; 20_000_000])).await;
    let stage = Stage::new(&sink.url()).await;
    stage.effect("ped_1", "release_picking", 0).await;
    stage.courier().round().await.unwrap();
    assert_eq!(stage.count("delivered").await, 1);
}

#[tokio::test]
async fn a_promised_body_that_never_comes_does_not_hold_up_the_result() {
    let url = raw_server("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort").await;
    let stage = Stage::new(&url).await;
    stage.effect("ped_1", "release_picking", 0).await;
    stage.courier().round().await.unwrap();
    assert_eq!(stage.count("delivered").await, 1);
}

#[tokio::test]
async fn nul_and_invalid_utf8_in_an_answer_are_recorded_harmlessly() {
    let sink = Sink::start(|_| Reply::status(500).body(*b"bad\0 \xff\xfe order\n")).await;
    let stage = Stage::new(&sink.url()).await;
    let id = stage.effect("ped_1", "release_picking", 0).await;
    stage.courier().round().await.unwrap();
    let tried = stage.tried(id).await.remove(0);
    assert_eq!(tried.excerpt.as_deref(), Some("bad\u{fffd} \u{fffd}\u{fffd} order\n"));
}

#[tokio::test]
async fn an_answer_that_is_no_http_is_a_failure() {
    let url = raw_server("220 mail.example.com ESMTP\r\n").await;
    let stage = Stage::new(&url).await;
    let id = stage.effect("ped_1", "release_picking", 0).await;
    stage.courier().round().await.unwrap();
    assert!(stage.shown(id).await.last_error.unwrap().contains("the connection broke"));
}

/// A server that reads a little, writes this and then keeps the connection open in silence.
async fn raw_server(text: &'static str) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let _some = stream.read(&mut [0; 4096]).await;
            let _sent = stream.write_all(text.as_bytes()).await;
            open.push(stream);
        }
    });
    url
}
