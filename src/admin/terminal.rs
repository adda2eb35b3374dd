//! How commands write to the terminal.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

/// Whether text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// For files, other programs, and who set `NO_COLOR`.
    Plain,
    /// For people.
    Coloured,
}

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// What to look at first.
    Title,
    /// What matches.
    Match,
    /// What is there if it is needed.
    Aside,
}

/// Tells that a command failed, and why: on standard error, and for a program, which reads
/// the standard output, as an object with `error`.
#[must_use]
pub fn fail(reason: &str, as_json: bool, code: ExitCode) -> ExitCode {
    if as_json {
        let object = json!({ "error": reason });
        // Whoever reads no further has the status.
        let _ = writeln!(io::stdout(), "{object:#}");
    }
    eprintln!("brain-mcp: {reason}");
    code
}

impl Paint {
    /// What a stream wants: whether it is a terminal, and what the environment says.
    #[must_use]
    pub fn of(stream: &impl RawStream) -> Self {
        match AutoStream::choice(stream) {
            ColorChoice::Never => Self::Plain,
            ColorChoice::Auto | ColorChoice::AlwaysAnsi | ColorChoice::Always => Self::Coloured,
        }
    }

    /// Somebody else's text, on one line and without control characters, in its colour.
    pub(super) fn text(self, role: Role, text: &str) -> String {
        let text: String = text.chars().map(printable).collect();
        let start = match (self, role) {
            (Self::Plain, _) => return text,
            (Self::Coloured, Role::Title) => "\u{1b}[1m",
            (Self::Coloured, Role::Match) => "\u{1b}[1;33m",
            (Self::Coloured, Role::Aside) => "\u{1b}[2m",
        };
        format!("{start}{text}\u{1b}[0m")
    }
}

/// A text of a page or a file name is somebody else's: it does not write to the terminal.
pub(super) fn printable(character: char) -> char {
    if character.is_control() { '\u{fffd}' } else { character }
}

/// Shows that something takes its time, on a terminal only; gone when the value is.
#[derive(Debug)]
pub(super) struct Working(ProgressBar);

impl Working {
    /// How often it moves.
    const TICK: Duration = Duration::from_millis(100);

    /// While nobody knows how long it takes.
    const SPINNER: &str = "{spinner} {msg}";

    /// While it is counted.
    const BAR: &str = "{msg} {wide_bar} {human_pos} of {human_len}";

    pub(super) fn on(words: &'static str) -> Self {
        // Draws nothing where standard error is no terminal.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let working = Self(bar);
        working.look(Self::SPINNER);
        working.goes_on_with(words);
        working.0.enable_steady_tick(Self::TICK);
        working
    }

    pub(super) fn goes_on_with(&self, words: &'static str) {
        self.0.set_message(words);
    }

    /// Shows how much of it is done.
    pub(super) fn show(&self, done: usize, all: usize) {
        if self.0.length() != Some(all as u64) {
            self.look(Self::BAR);
            self.0.set_length(all as u64);
        }
        self.0.set_position(done as u64);
    }

    fn look(&self, template: &str) {
        // A test has tried both.
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.0.set_style(style);
        }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Ends a command quietly if nobody reads its answer any more (`brain-mcp search x | head`).
pub(super) fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

#[cfg(test)]
mod tests {
    use indicatif::ProgressStyle;

    use super::{Paint, Role, Working};

    #[test]
    fn text_is_made_harmless_before_it_is_coloured() {
        assert_eq!(Paint::Plain.text(Role::Title, "a\u{1b}[31m\n"), "a\u{fffd}[31m\u{fffd}");
        assert_eq!(Paint::Coloured.text(Role::Title, "a\u{7}"), "\u{1b}[1ma\u{fffd}\u{1b}[0m");
    }

    #[test]
    fn what_is_counted_has_a_bar() {
        for template in [Working::SPINNER, Working::BAR] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
        let working = Working::on("reading");
        assert_eq!(working.0.length(), None);
        working.show(3, 10);
        assert_eq!((working.0.position(), working.0.length()), (3, Some(10)));
    }
}
