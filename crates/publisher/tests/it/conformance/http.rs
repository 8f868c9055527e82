//! Kind `http`, behind a line that can be cut.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use testkit::Line;

use super::{Kind, Mood};
use crate::{
    sink::{Reply, Sink},
    stage::SECRET,
};

pub(crate) struct Http {
    sink: Sink,
    line: Line,
    url: String,
    mood: Arc<Mutex<Mood>>,
    taken: Arc<Mutex<Vec<String>>>,
}

impl Kind for Http {
    async fn start() -> Option<Self> {
        let mood = Arc::new(Mutex::new(Mood::Willing));
        let taken = Arc::<Mutex<Vec<String>>>::default();
        let (now, keep) = (mood.clone(), taken.clone());
        let sink = Sink::start(move |call| {
            let mood = *now.lock().unwrap();
            let reply = match mood {
                Mood::RefusingForGood => return Reply::status(422),
                Mood::RefusingForNow => return Reply::status(503),
                Mood::Willing => Reply::status(200),
                Mood::Silent => Reply::status(200).after(Duration::from_secs(30)),
                Mood::Slow => Reply::status(200).after(Duration::from_millis(300)),
            };
            keep.lock().unwrap().push(call.id());
            reply
        })
        .await;
        let (line, url) = Line::to(&format!("http://it@127.0.0.1:{}/effects", sink.port())).await;
        Some(Self { sink, line, url, mood, taken })
    }

    fn section(&self, folder: &Path) -> String {
        std::fs::write(folder.join("url"), &self.url).unwrap();
        std::fs::write(folder.join("secret"), SECRET).unwrap();
        let folder = folder.display();
        format!("type = \"http\"\nurl = \"file:{folder}/url\"\nsecrets = [\"file:{folder}/secret\"]")
    }

    async fn set(&mut self, mood: Mood) -> bool {
        *self.mood.lock().unwrap() = mood;
        true
    }

    async fn arrived(&self) -> Vec<String> {
        assert!(self.sink.count() >= self.taken.lock().unwrap().len());
        self.taken.lock().unwrap().clone()
    }

    async fn down(&mut self) {
        self.line.open(false);
    }

    async fn up(&mut self) {
        self.line.open(true);
    }
}
