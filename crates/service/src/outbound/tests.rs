//! What is called, what is not, and how much is read.

use std::{net::SocketAddr, time::Duration};

use axum::{
    Router,
    http::{HeaderMap, header},
    response::Redirect,
    routing::get,
};
use reqwest::Method;

use super::{CallError, Client, Options, body, client, retry_after};
use crate::AddressGuard;

fn allowing(ranges: &[&str]) -> Client {
    let guard = AddressGuard::new(ranges.iter().map(|range| range.parse().unwrap()).collect());
    let seconds = Duration::from_secs;
    let options = Options {
        user_agent: "ordem-test/1".to_owned(),
        guard,
        connect_timeout: seconds(2),
        request_timeout: seconds(2),
    };
    client(options).unwrap()
}

async fn server() -> SocketAddr {
    let router = Router::new()
        .route(
            "/agent",
            get(|headers: HeaderMap| async move {
                String::from_utf8_lossy(headers[header::USER_AGENT].as_bytes()).into_owned()
            }),
        )
        .route("/away", get(|| async { Redirect::temporary("/agent") }))
        .route("/large", get(|| async { "x".repeat(1000) }))
        .route("/slow", get(|| async { tokio::time::sleep(Duration::from_secs(60)).await }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

async fn call(client: &Client, url: &str) -> Result<reqwest::Response, CallError> {
    client.send(client.request(Method::GET, url.parse().unwrap())).await
}

#[tokio::test]
async fn internal_addresses_are_refused_whether_named_or_written_out() {
    let port = server().await.port();
    let closed = allowing(&[]);
    for host in ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "0"] {
        let answer = call(&closed, &format!("http://{host}:{port}/agent")).await;
        assert!(matches!(answer, Err(CallError::Blocked(_))), "{host}: {answer:?}");
    }
}

#[tokio::test]
async fn what_the_operator_allows_is_called_with_our_name() {
    let port = server().await.port();
    let open = allowing(&["127.0.0.0/8", "::1/128"]);
    for host in ["127.0.0.1", "localhost"] {
        let answer = call(&open, &format!("http://{host}:{port}/agent")).await.unwrap();
        assert_eq!(body(answer, 100).await.unwrap().bytes, b"ordem-test/1", "{host}");
    }
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_not_followed() {
    let address = server().await;
    let answer = call(&allowing(&["127.0.0.0/8"]), &format!("http://{address}/away")).await.unwrap();
    assert_eq!(answer.status(), 307);
}

#[tokio::test]
async fn no_more_of_a_body_is_read_than_asked_for() {
    let address = server().await;
    let open = allowing(&["127.0.0.0/8"]);
    for (bytes_max, read, whole) in [(0, 0, false), (10, 10, false), (999, 999, false), (1000, 1000, true)] {
        let answer = call(&open, &format!("http://{address}/large")).await.unwrap();
        let body = body(answer, bytes_max).await.unwrap();
        assert_eq!((body.bytes.len(), body.whole), (read, whole));
    }
}

#[tokio::test]
async fn failures_are_told_apart_and_never_repeat_the_url() {
    let address = server().await;
    let open = allowing(&["127.0.0.0/8"]);
    let late = call(&open, &format!("http://{address}/slow?token=s3cr3t")).await.unwrap_err();
    assert_eq!(late, CallError::TimedOut);
    let nobody = call(&open, "http://127.0.0.1:1/?token=s3cr3t").await.unwrap_err();
    assert!(matches!(nobody, CallError::Unreachable(_)), "{nobody:?}");
    assert!(!nobody.to_string().contains("s3cr3t"), "{nobody}");
    let unknown = call(&open, "http://no-such-host.invalid/").await.unwrap_err();
    assert!(matches!(unknown, CallError::Unreachable(_)), "{unknown:?}");
    let mail = call(&open, "mailto:a@example.com").await.unwrap_err();
    assert!(matches!(mail, CallError::Invalid(_)), "{mail:?}");
}

#[test]
fn of_the_addresses_of_one_name_only_the_allowed_ones_are_dialled() {
    let address = |text: &str| text.parse::<SocketAddr>().unwrap();
    let guard = AddressGuard::default();
    let mixed = vec![address("10.0.0.1:0"), address("1.1.1.1:0"), address("[::1]:0")];
    assert_eq!(guard.vetted(mixed).unwrap(), [address("1.1.1.1:0")]);
    assert_eq!(guard.vetted(vec![address("10.0.0.1:0")]).unwrap_err().address, address("10.0.0.1:0").ip());
}

#[test]
fn retry_after_is_read_as_seconds_and_as_a_date() {
    let now = "2026-01-02T03:04:35Z".parse().unwrap();
    let asked = |text: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(header::RETRY_AFTER, text.parse().unwrap());
        retry_after(&headers, now).map(|wait| wait.as_secs())
    };
    assert_eq!(asked("30"), Some(30));
    assert_eq!(asked(" 0 "), Some(0));
    assert_eq!(asked("Fri, 02 Jan 2026 03:06:00 GMT"), Some(85));
    assert_eq!(asked("Fri, 02 Jan 2026 03:00:00 GMT"), Some(0));
    assert_eq!(asked("2.9"), Some(2));
    assert_eq!(asked("soon"), None);
    assert_eq!(asked("NaN"), None);
    assert_eq!(asked("1e300"), None);
    assert_eq!(asked("-5"), None);
    assert_eq!(retry_after(&HeaderMap::new(), now), None);
}
