//! Lists in the ways that providers have them, against an API that speaks HTTP.

use std::time::Duration;

use db::inbox::Origin;
use jiff::Timestamp;
use reconciler::End;
use serde_json::{Value, json};

use crate::{
    api::{Api, Asked, Says, ok, status},
    stage::{ITEM, Stage},
    world::{NOW, at},
};

fn order(id: &str, status: &str, updated_at: &str) -> Value {
    json!({ "id": id, "status": status, "sequence": 2, "updated_at": updated_at })
}

fn event(number: u32, type_: &str, occurred_at: &str) -> Value {
    json!({
        "id": format!("evt_{number:03}"), "type": type_, "occurred_at": occurred_at,
        "data": { "id": format!("ped_{number:03}"), "sequence": 2 },
    })
}

/// Events, newest first, as `GET /v1/events` gives them.
fn events_answer(all: &[Value], asked: &Asked) -> Says {
    let bound = |name: &str| asked.param(name).map(|text| text.parse::<i64>().unwrap());
    let second =
        |event: &Value| event["occurred_at"].as_str().unwrap().parse::<Timestamp>().unwrap().as_second();
    let limit = asked.param("limit").unwrap().parse::<usize>().unwrap();
    let mut found: Vec<&Value> = all
        .iter()
        .filter(|event| bound("created[gte]").is_none_or(|from| second(event) >= from))
        .filter(|event| bound("created[lte]").is_none_or(|to| second(event) <= to))
        .collect();
    found.sort_by_key(|event| std::cmp::Reverse((second(event), event["id"].to_string())));
    if let Some(after) = asked.param("starting_after") {
        let place = found.iter().position(|event| event["id"] == after).unwrap();
        found.drain(..=place);
    }
    let more = found.len() > limit;
    found.truncate(limit);
    ok(json!({ "object": "list", "data": found, "has_more": more }))
}

const EVENTS: &str = "[api]\nauth = \"bearer\"\n[api.list]\npath = \"/v1/events\"\nsince_param = \"created[gte]\"\n\
     since_format = \"epoch-seconds\"\nuntil_param = \"created[lte]\"\nlimit_param = \"limit\"\nlimit = 2\nitems = \"data\"\n\
     reader = \"event\"\nretention = \"720h\"\nwindow_max = \"24h\"\n\
     paging = { style = \"last-id\", param = \"starting_after\", id = \"id\", more = \"has_more\" }\n";

#[tokio::test]
async fn lost_events_come_from_the_providers_own_log_stretch_by_stretch_under_the_webhooks_keys() {
    let all = vec![
        event(1, "order.paid", "2025-12-30T10:00:00Z"),
        event(2, "order.paid", "2026-01-01T10:00:00Z"),
        event(3, "order.paid", "2026-01-02T01:00:00Z"),
        event(4, "order.paid", "2026-01-02T02:00:00Z"),
        event(5, "order.paid", "2026-01-02T03:00:00Z"),
        // Not sent to us as a webhook either.
        event(6, "customer.renamed", "2026-01-02T03:01:00Z"),
    ];
    let api = Api::start(move |asked| events_answer(&all, asked)).await;
    let stage = Stage::new(EVENTS, &api.url, "sk").await;
    let client = stage.pool.get().await.unwrap();
    db::cursors::advance(&client, "test", "/v1/events", at("2025-12-29T12:00:00Z"), at(NOW)).await.unwrap();
    let pulled = stage.round().await;
    assert_eq!((pulled.stored, pulled.recovered), (5, 5));
    let stored = stage.stored().await;
    assert_eq!(stored.first().unwrap(), "ped_001 order.paid");
    assert_eq!(stored.len(), 5, "{stored:?}");
    let keys = stage.texts("select dedup_key from ordem_engine.inbox_events order by 1").await;
    assert_eq!(keys[0], "evt_001");
    assert_eq!(stage.cursors().await, ["/v1/events 02 03:01:00"]);
    // Each stretch is a day, the oldest first.
    let froms: Vec<_> =
        api.asked().iter().filter_map(|asked| asked.param("created[gte]").map(str::to_owned)).collect();
    assert!(froms.is_sorted() && froms.len() >= 4, "{froms:?}");
    assert_eq!(stage.round().await.stored, 0);
}

