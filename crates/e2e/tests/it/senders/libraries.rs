//! The senders' own libraries, as their registries have them, put into the target folder.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

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

/// What was asked for, or a word that it is passed over.
///
/// # Panics
/// In CI, with why it cannot be had.
pub(crate) fn or_skip<T>(had: Result<T, String>) -> Option<T> {
    let why = match had {
        Ok(it) => return Some(it),
        Err(why) => why,
    };
    assert!(std::env::var_os("CI").is_none(), "cannot be skipped in CI: {why}");
    println!("SKIPPED: {why}");
    None
}

/// The folder of a Python environment with these packages.
pub(crate) fn python_environment(name: &str, requirements: &str) -> Result<PathBuf, String> {
    installed(name, requirements, |dir| {
        run(Command::new("python3").args(["-m", "venv"]).arg(dir))?;
        fs::write(dir.join("requirements.txt"), requirements).map_err(|error| error.to_string())?;
        let pip = ["install", "--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "20"];
        run(Command::new(dir.join("bin/pip")).args(pip).arg("-r").arg(dir.join("requirements.txt")))
    })
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

/// A folder under target/ with what this list asks for: as an earlier test left it, or made now.
fn installed(
    name: &str,
    list: &str,
    install: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let programs = testkit::bin("receiver");
    let target = programs.ancestors().nth(2).ok_or("no target folder")?;
    let (dir, done) = (target.join(name), target.join(format!("{name}.done")));
    // Several tests may want it at once, each in a process of its own.
    let lock = File::create(target.join(format!("{name}.lock"))).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    if fs::read_to_string(&done).is_ok_and(|of| of == list) && dir.exists() {
        return Ok(dir);
    }
    if dir.exists() {
        fs::remove_dir_all(&dir).map_err(|error| error.to_string())?;
    }
    install(&dir).map_err(|why| format!("{name} could not be installed: {why}"))?;
    fs::write(done, list).map_err(|error| error.to_string())?;
    Ok(dir)
}

fn written(dir: &Path, name: &str, text: &str) -> Result<PathBuf, String> {
    let path = dir.join(name);
    // Put in place in one step: another test, here or in another process, may be about to read it.
    let next = dir.join(format!("{name}.{}", uuid::Uuid::now_v7()));
    let put = fs::write(&next, text).and_then(|()| fs::rename(&next, &path));
    put.map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program} ended with {}: {}", output.status, said.trim()))
}
