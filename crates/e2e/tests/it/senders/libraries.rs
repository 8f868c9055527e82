//! The senders' own libraries, as their registries have them, put into the target folder.

use std::{
    fs,
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::Value;
use testkit::packages::{installed, or_skip, python_environment, run, written};

/// A language's libraries, installed, and the script that asks them.
#[derive(Debug)]
pub(crate) struct Libraries {
    program: PathBuf,
    script: PathBuf,
}

/// Every language whose libraries are here or can be fetched.
///
/// # Panics
/// In CI (the variable `CI` is set), when one cannot be had: a test that is passed over there has failed.
pub(crate) fn all() -> Vec<Libraries> {
    [python(), node()].into_iter().filter_map(or_skip).collect()
}

fn python() -> Result<Libraries, String> {
    let dir = python_environment("senders-python", include_str!("requirements.txt"))?;
    let script = written(&dir, "libraries.py", include_str!("libraries.py"))?;
    Ok(Libraries { program: dir.join("bin/python3"), script })
}

fn node() -> Result<Libraries, String> {
    let manifest = include_str!("package.json");
    let dir = installed("senders-node", manifest, |dir| {
        fs::create_dir_all(dir).map_err(|error| error.to_string())?;
        fs::write(dir.join("package.json"), manifest).map_err(|error| error.to_string())?;
        let quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--loglevel=error"];
        let bounds = ["--fetch-retries=1", "--fetch-timeout=20000"];
        run(Command::new("npm").arg("install").args(quiet).args(bounds).current_dir(dir))
    })?;
    // Beside its modules, or it would not find them.
    let script = written(&dir, "libraries.mjs", include_str!("libraries.mjs"))?;
    Ok(Libraries { program: PathBuf::from("node"), script })
}

impl Libraries {
    /// What the libraries answer to these requests, in their order.
    pub(crate) fn ask(&self, requests: &[Value]) -> Vec<Value> {
        let mut child = Command::new(&self.program)
            .arg(&self.script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&serde_json::to_vec(requests).unwrap()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{} ended with {}", self.script.display(), output.status);
        let answers: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answers.len(), requests.len());
        answers
    }

    /// `python` or `node`; npm has more of them.
    pub(crate) fn language(&self) -> &'static str {
        if self.script.ends_with("libraries.mjs") { "node" } else { "python" }
    }
}
