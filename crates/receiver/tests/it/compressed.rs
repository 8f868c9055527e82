//! Compressed bodies: verified and kept as sent, inflated within limits.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder, write::ZlibEncoder};
use testkit::{SECRET, sign};

use crate::own_profile::{BY_ID, SIGNED, Shop};

const SOURCE: &str = "secrets = [\"env:SHOP_SECRET\"]\n";
const EVENT: &str = r#"{"id":"evt_1","type":"order.paid","sequence":2,"data":{"id":"ped_1"}}"#;

async fn shop(environment: &[(&str, &str)]) -> Shop {
    let mut all = vec![("SHOP_SECRET", SECRET)];
    all.extend(environment);
    Shop::start(&format!("{SIGNED}{BY_ID}"), SOURCE, &all).await
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// An event that inflates to `bytes`.
fn padded(bytes: usize) -> Vec<u8> {
    let mut plain = EVENT.as_bytes().to_vec();
    plain.resize(bytes, b' ');
    plain
}

async fn post(shop: &Shop, encoding: &str, body: &[u8], secret: &str) -> u16 {
    let signature = sign(secret, body);
    shop.post("", &[("x-sig", &signature), ("content-encoding", encoding)], body).await.0
}

#[tokio::test]
async fn a_compressed_event_is_verified_and_kept_as_sent_and_read_in_plain() {
    let shop = shop(&[]).await;
    let body = gzip(EVENT.as_bytes());
    assert_eq!(post(&shop, "gzip", &body, SECRET).await, 200);
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    zlib.write_all(EVENT.replace("evt_1", "evt_2").as_bytes()).unwrap();
    assert_eq!(post(&shop, "deflate", &zlib.finish().unwrap(), SECRET).await, 200);
    let client = shop.app.database.client().await;
    let sql = "select body, dedup_key, resource_id from ordem_engine.inbox_events order by event_id";
    let rows = client.query(sql, &[]).await.unwrap();
    let keys: Vec<(&str, &str)> = rows.iter().map(|row| (row.get(1), row.get(2))).collect();
    assert_eq!(keys, [("evt_1", "ped_1"), ("evt_2", "ped_1")]);
    assert_eq!(rows[0].get::<_, Vec<u8>>(0), body);
}

#[tokio::test]
async fn a_body_that_inflates_beyond_the_limit_is_413_but_only_for_who_can_sign() {
    let shop = shop(&[("ORDEM__RECEIVER__BODY_BYTES_MAX", "100000")]).await;
    assert_eq!(post(&shop, "gzip", &gzip(&padded(100_001)), SECRET).await, 413);
    assert_eq!(post(&shop, "gzip", &gzip(&padded(100_001)), "another").await, 401);
    assert_eq!(shop.app.events().await, 0);
    assert_eq!(post(&shop, "gzip", &gzip(&padded(100_000)), SECRET).await, 200);
}

#[tokio::test]
async fn what_a_body_may_become_counts_in_the_memory_for_bodies() {
    let limits =
        [("ORDEM__RECEIVER__BODY_BYTES_MAX", "100000"), ("ORDEM__RECEIVER__BODIES_BYTES_MAX", "150000")];
    let shop = shop(&limits).await;
    assert_eq!(post(&shop, "gzip", &gzip(&padded(90_000)), SECRET).await, 503);
    assert_eq!(shop.post("", &[("x-sig", &sign(SECRET, EVENT.as_bytes()))], EVENT).await.0, 200);
}