#[tokio::test]
async fn a_log_that_forgets_is_not_asked_for_what_it_forgot() {
    let api = Api::start(|asked| events_answer(&[], asked)).await;
    let stage = Stage::new(EVENTS, &api.url, "sk").await;
    let client = stage.pool.get().await.unwrap();
    db::cursors::advance(&client, "test", "/v1/events", at("2025-06-01T00:00:00Z"), at(NOW)).await.unwrap();
    stage.round().await;
    let from: i64 = api.asked()[0].param("created[gte]").unwrap().parse().unwrap();
    let thirty_days = Duration::from_secs(720 * 3600);
    let oldest = at(NOW).checked_sub(thirty_days).unwrap().as_second();
    assert!((oldest..oldest + 3_600).contains(&from), "{from} is not a little after {oldest}");
    // Days in which nothing happened are over: the next round does not read them again.
    assert_eq!(stage.cursors().await, ["/v1/events 31 03:20:00"]);
    let asked = api.asked().len();
    stage.round().await;
    assert!(api.asked().len() - asked <= 3, "{}", api.asked().len() - asked);
}

fn two_lists(second: &str) -> String {
    let list = |path: &str, name: &str| {
        format!(
            "[[api.lists]]\nname = \"{name}\"\npath = \"{path}\"\nsince_param = \"since\"\nitems = \"data\"\n\
             query = {{ view = \"{name}\", account = \"{{constant:account}}\" }}\nsorted = true\n\
             paging = {{ style = \"token\", param = \"t\", next = \"next\" }}\n"
        )
    };
    format!(
        "[api]\nauth = \"basic-user\"\nheaders = {{ x-account = \"{{constant:account}}\" }}\n{}{}{ITEM}",
        list("/orders", "all"),
        list("/orders", second)
    )
}

#[tokio::test]
async fn several_lists_have_cursors_of_their_own_and_one_that_fails_holds_no_other_back() {
    let mut broken = true;
    let api = Api::start(move |asked| match asked.param("view") {
        Some("all") if std::mem::take(&mut broken) => status(400),
        Some("all") => ok(json!({ "data": [order("a", "paid", "2026-01-02T03:00:00Z")] })),
        _ => ok(json!({ "data": [order("b", "canceled", "2026-01-02T02:00:00Z")] })),
    })
    .await;
    let stage = Stage::new(&two_lists("voided"), &api.url, "key").await;
    let (pulled, end) = stage.reader().round().await;
    assert!(matches!(end, End::Failed(_)), "{end:?}");
    assert_eq!(pulled.stored, 1);
    assert_eq!(stage.cursors().await, ["voided 02 02:00:00"]);
    assert_eq!(stage.round().await.stored, 1);
    assert_eq!(stage.cursors().await, ["all 02 03:00:00", "voided 02 02:00:00"]);
    let asked = &api.asked()[0];
    assert_eq!((asked.param("account"), asked.header("x-account")), (Some("acc/1"), Some("acc/1")));
    // `key:` in Base64.
    assert_eq!(asked.header("authorization"), Some("Basic a2V5Og=="));
}

