//! What profiles may ask of the receiver besides the plain signed body.

use futures_util::future::join_all;
use testkit::{SECRET, sign};

use crate::own_profile::{BY_ID, SIGNED, Shop};

const SOURCE: &str = "secrets = [\"env:SHOP_SECRET\"]\n";
const ENVIRONMENT: [(&str, &str); 1] = [("SHOP_SECRET", SECRET)];

fn event(id: &str, order: &str) -> String {
    format!(r#"{{"id":"{id}","type":"order.paid","sequence":2,"data":{{"id":"{order}"}}}}"#)
}

#[tokio::test]
async fn what_is_signed_besides_the_body_is_the_requests_own_query_and_the_sources_own_words() {
    let profile = format!(
        "{SIGNED}text = \"{{method}} {{url}} {{path}} {{constant:HOOK}} {{query:id}} {{body}}\"\n{BY_ID}"
    );
    let source =
        format!("{SOURCE}public_url = \"https://shop.example/in\"\nconstants = {{ HOOK = \"hook-7\" }}\n");
    let shop = Shop::start(&profile, &source, &ENVIRONMENT).await;
    let body = event("evt_1", "ped_1");
    let signature =
        sign(SECRET, format!("POST https://shop.example/in /webhooks/shop hook-7 A 1 {body}").as_bytes());
    assert_eq!(shop.post("?id=A%201", &[("x-sig", &signature)], body.clone()).await.0, 200);
    for query in ["", "?id=A", "?id=A%201&id=B"] {
        assert_eq!(shop.post(query, &[("x-sig", &signature)], body.clone()).await.0, 401, "{query}");
    }
    assert_eq!(shop.app.events().await, 1);
}

#[tokio::test]
async fn each_event_carries_its_own_signature_and_one_wrong_one_refuses_them_all() {
    let profile = format!(
        "[verify]\nkind = \"hmac\"\nalgorithm = \"hmac-sha256\"\njson = \"sig\"\nencoding = \"hex\"\n\
         text = \"{{json:id}}:{{json:data.id}}\"\n\
         [receive]\nsplit = \"events[].event\"\nsuccess_body = \"[accepted]\"\n{BY_ID}"
    );
    let shop = Shop::start(&profile, SOURCE, &ENVIRONMENT).await;
    let item = |id: &str, order: &str, signed: &str| {
        let signature = sign(SECRET, signed.as_bytes());
        format!(
            r#"{{"event":{},"sig":"{signature}"}}}}"#,
            event(id, order).trim_end_matches('}').to_owned() + "}"
        )
    };
    let batch = |items: &[String]| format!(r#"{{"events":[{}]}}"#, items.join(","));
    let good = [item("evt_1", "ped_1", "evt_1:ped_1"), item("evt_2", "ped_2", "evt_2:ped_2")];
    let wrong = [item("evt_3", "ped_3", "evt_3:ped_3"), item("evt_4", "ped_4", "evt_4:ped_5")];
    for refused in [batch(&wrong), batch(&[]), "{}".to_owned(), "[]".to_owned(), String::new()] {
        assert_eq!(shop.post("", &[], refused.clone()).await, (401, String::new()), "{refused}");
    }
    assert_eq!(shop.app.events().await, 0, "not even the right one of them");
    assert_eq!(shop.post("", &[], batch(&good)).await, (200, "[accepted]".to_owned()));
    assert_eq!(shop.post("", &[], batch(&good[..1])).await.0, 200);
    assert_eq!(shop.app.events().await, 2, "each keyed by itself");
}

#[tokio::test]
async fn handshakes_are_answered_and_never_stored() {
    let profile = format!(
        "{SIGNED}{BY_ID}\
         [[receive.handshakes]]\nmethod = \"GET\"\nsigned = false\nwhere = [{{ query = \"challenge\", unsigned = true, present = true }}]\n\
         status = 202\nbody = {{ query = \"challenge\" }}\n\
         [[receive.handshakes]]\nmethod = \"GET\"\nwhere = [{{ query = \"proof\", unsigned = true, present = true }}]\nstatus = 203\n\
         [[receive.handshakes]]\nwhere = [{{ path = \"type\", equals = \"ping\" }}]\nstatus = 200\nbody = \"pong\"\n"
    );
    let shop = Shop::start(&profile, SOURCE, &ENVIRONMENT).await;
    assert_eq!(shop.get("?challenge=a%20b").await, (202, "a b".to_owned()));
    assert_eq!(shop.get("").await.0, 405);
    assert_eq!(shop.get("?proof=1").await.0, 401, "it must be signed");
    let url = format!("{}/webhooks/shop?proof=1", shop.app.url);
    let signed = shop.app.client.get(url).header("x-sig", sign(SECRET, b"")).send().await.unwrap();
    assert_eq!(signed.status(), 203);
    let ping = r#"{"id":"evt_1","type":"ping"}"#;
    assert_eq!(shop.post("", &[], ping).await, (401, String::new()), "it must be signed");
    let signature = sign(SECRET, ping.as_bytes());
    assert_eq!(shop.post("", &[("x-sig", &signature)], ping).await, (200, "pong".to_owned()));
    assert_eq!(shop.app.events().await, 0);
    let paid = event("evt_2", "ped_1");
    let signature = sign(SECRET, paid.as_bytes());
    assert_eq!(shop.post("?challenge=x", &[("x-sig", &signature)], paid).await, (200, String::new()));
    assert_eq!(shop.app.events().await, 1);
}

#[tokio::test]
async fn a_secret_that_has_ended_signs_no_more_and_lists_with_names_are_counted_by_them() {
    let profile = format!(
        "[verify]\nkind = \"any-of\"\n[[verify.checks]]\n{0}\
         [[verify.checks]]\n{0}secrets = \"partner\"\n{BY_ID}",
        SIGNED.trim_start_matches("[verify]\n")
    );
    let source = "secrets = [\"env:SHOP_UNSET\", \"env:SHOP_SECRET\", \
                  { from = \"env:SHOP_OLD\", until = \"2020-01-01T00:00:00Z\" }, \
                  { from = \"env:SHOP_ENDING\", until = \"2999-01-01T00:00:00Z\" }]\n\
                  more_secrets = { partner = [\"env:SHOP_PARTNER\"] }\n";
    let environment = [
        ("SHOP_SECRET", SECRET),
        ("SHOP_OLD", "old"),
        ("SHOP_ENDING", "ending"),
        ("SHOP_PARTNER", "partner's"),
    ];
    let shop = Shop::start(&profile, source, &environment).await;
    let answers = [(SECRET, 200), ("old", 401), ("ending", 200), ("partner's", 200)];
    for (at, (secret, status)) in answers.into_iter().enumerate() {
        let body = event(&format!("evt_{at}"), "ped_1");
        let signature = sign(secret, body.as_bytes());
        assert_eq!(shop.post("", &[("x-sig", &signature)], body).await.0, status, "{secret}");
    }
    for (label, count) in [("0", 0.0), ("1", 1.0), ("2", 0.0), ("3", 1.0), ("partner.0", 1.0)] {
        let line = format!("ordem_receiver_verified_total{{source=\"shop\",secret=\"{label}\"}}");
        assert!((shop.app.daemon.metric(&line).await - count).abs() < 0.5, "{line}");
    }
}

#[tokio::test]
async fn an_unsigned_source_takes_what_comes_and_needs_no_secret() {
    let profile = format!(
        "[verify]\nkind = \"unsigned\"\nbecause = \"the provider signs nothing\"\n\
         [event]\ntype = \"type\"\nkind = \"order\"\nresource = \"data.id\"\n\
         [[event.rules]]\ntypes = [\"*\"]\nignore = \"nobody can believe it\"\n{BY_ID}[version]\ncriterion = \"rank\"\n"
    );
    let shop = Shop::start(&profile, "secrets = []\n", &[]).await;
    assert_eq!(shop.post("", &[], event("evt_1", "ped_1")).await.0, 200);
    assert_eq!(shop.app.events().await, 1);
}

#[tokio::test]
async fn without_keys_every_delivery_is_new_and_one_that_is_refused_costs_its_neighbours_nothing() {
    let profile = format!("{SIGNED}[dedup]\npolicy = \"none\"\n");
    let one_group = [ENVIRONMENT[0], ("ORDEM__RECEIVER__WORKERS", "1"), ("ORDEM__RECEIVER__COMMITTERS", "1")];
    let shop = Shop::start(&profile, SOURCE, &one_group).await;
    let refuse = "alter table ordem_engine.inbox_events add constraint poison check (resource_id <> 'ped_7')";
    shop.app.database.client().await.batch_execute(refuse).await.unwrap();
    let same = event("evt_1", "ped_1");
    let poison = event("evt_1", "ped_7");
    let bodies = (0..60).map(|n| if n == 30 { &poison } else { &same });
    let statuses = join_all(bodies.map(|body| async {
        shop.post("", &[("x-sig", &sign(SECRET, body.as_bytes()))], body.clone()).await.0
    }))
    .await;
    let turned_away: Vec<usize> = (0..60).filter(|n| statuses[*n] != 200).collect();
    assert_eq!((turned_away.as_slice(), statuses[30]), ([30].as_slice(), 503));
    assert_eq!(shop.app.events().await, 59);
}
