//! Kind `file`, on a real disk. It knows no refusal for good and no silence; gone is a folder in its place.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use tempfile::TempDir;

use super::{Kind, Mood};

pub(crate) struct File {
    folder: TempDir,
}

impl File {
    fn path(&self) -> PathBuf {
        self.folder.path().join("effects.jsonl")
    }

    fn earlier(&self) -> PathBuf {
        self.folder.path().join("effects.jsonl.1")
    }

    fn take_away(&self) {
        if self.path().is_file() {
            fs::rename(self.path(), self.earlier()).unwrap();
        }
        fs::create_dir(self.path()).unwrap();
    }

    fn give_back(&self) {
        if self.path().is_dir() {
            fs::remove_dir(self.path()).unwrap();
        }
    }
}

impl Kind for File {
    async fn start() -> Option<Self> {
        Some(Self { folder: tempfile::tempdir().unwrap() })
    }

    fn section(&self, _: &Path) -> String {
        format!("type = \"file\"\npath = \"{}\"", self.path().display())
    }

    async fn set(&mut self, mood: Mood) -> bool {
        match mood {
            Mood::Willing => self.give_back(),
            Mood::RefusingForNow => self.take_away(),
            Mood::RefusingForGood | Mood::Silent | Mood::Slow => return false,
        }
        true
    }

    async fn arrived(&self) -> Vec<String> {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let text = read(self.earlier()) + &read(self.path());
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let id = |line: &str| {
            let message: Value = serde_json::from_str(line).unwrap();
            message["data"]["effect_id"].as_str().unwrap().to_owned()
        };
        whole.lines().map(id).collect()
    }

    async fn down(&mut self) {
        self.take_away();
    }

    async fn up(&mut self) {
        self.give_back();
    }
}
