//! The database goes away and comes back.

use std::time::{Duration, Instant};

use testkit::{Database, Event, Line, eventually};

use crate::app::App;

#[tokio::test]
async fn without_the_database_the_answer_is_a_quick_503_and_everything_recovers_alone() {
    let database = Database::create().await;
    let (line, url) = Line::to(&database.url()).await;
    let app = App::start_on(database, &url, &[]).await;
    assert_eq!(app.post(Event::new("ped_1", "paid", 2).body()).await.status(), 200);

    line.open(false);
    let began = Instant::now();
    let answer = app.post(Event::new("ped_2", "paid", 2).body()).await;
    assert_eq!(answer.status(), 503);
    assert!(answer.headers().contains_key("retry-after"));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    eventually("not ready", Some(503), || async { app.daemon.get("readyz").await.map(|(status, _)| status) })
        .await;
    assert_eq!(app.daemon.get("healthz").await.unwrap().0, 200, "alive all the while");

    line.open(true);
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
