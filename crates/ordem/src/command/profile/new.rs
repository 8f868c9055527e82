//! `ordem profile new`: a commented template.

use std::{
    fs::OpenOptions,
    io::Write as _,
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{failure::BadInput, report::Report};

const TEMPLATE: &str = include_str!("template.toml");

/// Write a commented template of a profile as NAME.toml
///
/// It passes `ordem profile check` as it is. A file that is there is never overwritten.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The profile's name: a-z, 0-9, - and _.
    #[arg(value_name = "NAME")]
    name: String,
    /// Folder to write it to.
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
}

/// What was written.
#[derive(Debug, Serialize)]
pub(crate) struct Written {
    file: String,
}

impl Args {
    /// Writes.
    pub(crate) fn run(&self) -> anyhow::Result<Written> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        if self.name.is_empty() || !self.name.bytes().all(plain) {
            return Err(BadInput::new("a profile's name has only a-z, 0-9, - and _").into());
        }
        let file = self.dir.join(format!("{}.toml", self.name));
        let failed = |error: std::io::Error| BadInput::new(format!("{}: {error}", file.display()));
        let mut opened = OpenOptions::new().write(true).create_new(true).open(&file).map_err(failed)?;
        opened.write_all(TEMPLATE.replace("PROVIDER", &self.name).as_bytes()).map_err(failed)?;
        Ok(Written { file: file.display().to_string() })
    }
}

impl Report for Written {
    fn text(&self) -> String {
        let schema = Path::new(&self.file).with_file_name("profile.schema.json");
        format!(
            "wrote {0}; then: ordem profile check {0}\nfor an editor's completion: ordem profile schema > {1}\n",
            self.file,
            schema.display()
        )
    }
}
