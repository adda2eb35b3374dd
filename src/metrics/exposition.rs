//! The text that Prometheus reads (exposition formats, text-based format 0.0.4).

use std::fmt::{Display, Write as _};

use super::{Histogram, Label, Tally};

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It only grows, until the next start.
    Counter,
    /// It goes up and down.
    Gauge,
}

/// The text, as far as it is written. Each family of numbers is written at once, as the
/// format asks for.
///
/// Names and labels are texts of the program, which need no escaping.
#[derive(Debug, Default)]
pub struct Exposition(String);

/// A label with its value.
pub(super) type Pair = (&'static str, &'static str);

impl Exposition {
    /// The type of the text, for `Content-Type`.
    pub const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

    /// One number without labels.
    pub fn number(&mut self, kind: Kind, name: &'static str, help: &str, value: impl Display) {
        self.family(kind, name, help, [([], value)]);
    }

    /// Numbers that differ in their labels.
    pub fn family<const LABELS: usize>(
        &mut self,
        kind: Kind,
        name: &'static str,
        help: &str,
        numbers: impl IntoIterator<Item = ([Pair; LABELS], impl Display)>,
    ) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        };
        self.head(kind, name, help);
        for (labels, value) in numbers {
            self.line(name, "", &labels, value);
        }
    }

    /// What was counted by one label.
    pub fn tally<L: Label>(
        &mut self,
        name: &'static str,
        help: &str,
        label: &'static str,
        tally: &Tally<L>,
    ) {
        let counts = tally.counts().map(|(value, count)| ([(label, value)], count));
        self.family(Kind::Counter, name, help, counts);
    }

    /// Durations by one label.
    pub fn histograms<'a>(
        &mut self,
        name: &'static str,
        help: &str,
        label: &'static str,
        histograms: impl IntoIterator<Item = (&'static str, &'a Histogram)>,
    ) {
        self.head("histogram", name, help);
        for (value, histogram) in histograms {
            let mut all = 0;
            for (bound, count) in histogram.cumulative() {
                self.line(name, "_bucket", &[(label, value), ("le", bound)], count);
                all = count;
            }
            self.line(name, "_sum", &[(label, value)], histogram.sum());
            self.line(name, "_count", &[(label, value)], all);
        }
    }

    /// The whole text.
    #[must_use]
    pub fn into_text(self) -> String {
        self.0
    }

    fn head(&mut self, kind: &str, name: &str, help: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, suffix: &str, labels: &[Pair], value: impl Display) {
        let mut separator = '{';
        self.0.extend([name, suffix]);
        for (label, text) in labels {
            let _ = write!(self.0, "{separator}{label}=\"{text}\"");
            separator = ',';
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{end} {value}");
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Exposition, Kind};
    use crate::metrics::{Histogram, Tally, labels};

    labels! {
        enum Fruit { Apple = "apple", Pear = "pear", }
    }

    #[test]
    fn the_text_is_what_prometheus_documents() {
        let tally = Tally::default();
        tally.add(Fruit::Pear);
        tally.add(Fruit::Pear);
        let histogram = Histogram::default();
        histogram.observe(Duration::from_millis(30));
        let mut page = Exposition::default();
        page.number(Kind::Gauge, "basket_size", "How many fit.", 1.5);
        page.tally("eaten_total", "What was eaten.", "fruit", &tally);
        page.histograms("chewing_seconds", "How long.", "fruit", [("apple", &histogram)]);
        let expected = "\
# HELP basket_size How many fit.
# TYPE basket_size gauge
basket_size 1.5
# HELP eaten_total What was eaten.
# TYPE eaten_total counter
eaten_total{fruit=\"apple\"} 0
eaten_total{fruit=\"pear\"} 2
# HELP chewing_seconds How long.
# TYPE chewing_seconds histogram
chewing_seconds_bucket{fruit=\"apple\",le=\"0.001\"} 0
chewing_seconds_bucket{fruit=\"apple\",le=\"0.005\"} 0
chewing_seconds_bucket{fruit=\"apple\",le=\"0.025\"} 0
chewing_seconds_bucket{fruit=\"apple\",le=\"0.1\"} 1
chewing_seconds_bucket{fruit=\"apple\",le=\"0.5\"} 1
chewing_seconds_bucket{fruit=\"apple\",le=\"2.5\"} 1
chewing_seconds_bucket{fruit=\"apple\",le=\"+Inf\"} 1
chewing_seconds_sum{fruit=\"apple\"} 0.03
chewing_seconds_count{fruit=\"apple\"} 1
";
        assert_eq!(page.into_text(), expected);
    }
}
