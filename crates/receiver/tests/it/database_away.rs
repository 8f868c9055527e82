//! The database goes away and comes back.

use std::time::{Duration, Instant};

use testkit::{Database, Event, eventually};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

use crate::app::App;

/// Stands between receiver and database; can be cut.
struct Line {
    port: u16,
    open: watch::Sender<bool>,
}

impl Line {
    async fn to(database_port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (open, is_open) = watch::channel(true);
        tokio::spawn(async move {
            loop {
                let (mut near, _) = listener.accept().await.unwrap();
                let mut cut = is_open.clone();
                if !*cut.borrow() {
                    continue;
                }
                tokio::spawn(async move {
                    let Ok(mut far) = TcpStream::connect(("127.0.0.1", database_port)).await else { return };
                    tokio::select! {
                        _ = copy_bidirectional(&mut near, &mut far) => {}
                        _ = cut.wait_for(|open| !open) => {}
                    }
                });
            }
        });
        Self { port, open }
    }
}

#[tokio::test]
async fn without_the_database_the_answer_is_a_quick_503_and_everything_recovers_alone() {
    let database = Database::create().await;
    let direct = database.url();
    let (before, after) = direct.rsplit_once('@').unwrap();
    let (address, name) = after.split_once('/').unwrap();
    let line = Line::to(address.rsplit_once(':').unwrap().1.parse().unwrap()).await;
    let url = format!("{before}@127.0.0.1:{}/{name}", line.port);
    let app = App::start_on(database, &url, &[]).await;
    assert_eq!(app.post(Event::new("ped_1", "paid", 2).body()).await.status(), 200);

    line.open.send(false).unwrap();
    let began = Instant::now();
    let answer = app.post(Event::new("ped_2", "paid", 2).body()).await;
    assert_eq!(answer.status(), 503);
    assert!(answer.headers().contains_key("retry-after"));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    eventually("not ready", Some(503), || async { app.daemon.get("readyz").await.map(|(status, _)| status) })
        .await;
    assert_eq!(app.daemon.get("healthz").await.unwrap().0, 200, "alive all the while");

    line.open.send(true).unwrap();
    eventually("stores again", 200, || async {
        app.post(Event::new("ped_2", "paid", 2).body()).await.status().as_u16()
    })
    .await;
    eventually("ready again", Some(200), || async {
        app.daemon.get("readyz").await.map(|(status, _)| status)
    })
    .await;
    assert_eq!(app.events().await, 2);
}
