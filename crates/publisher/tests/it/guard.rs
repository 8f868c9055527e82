//! Internal addresses are not called unless the operator allows them.

use crate::{
    sink::{Reply, Sink},
    stage::{Stage, ranges},
};

#[tokio::test]
async fn an_internal_address_is_refused_in_every_spelling_and_tried_again_later() {
    let sink = Sink::willing().await;
    for host in
        ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "127.1", "[::1]", "0"]
    {
        let mut stage = Stage::new(&format!("http://{host}:{}/", sink.port())).await;
        stage.settings.allow_addresses = ranges(&["10.0.0.0/8"]);
        let id = stage.effect("ped_1", "release_picking", 0).await;
        stage.courier().round().await.unwrap();
        let shown = stage.shown(id).await;
        assert_eq!((shown.state.as_str(), shown.attempts), ("pending", 1), "{host}");
        assert!(shown.last_error.as_ref().unwrap().contains("is an internal address"), "{host}: {shown:?}");
    }
    assert_eq!(sink.count(), 0, "nobody was connected to");
}

#[tokio::test]
async fn an_allowed_internal_address_is_called() {
    let sink = Sink::willing().await;
    let stage = Stage::new(&format!("http://localhost:{}/", sink.port())).await;
    stage.effect("ped_1", "release_picking", 0).await;
    stage.courier().round().await.unwrap();
    assert_eq!(stage.count("delivered").await, 1);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let inside = Sink::willing().await;
    let target = inside.url();
    let sink = Sink::start(move |_| Reply::status(307).header("location", target.clone())).await;
    let stage = Stage::new(&sink.url()).await;
    let id = stage.effect("ped_1", "release_picking", 0).await;
    stage.courier().round().await.unwrap();
    assert_eq!(inside.count(), 0);
    let shown = stage.shown(id).await;
    assert_eq!(shown.state, "pending");
    assert!(shown.last_error.unwrap().contains("redirects are not followed"));
}
