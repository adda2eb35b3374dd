//! Logging: where it goes and what it never holds.
//!
//! Tokens, codes, passwords and page text are not logged anywhere. rmcp logs whole
//! tool arguments and results below `warn`, and sled what it is asked for and given, so
//! they are held at `warn` whatever the filter says, unless the filter names them.

use std::fmt;
use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{DefaultFields, Writer};

use crate::configuration::{LogFormat, LogSettings};

/// Sends events to standard error from now on.
///
/// # Errors
///
/// [`ParseError`] if the filter is none. A second call changes nothing: an
/// embedding program may have set its own subscriber.
pub fn start(settings: &LogSettings) -> Result<(), ParseError> {
    let mut filter = settings.filter.clone();
    for talkative in ["rmcp", "sled"] {
        if !settings.filter.contains(talkative) {
            filter = format!("{filter},{talkative}=warn");
        }
    }
    let filter = EnvFilter::try_new(filter)?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        // It would say so on standard error, and panic where that is what is broken.
        .log_internal_errors(false);
    let started = match settings.format {
        LogFormat::Text => builder.fmt_fields(OneLine::default()).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    if started.is_err() {
        tracing::debug!("logging was set up before");
    }
    Ok(())
}

/// Writes fields with everything escaped that could end the line or command a
/// terminal. Clients choose some of them, the path of a page for one, and could
/// otherwise write lines of their own into the log. JSON escapes by itself.
#[derive(Default)]
struct OneLine(DefaultFields);

impl<'writer> FormatFields<'writer> for OneLine {
    fn format_fields<R: RecordFields>(
        &self,
        mut writer: Writer<'writer>,
        fields: R,
    ) -> fmt::Result {
        let mut text = String::new();
        self.0.format_fields(Writer::new(&mut text), fields)?;
        for character in text.chars() {
            if misleads(character) {
                write!(writer, "{}", character.escape_default())?;
            } else {
                writer.write_char(character)?;
            }
        }
        Ok(())
    }
}

/// Control characters, line ends, and what turns the direction of a text.
fn misleads(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::OneLine;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_client_cannot_write_lines_of_its_own() {
        let written = Written::default();
        let writer = written.clone();
        let subscriber = tracing_subscriber::fmt()
            .fmt_fields(OneLine::default())
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        let path = "a\nINFO signed in\r\u{1b}[2J\u{9b}1m\u{202e}é.md";
        tracing::subscriber::with_default(subscriber, || {
            let _span = tracing::info_span!("request", path = %path).entered();
            tracing::info!(%path, ?path, "refused {path}");
        });
        let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert_eq!(text.matches("é.md").count(), 4, "{text}");
        let one_line = text.trim_end_matches('\n');
        assert!(!one_line.contains(|character: char| character.is_control()), "{text}");
        assert!(!one_line.contains('\u{202e}'), "{text}");
    }
}
