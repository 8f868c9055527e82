//! `--keep`: the demo goes on in the background when its result is out.
//!
//! The demo runs in a second process of the same program. The first one shows what the second one says until that
//! reports that all is up, and then ends with the demo's exit code.

use std::{
    env,
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::Path,
    process::{Child, Command, ExitCode, Stdio},
};

use anyhow::Context as _;
use rustix::{
    process::{getpid, setsid},
    stdio::{dup2_stderr, dup2_stdout},
};

/// Set for the second process.
const MARK: &str = "ORDEM_DEMO_IN_BACKGROUND";

/// The last byte of what the second process says: all is up, and as it should be …
const UP_CLEAN: u8 = 0x06;

/// … or something differs.
const UP_DIFFERS: u8 = 0x15;

/// Whether this is the second process.
pub fn is_here() -> bool {
    env::var_os(MARK).is_some()
}

/// Runs this program again and shows what it says, until all is up or it has ended.
///
/// # Errors
/// When it cannot be started or read.
pub async fn hand_over() -> anyhow::Result<ExitCode> {
    let child = Command::new(env::current_exe()?)
        .args(env::args_os().skip(1))
        .env(MARK, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start the demo in the background")?;
    // Ctrl-C reaches both processes: the second one clears away, and this one waits for it.
    let mut watched = tokio::task::spawn_blocking(move || watch(child));
    loop {
        tokio::select! {
            code = &mut watched => return code?.context("the demo in the background cannot be read"),
            asked = crate::stop::asked() => asked?,
        }
    }
}

fn watch(mut child: Child) -> io::Result<ExitCode> {
    let mut said = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let mut out = io::stdout();
    let mut buffer = [0; 4096];
    loop {
        let length = said.read(&mut buffer)?;
        let (text, code) = match &buffer[..length] {
            [] => {
                let clean = child.wait()?.success();
                return Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE });
            }
            [text @ .., UP_CLEAN] => (text, Some(ExitCode::SUCCESS)),
            [text @ .., UP_DIFFERS] => (text, Some(ExitCode::FAILURE)),
            text => (text, None),
        };
        out.write_all(text)?;
        out.flush()?;
        if let Some(code) = code {
            return Ok(code);
        }
    }
}

/// Leaves the first process: reports the result, and says the rest into a file.
///
/// # Errors
/// When the file cannot be written.
pub fn detach(clean: bool, log: &Path) -> io::Result<()> {
    // Fails only for the leader of a group, which this process is not; without it, it stays in the group.
    let _ = setsid();
    let mut out = io::stdout();
    out.write_all(&[if clean { UP_CLEAN } else { UP_DIFFERS }])?;
    out.flush()?;
    let log = File::create(log)?;
    dup2_stdout(&log)?;
    dup2_stderr(&log)?;
    Ok(())
}

/// Writes the process ids of what stays up, one a line: this one first, because it stops the others.
///
/// # Errors
/// When the file cannot be written.
pub fn write_pids(path: &Path, daemons: impl Iterator<Item = (u32, &'static str)>) -> io::Result<()> {
    let mut text = format!("{} sandbox\n", own_pid());
    for (pid, name) in daemons {
        text += &format!("{pid} {name}\n");
    }
    fs::write(path, text)
}

/// The process id of the demo.
pub fn own_pid() -> i32 {
    getpid().as_raw_nonzero().get()
}
