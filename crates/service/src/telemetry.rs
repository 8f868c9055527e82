//! Logs: one line an event, for people or for machines, on standard error.

use std::io::IsTerminal;

use tracing_subscriber::{EnvFilter, fmt, prelude::*};

use crate::settings::{LogFormat, TelemetrySettings};

/// Installs the subscriber for the whole process.
///
/// # Errors
/// When the filter cannot be read.
pub(crate) fn install(settings: &TelemetrySettings) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&settings.log_filter)?;
    let human = match settings.log_format {
        LogFormat::Human => true,
        LogFormat::Json => false,
        LogFormat::Auto => std::io::stderr().is_terminal(),
    };
    let lines = fmt::layer().with_writer(std::io::stderr);
    if human {
        tracing_subscriber::registry().with(filter).with(lines.with_target(false)).try_init()?;
    } else {
        let json = lines.json().flatten_event(true).with_current_span(false).with_span_list(false);
        tracing_subscriber::registry().with(filter).with(json).try_init()?;
    }
    Ok(())
}