#[tokio::test]
async fn a_sliding_list_reads_the_same_stretch_each_time_and_keeps_no_cursor() {
    let api = Api::start(|_| ok(json!({ "data": [order("a", "paid", "2026-01-01T03:00:00Z")] }))).await;
    let list = "[api]\nauth = \"bearer\"\n[api.list]\npath = \"/orders\"\nsince_param = \"since\"\nsince_format = \"date\"\n\
                items = \"data\"\nsliding = \"48h\"\nevery = \"24h\"\npaging = { style = \"page\", param = \"page\" }\n";
    let stage = Stage::new(&format!("{list}{ITEM}"), &api.url, "t").await;
    assert_eq!(stage.round().await.stored, 1);
    assert_eq!(stage.round().await.stored, 0);
    let asked = api.asked();
    assert_eq!(
        asked.iter().map(|asked| asked.param("since").unwrap()).collect::<Vec<_>>(),
        ["2025-12-30"; 2]
    );
    assert!(stage.cursors().await.is_empty());
}

const LINKED: &str = "[api]\nauth = { header = \"x-token\" }\n[api.list]\npath = \"/orders.json\"\nsince_param = \"min\"\n\
     items = \"orders\"\npaging = { style = \"link-header\" }\n";

#[tokio::test]
async fn the_next_page_is_followed_on_the_same_host_and_nowhere_else() {
    let other = Api::start(|_| ok(r#"{"orders":[]}"#)).await;
    let elsewhere = other.url.clone();
    let mut pages = 0;
    let api = Api::start(move |asked| {
        pages += 1;
        let host = asked.header("host").unwrap();
        let next = match pages {
            1 => format!("<http://other:secret@{host}/orders.json?page_info=p2>; rel=\"next\""),
            2 => "</orders.json?page_info=p3>; rel=\"next\"".to_owned(),
            3 => "<p0>; rel=\"previous\"".to_owned(),
            _ => format!("<{elsewhere}/orders.json>; rel=\"next\""),
        };
        ok(json!({ "orders": [order(&format!("o{pages}"), "paid", "2026-01-02T03:00:00Z")] }))
            .with("link", next)
    })
    .await;
    let stage = Stage::new(&format!("{LINKED}{ITEM}"), &api.url, "s3cr3t").await;
    assert_eq!(stage.round().await.stored, 3);
    let asked = api.asked();
    assert_eq!(asked[1].query, [("page_info".to_owned(), "p2".to_owned())]);
    assert_eq!(asked[2].header("x-token"), Some("s3cr3t"));
    assert!(asked.iter().all(|asked| asked.header("authorization").is_none()));
    let (_, end) = stage.reader().round().await;
    let End::Failed(failure) = end else { panic!("{end:?}") };
    assert!(failure.to_string().contains("outside of the API's own"), "{failure}");
    assert!(other.asked().is_empty());
}

#[tokio::test]
async fn a_post_carries_its_cursor_in_the_body_and_nothing_is_an_empty_page() {
    let api = Api::start(|asked| {
        let body: Value = serde_json::from_str(&asked.body).unwrap();
        match body["cursor"].as_str() {
            None => ok(json!({ "orders": [order("a", "paid", "2026-01-02T03:00:00Z")], "cursor": "c2" })),
            Some(_) => status(204),
        }
    })
    .await;
    let list = "[api]\nauth = { headers = { x-key = \"api_user\", x-token = \"api_token\" } }\n[api.list]\nmethod = \"POST\"\n\
                path = \"/orders/search\"\nsince_param = \"query.start\"\nitems = \"orders\"\nbody = { sort = \"ASC\" }\n\
                paging = { style = \"token\", param = \"cursor\", next = \"cursor\" }\n";
    let stage = Stage::new(&format!("{list}{ITEM}"), &api.url, "the-token").await;
    assert_eq!(stage.round().await.stored, 1);
    let asked = &api.asked()[1];
    assert_eq!(asked.method, "POST");
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    assert_eq!(body, json!({ "sort": "ASC", "query": { "start": "2026-01-01T03:10:00Z" }, "cursor": "c2" }));
    assert_eq!((asked.header("x-key"), asked.header("x-token")), (Some("the-user"), Some("the-token")));
    assert_eq!(stage.cursors().await, ["/orders/search 02 03:00:00"]);
}

#[tokio::test]
async fn a_token_is_fetched_once_and_again_when_it_is_no_good_any_more() {
    let mut tokens = 0;
    let mut lists = 0;
    let api = Api::start(move |asked| {
        if asked.path == "/oauth/token" {
            tokens += 1;
            return ok(json!({ "access_token": format!("t{tokens}"), "expires_in": 3600 }));
        }
        lists += 1;
        match (lists, asked.header("authorization")) {
            (1 | 2, Some("Bearer t1")) | (_, Some("Bearer t2")) => ok(r#"{"data":[]}"#),
            _ => status(401),
        }
    })
    .await;
    let list = |credentials: &str| {
        format!(
            "[api]\nauth = {{ oauth = \"client-credentials\", path = \"/oauth/token\", credentials = \"{credentials}\", scope = \"orders\" }}\n\
             [api.list]\npath = \"/orders\"\nsince_param = \"since\"\nitems = \"data\"\n\
             paging = {{ style = \"token\", param = \"t\", next = \"next\" }}\n{ITEM}"
        )
    };
    let stage = Stage::new(&list("body"), &api.url, "id:s3cr3t").await;
    let reader = stage.reader();
    for _ in 0..3 {
        let (_, end) = reader.round().await;
        assert!(matches!(end, End::Complete), "{end:?}");
    }
    let asked = api.asked();
    let paths: Vec<_> = asked.iter().map(|asked| asked.path.as_str()).collect();
    assert_eq!(paths, ["/oauth/token", "/orders", "/orders", "/orders", "/oauth/token", "/orders"]);
    assert_eq!(asked[0].body, "grant_type=client_credentials&scope=orders&client_id=id&client_secret=s3cr3t");

    let stage = Stage::new(&list("basic"), &api.url, "id:s3cr3t").await;
    let (_, end) = stage.reader().round().await;
    // `t3` is refused for good: the message names the setting and not the secret.
    let End::Failed(failure) = end else { panic!("{end:?}") };
    let said = failure.to_string();
    assert!(said.contains("api_token") && !said.contains("s3cr3t"), "{said}");
    let basic = api
        .asked()
        .into_iter()
        .find(|asked| asked.path == "/oauth/token" && asked.header("authorization").is_some());
    assert_eq!(basic.unwrap().header("authorization"), Some("Basic aWQ6czNjcjN0"));
}

#[tokio::test]
async fn what_the_provider_says_of_its_limits_is_obeyed() {
    let mut calls = 0;
    let api = Api::start(move |_| {
        calls += 1;
        let page =
            json!({ "data": [order("a", "paid", "2026-01-02T03:00:00Z")], "next": format!("p{calls}") });
        match calls {
            1 => ok(page).with("x-left", 0).with("x-reset", 700),
            2 => status(429).with("x-reset", 1_200),
            3 => status(429).with("retry-after", "1.5"),
            // No call left, by a provider that says 403.
            4 => status(403).with("x-left", 0).with("x-reset", 1_100),
            5 => ok(page).with("x-left", 9).with("x-reset", 60_000),
            _ => ok(r#"{"data":[]}"#),
        }
    })
    .await;
    let list = "[api]\nauth = \"bearer\"\nrate = { remaining = \"x-left\", reset = \"x-reset\", reset_unit = \"milliseconds\" }\n\
                [api.list]\npath = \"/orders\"\nsince_param = \"since\"\nitems = \"data\"\n\
                paging = { style = \"token\", param = \"t\", next = \"next\" }\n";
    let stage = Stage::new(&format!("{list}{ITEM}"), &api.url, "t").await;
    stage.round().await;
    let asked = api.asked();
    let waited: Vec<u128> = asked.windows(2).map(|pair| (pair[1].at - pair[0].at).as_millis()).collect();
    assert_eq!(waited.len(), 5, "{waited:?}");
    for (waited, least) in waited.iter().zip([700, 1_200, 1_500, 1_100, 0]) {
        assert!(*waited >= least && *waited < least + 900, "{waited} instead of {least}");
    }
}

#[tokio::test]
async fn open_resources_are_read_again_one_by_one_where_there_is_no_list() {
    let api = Api::start(|asked| match asked.path.as_str() {
        "/orders/changed" => ok(json!({ "order": { "id": "changed", "status": "paid", "sequence": 3, "updated_at": "2026-01-02T03:00:00Z" } })),
        "/orders/same" => ok(json!({ "order": order("same", "created", "2026-01-02T02:00:00Z") })),
        _ => status(404),
    })
    .await;
    let reread = "[api]\nauth = \"bearer\"\n[api.get]\npath = \"/orders/{id}\"\nitem = \"order\"\n\
                  [api.reread]\nstatuses = [\"created\"]\nevery = \"1h\"\nmax_age = \"720h\"\n";
    let stage = Stage::new(&format!("{reread}{ITEM}"), &api.url, "t").await;
    let client = stage.pool.get().await.unwrap();
    for (id, status, days) in [
        ("changed", "created", 1),
        ("same", "created", 1),
        ("gone", "created", 1),
        ("done", "paid", 1),
        ("old", "created", 60),
    ] {
        let sql = "insert into ordem_engine.resources (source, kind, id, status, version_major, version_rank, history, fields, \
                   field_versions, effects_written, next_effect, created_at, updated_at) \
                   values ('test', 'order', $1, $2, 2, 0, jsonb_build_array(jsonb_build_array(jsonb_build_array(2, 0), $2::text)), '{}', '{}', '[]', 1, $3, $3)";
        let seen = at(NOW).checked_sub(jiff::SignedDuration::from_hours(24 * days)).unwrap();
        client.execute(sql, &[&id, &status, &seen]).await.unwrap();
    }
    let done = stage.reader().reread().await.unwrap();
    let mut paths: Vec<_> = api.asked().into_iter().map(|asked| asked.path).collect();
    paths.sort();
    assert_eq!(paths, ["/orders/changed", "/orders/gone", "/orders/same"]);
    assert_eq!((done.resources, done.stored), (3, 1));
    assert_eq!(stage.stored().await, ["changed api.order"]);
}

#[tokio::test]
async fn a_window_of_any_time_is_read_from_every_list() {
    let api = Api::start(|asked| match asked.param("view") {
        Some("all") => ok(json!({ "data": [order("a", "paid", "2025-11-02T03:00:00Z")] })),
        _ => ok(json!({ "data": [order("b", "canceled", "2025-11-02T02:00:00Z")] })),
    })
    .await;
    let stage = Stage::new(&two_lists("voided"), &api.url, "key").await;
    let (from, to) = (at("2025-11-01T00:00:00Z"), at("2025-11-03T00:00:00Z"));
    let (pulled, end) = stage.reader().pull_window(from, to, Origin::Backfill, &mut |_| {}).await;
    assert!(matches!(end, End::Complete));
    assert_eq!((pulled.pages, pulled.stored), (2, 2));
    assert!(stage.cursors().await.is_empty());
}

#[tokio::test]
async fn look_ups_wait_their_turn_before_they_take_a_lease() {
    let api = Api::start(|_| ok(r#"{"data":[]}"#).with("x-left", 0).with("x-reset", 60)).await;
    let list = "[api]\nauth = \"bearer\"\nrate = { remaining = \"x-left\", reset = \"x-reset\" }\n\
                [api.list]\npath = \"/orders\"\nsince_param = \"since\"\nitems = \"data\"\n\
                paging = { style = \"token\", param = \"t\", next = \"next\" }\n";
    let stage = Stage::new(&format!("{list}{ITEM}"), &api.url, "t").await;
    let reader = stage.reader();
    assert!(matches!(reader.round().await.1, End::Complete));
    let served = reader.serve_once().await.unwrap();
    assert!(served.pause.is_some_and(|pause| pause > Duration::from_secs(50)), "{served:?}");
    assert_eq!((served.lookups, api.asked().len()), (0, 1));
}
