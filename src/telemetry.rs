//! Logging: where it goes and what it never holds.
//!
//! Tokens, codes, passwords and page text are not logged anywhere. rmcp logs whole
//! tool arguments and results below `warn`, so it is held at `warn` whatever the
//! filter says, unless the filter names it.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

use crate::configuration::{LogFormat, LogSettings};

/// Sends events to standard error from now on.
///
/// # Errors
///
/// [`ParseError`] if the filter is none. A second call changes nothing: an
/// embedding program may have set its own subscriber.
pub fn start(settings: &LogSettings) -> Result<(), ParseError> {
    let quiet = if settings.filter.contains("rmcp") { "" } else { ",rmcp=warn" };
    let filter = EnvFilter::try_new(format!("{}{quiet}", settings.filter))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match settings.format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    if started.is_err() {
        tracing::debug!("logging was set up before");
    }
    Ok(())
}
