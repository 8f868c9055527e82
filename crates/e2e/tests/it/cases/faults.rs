//! What a case breaks, and what an operator does about it.

use std::time::Duration;

use db::inbox::{NewEvent, Origin};
use domain::{Clock, ResourceId};
use serde_json::Value;
use testkit::Event;
use tokio_postgres::Client;
use uuid::Uuid;

use super::play::Play;

impl Play<'_> {
    /// Provokes a fault, or ends one.
    pub(crate) async fn fault(&mut self, fault: &Value) {
        let house = self.stage.house;
        let order = fault["order"].as_str().unwrap_or_default();
        match fault["fault"].as_str().unwrap() {
            "database_down" => self.line.as_ref().unwrap().open(false),
            "database_up" => self.line.as_ref().unwrap().open(true),
            "slow_database" => {
                let delay = Duration::from_millis(fault["ms"].as_u64().unwrap());
                self.line.as_ref().unwrap().delay(delay);
            }
            "hold_order_lock" => {
                let client = house.database.client().await;
                let resource =
                    ResourceId { source: "loja".into(), kind: "order".into(), id: order.to_owned() };
                let number = db::resources::lock_numbers([&resource])[0];
                client.execute("select pg_advisory_lock($1)", &[&number]).await.unwrap();
                self.held = Some(client);
            }
            "begin_and_hold" => self.transaction = Some(self.begin_and_hold(order).await),
            "commit" => {
                self.transaction.take().unwrap().batch_execute("commit").await.unwrap();
                self.arrivals().await;
                self.settle().await;
            }
            "purge_inbox_rows" => self.purge(fault).await,
            "replay_dead_letter" => {
                self.requeue(fault["effect"].as_str().unwrap()).await;
                self.settle().await;
            }
            // Part of how the receiver was started.
            _ => {}
        }
    }

    /// An event of this order in a transaction that stays open.
    async fn begin_and_hold(&self, order: &str) -> Client {
        let client = self.stage.house.database.client().await;
        client.batch_execute("begin").await.unwrap();
        let mut event = Event::new(order, "paid", 2);
        event.json["data"]["customer_email"] = "a@example.com".into();
        let (body, now) = (event.body(), self.stage.clock.now());
        let stored = NewEvent {
            event_id: db::ids::new_id(now),
            source: "loja",
            dedup_key: Some("held"),
            body_hash: 0,
            event_type: Some("order.paid"),
            kind: Some("order"),
            resource_id: Some(order),
            origin: Origin::Webhook,
            received_at: now,
            headers: None,
            body: &body,
        };
        let statement = client.prepare(db::inbox::STORE).await.unwrap();
        db::inbox::store_with(&client, &statement, &[stored]).await.unwrap();
        client
    }

    /// Forgets events and keys, as retention does.
    async fn purge(&mut self, fault: &Value) {
        self.note_outcomes().await;
        let age = jiff::SignedDuration::from_secs(fault["older_than_seconds"].as_i64().unwrap());
        let oldest = self.stage.clock.now().checked_sub(age).unwrap();
        let house = self.stage.house;
        let old = "select event_id from ordem_engine.inbox_events where received_at < $1";
        for table in ["inbox_outcomes", "inbox_keys", "inbox_events"] {
            let sql = format!("delete from ordem_engine.{table} where event_id in ({old})");
            house.client.execute(&sql, &[&oldest]).await.unwrap();
        }
    }

    /// As an operator would: the command line, which may refuse.
    async fn requeue(&self, name: &str) {
        let (order, effect) = name.split_once(':').unwrap();
        let sql = "select effect_id from ordem.effects where resource_id = $1 and effect = $2";
        let row = self.stage.house.client.query_one(sql, &[&order, &effect]).await.unwrap();
        let url = self.stage.house.database.url();
        let output = std::process::Command::new(testkit::bin("ordem"))
            .env("DATABASE_URL", url)
            .arg("--config")
            .arg(self.stage.config.path())
            .args(["requeue", "--effect", &row.get::<_, Uuid>(0).to_string()])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() != Some(2), "ordem requeue: {said}");
    }
}
