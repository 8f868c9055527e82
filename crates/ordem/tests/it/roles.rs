//! The rights of the group role `ordem_operator`.

use db::inbox::{RefusedRequest, record_refused};
use testkit::{Event, SECRET, sign};
use uuid::Uuid;

use crate::world::{Said, World, ago, ordem};

#[tokio::test]
async fn a_member_of_the_operators_role_can_do_everything_but_migrate() {
    let world = World::new().await;
    let login = format!("ordem_operator_{}", Uuid::now_v7().simple());
    world.run(&format!("create role {login} login in role ordem_operator")).await;
    world.apply(&[Event::new("ped_1", "paid", 1), Event::new("ped_1", "canceled", 2)]).await;
    let event = world.receive(&[Event::new("ped_2", "paid", 1).body()]).await[0];
    world.kill(event).await;
    let dead = world.end_effect("halt_picking", "dead").await.to_string();
    refuse(&world).await;
    let url = world.database.url_as(&login);
    let run = |arguments: &[&str]| -> Said {
        let environment = [("DATABASE_URL", url.as_str()), ("LOJA_WEBHOOK_SECRET", SECRET)];
        ordem(&environment, arguments)
    };
    let event = event.to_string();
    let all: [&[&str]; 12] = [
        &["check"],
        &["status"],
        &["events"],
        &["effects"],
        &["explain", "loja", "order", "ped_1"],
        &["replay", "--event", &event],
        &["requeue", "--effect", &dead],
        &["discard", "--effect", &dead, "--reason", "a test"],
        &["pause", "fulfillment"],
        &["resume", "fulfillment"],
        &["refused"],
        &["refused", "--reverify"],
    ];
    for arguments in all {
        run(arguments).expect(0);
    }
    assert_eq!(
        world.database.count("select count(*) from ordem.events where resource_id = 'ped_3'").await,
        1
    );
    let denied = run(&["migrate"]);
    world.run(&format!("drop role {login}")).await;
    assert!(denied.expect(1).err.contains("permission denied"));
}

async fn refuse(world: &World) {
    let body = Event::new("ped_3", "paid", 1).body();
    let headers = format!(r#"{{"x-loja-signature":"{}"}}"#, sign(SECRET, &body));
    let request = RefusedRequest {
        refusal_id: db::ids::new_id(ago(60)),
        source: "loja",
        refused_at: ago(60),
        reason: "mismatch",
        headers: &headers,
        body: &body,
        body_bytes: i64::try_from(body.len()).unwrap(),
    };
    record_refused(&world.client().await, &request, 1000).await.unwrap();
}
