//! Notes of any number, the same each time: words by Zipf's law.

/// Makes notes of about 700 words out of a vocabulary of 40,000.
pub(crate) struct Notes {
    state: u64,
    vocabulary: Vec<String>,
    /// The sums of the words' frequencies.
    sums: Vec<f64>,
}

impl Notes {
    pub(crate) fn new() -> Self {
        let mut notes =
            Self { state: 0x9e37_79b9_7f4a_7c15, vocabulary: Vec::new(), sums: Vec::new() };
        let (mut sum, mut rank) = (0.0, 3.0);
        while notes.vocabulary.len() < 40_000 {
            let syllables = 2 + notes.below(4);
            let word: String = (0..syllables).map(|_| notes.syllable()).collect();
            notes.vocabulary.push(word);
            sum += 1.0 / rank;
            rank += 1.0;
            notes.sums.push(sum);
        }
        notes
    }

    /// So many words in a row.
    pub(crate) fn text(&mut self, words: usize) -> String {
        let mut text = String::new();
        for _ in 0..words {
            let word = self.word();
            text.push_str(&self.vocabulary[word]);
            text.push(' ');
        }
        text
    }

    /// One of the words that are as frequent as the one of this rank, or more.
    pub(crate) fn frequent(&mut self, ranks: usize) -> &str {
        let rank = self.below(ranks);
        &self.vocabulary[rank]
    }

    fn word(&mut self) -> usize {
        let all = self.sums.last().copied().unwrap_or_default();
        let wanted =
            f64::from(u32::try_from(self.below(1 << 30)).unwrap_or(0)) / f64::from(1 << 30) * all;
        self.sums.partition_point(|sum| *sum <= wanted).min(self.sums.len() - 1)
    }

    fn syllable(&mut self) -> &'static str {
        const ALL: &str =
            "babebibobudadedidodufafefikakekikokulalelilolumamemimomunanenonupapepiporareriroru";
        let at = 2 * self.below(ALL.len() / 2);
        &ALL[at..at + 2]
    }

    /// xorshift64*.
    fn below(&mut self, end: usize) -> usize {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        let mixed = self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(mixed).unwrap_or(0) % end
    }
}
