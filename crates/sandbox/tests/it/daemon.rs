//! Daemons of the demo as child processes.

use std::{net::SocketAddr, os::unix::fs::PermissionsExt as _, path::PathBuf};

use axum::{Router, http::StatusCode, routing::get};
use reqwest::Client;
use sandbox::demo::daemon::Daemon;
use tempfile::TempDir;
use tokio::{
    net::TcpListener,
    sync::{Mutex, MutexGuard},
};

/// A script that is being written while another test starts a process cannot be run: one at a time.
static ALONE: Mutex<()> = Mutex::const_new(());

/// Where the script and its log are, until it is dropped.
struct Folder {
    path: TempDir,
    _alone: MutexGuard<'static, ()>,
}

/// A daemon that is a shell script, and whose readiness somebody else tells.
async fn daemon(script: &str, ready: StatusCode) -> (Daemon, Folder) {
    let alone = ALONE.lock().await;
    let folder = tempfile::tempdir().unwrap();
    let program: PathBuf = folder.path().join("receiver");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let admin: SocketAddr = listener.local_addr().unwrap();
    let routes = Router::new().route("/readyz", get(move || async move { ready }));
    tokio::spawn(axum::serve(listener, routes).into_future());
    let log = folder.path().join("receiver.log");
    let environment = vec![("GREETING".to_owned(), "hello".to_owned())];
    (Daemon::new("receiver", program, environment, admin, log), Folder { path: folder, _alone: alone })
}

fn is_alive(pid: u32) -> bool {
    // A killed child that nobody waited for would still be here as a zombie.
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

#[tokio::test]
async fn a_daemon_that_ends_by_itself_is_reported_with_the_tail_of_its_log() {
    let (mut daemon, _folder) = daemon("echo $GREETING; echo no database >&2; exit 2", StatusCode::OK).await;
    let client = Client::new();
    let mut failed = daemon.start(&client).await;
    while failed.is_ok() {
        failed = daemon.check();
        tokio::task::yield_now().await;
    }
    let error = failed.unwrap_err().to_string();
    assert!(error.contains("receiver ended by itself: exit status: 2"), "{error}");
    assert!(error.contains("hello\nno database"), "{error}");
}

#[tokio::test]
async fn a_daemon_that_dies_before_it_is_ready_does_not_hold_up_the_demo() {
    let (mut daemon, _folder) = daemon("echo bad key; exit 2", StatusCode::SERVICE_UNAVAILABLE).await;
    let error = daemon.start(&Client::new()).await.unwrap_err().to_string();
    assert!(error.contains("bad key"), "{error}");
}

#[tokio::test]
async fn a_daemon_is_killed_started_again_and_stopped() {
    let script = "trap 'exit 0' TERM; while :; do sleep 0.05; done";
    let (mut daemon, _folder) = daemon(script, StatusCode::OK).await;
    let client = Client::new();
    daemon.start(&client).await.unwrap();
    let first = daemon.pid().unwrap();
    daemon.kill().await.unwrap();
    assert!(!is_alive(first));
    daemon.start(&client).await.unwrap();
    let second = daemon.pid().unwrap();
    assert_ne!(first, second);
    // The shell needs a moment to set its trap.
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(daemon.stop().await, None);
    assert!(!is_alive(second));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let (_, folder) = daemon("", StatusCode::OK).await;
    let missing = folder.path.path().join("nothing");
    let admin = "127.0.0.1:9".parse().unwrap();
    let log = folder.path.path().join("log");
    let mut daemon = Daemon::new("applier", missing.clone(), Vec::new(), admin, log);
    let error = daemon.start(&Client::new()).await.unwrap_err().to_string();
    assert!(error.contains(missing.to_str().unwrap()), "{error}");
}
