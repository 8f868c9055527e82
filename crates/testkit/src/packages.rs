//! What tests need from package registries, installed under the target folder once for all of them.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::daemon::target_folder;

/// What was asked for, or a word that it is passed over.
///
/// # Panics
/// In CI, with why it cannot be had.
pub fn or_skip<T>(had: Result<T, String>) -> Option<T> {
    let why = match had {
        Ok(it) => return Some(it),
        Err(why) => why,
    };
    assert!(std::env::var_os("CI").is_none(), "cannot be skipped in CI: {why}");
    #[allow(clippy::print_stdout, reason = "whoever runs the tests is told")]
    {
        println!("SKIPPED: {why}");
    }
    None
}

/// The folder of a Python environment with these packages.
///
/// # Errors
/// Why it cannot be had.
pub fn python_environment(name: &str, requirements: &str) -> Result<PathBuf, String> {
    installed(name, requirements, |dir| {
        run(Command::new("python3").args(["-m", "venv"]).arg(dir))?;
        fs::write(dir.join("requirements.txt"), requirements).map_err(|error| error.to_string())?;
        let pip = ["install", "--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "20"];
        run(Command::new(dir.join("bin/pip")).args(pip).arg("-r").arg(dir.join("requirements.txt")))
    })
}

/// A folder under target/ with what this list asks for: as an earlier test left it, or made now.
///
/// # Errors
/// Why it cannot be had.
pub fn installed(
    name: &str,
    list: &str,
    install: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let target = target_folder();
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

/// A file with this text, put in place in one step.
///
/// # Errors
/// When it cannot be written.
pub fn written(dir: &Path, name: &str, text: &str) -> Result<PathBuf, String> {
    let path = dir.join(name);
    // Another test, here or in another process, may be about to read it.
    let next = dir.join(format!("{name}.{}", uuid::Uuid::now_v7()));
    let put = fs::write(&next, text).and_then(|()| fs::rename(&next, &path));
    put.map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

/// Runs a command to its end.
///
/// # Errors
/// What it said when it did not succeed.
pub fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program} ended with {}: {}", output.status, said.trim()))
}
