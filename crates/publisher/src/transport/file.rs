//! Kinds `file` and `stdout`: one line of JSON for each effect. For development: what is written twice is there twice.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    path::{Path, PathBuf},
};

use futures_util::future::BoxFuture;

use crate::{
    answer::Answer,
    message::Message,
    transport::{Delivery, Transport},
};

/// Where the lines go.
pub(crate) enum Lines {
    /// To the end of this file, which is made when it is not there.
    File(PathBuf),
    /// To standard output; logs go to standard error.
    Stdout,
}

impl Lines {
    async fn write(&self, delivery: Delivery<'_>) -> Answer {
        let mut line = Message::of(delivery.effect).to_json();
        line.push(b'\n');
        let path = match self {
            Self::File(path) => Some(path.clone()),
            Self::Stdout => None,
        };
        // Disks and terminals may be slow, so not on the threads that carry the others.
        let written = tokio::task::spawn_blocking(move || match path {
            Some(path) => append(&path, &line),
            None => print(&line),
        });
        match written.await {
            Ok(Ok(())) => Answer::delivered(),
            Ok(Err(error)) => Answer::transient(&format!("{}: {error}", self.name())),
            Err(error) => Answer::transient(&format!("{}: {error}", self.name())),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Stdout => "standard output".to_owned(),
        }
    }
}

impl Transport for Lines {
    fn carry<'a>(&'a self, delivery: Delivery<'a>) -> BoxFuture<'a, Answer> {
        Box::pin(self.write(delivery))
    }
}

/// Opened anew for each line, so that a file that was moved away or deleted is made again. A line is one write to
/// the end, so several publishers may share the file.
fn append(path: &Path, line: &[u8]) -> io::Result<()> {
    match std::fs::metadata(path) {
        // A pipe that nobody reads would hold the thread for ever.
        Ok(found) if !found.is_file() => return Err(io::Error::other("is no plain file")),
        _ => {}
    }
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(line)?;
    file.flush()
}

fn print(line: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(line)?;
    out.flush()
}
