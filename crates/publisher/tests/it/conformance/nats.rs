//! Kind `nats`, against `nats-server`. A stream keeps a key once within its window, so nothing arrives twice.

use std::{path::Path, time::Duration};

use async_nats::jetstream::{self, stream};
use serde_json::{Value, json};
use testkit::{NatsServer, packages::or_skip};

use super::{Kind, Mood};

const STREAM: &str = "ORDEM";

/// More than a server takes in one message by default.
const TOO_LONG: usize = 1_100_000;

pub(crate) struct Nats {
    server: NatsServer,
    mood: Mood,
}

impl Nats {
    async fn streams(&self) -> jetstream::Context {
        jetstream::new(async_nats::connect(self.server.url()).await.unwrap())
    }

    async fn add_stream(&self) {
        let config = stream::Config {
            name: STREAM.to_owned(),
            subjects: vec!["ordem.>".to_owned()],
            ..Default::default()
        };
        self.streams().await.get_or_create_stream(config).await.unwrap();
    }
}

impl Kind for Nats {
    async fn start() -> Option<Self> {
        let nats = Self { server: or_skip(NatsServer::start())?, mood: Mood::Willing };
        nats.add_stream().await;
        Some(nats)
    }

    fn section(&self, folder: &Path) -> String {
        std::fs::write(folder.join("url"), self.server.url()).unwrap();
        format!(
            "type = \"nats\"\nurl = \"file:{}/url\"\nsubject = \"ordem.{{{{ data.kind }}}}.{{{{ data.effect }}}}\"",
            folder.display()
        )
    }

    async fn set(&mut self, mood: Mood) -> bool {
        if self.mood == Mood::Silent {
            self.server.hold(false);
        }
        self.mood = mood;
        match mood {
            Mood::Willing => self.add_stream().await,
            Mood::RefusingForGood => {}
            Mood::RefusingForNow => drop(self.streams().await.delete_stream(STREAM).await.unwrap()),
            Mood::Silent => self.server.hold(true),
            Mood::Slow => self.server.hold_for(Duration::from_millis(500)),
        }
        true
    }

    async fn arrived(&self) -> Vec<String> {
        let Ok(mut stream) = self.streams().await.get_stream(STREAM).await else { return Vec::new() };
        let last = stream.info().await.unwrap().state.last_sequence;
        let mut keys = Vec::new();
        for sequence in 1..=last {
            let message = stream.get_raw_message(sequence).await.unwrap();
            keys.push(message.headers.get("Nats-Msg-Id").unwrap().to_string());
        }
        keys
    }

    async fn down(&mut self) {
        self.server.kill();
    }

    async fn up(&mut self) {
        self.server.start_again();
    }

    fn fields(&self) -> Value {
        let length = if self.mood == Mood::RefusingForGood { TOO_LONG } else { 1 };
        json!({ "note": "x".repeat(length) })
    }
}
