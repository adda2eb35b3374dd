//! How often strangers may have us call others, so that we are nobody's battering ram
//! (checklist #115).

use std::collections::VecDeque;

use crate::clock::UnixTime;

/// The fetches of the last minute.
#[derive(Debug, Default)]
pub(super) struct Budget(VecDeque<(UnixTime, Box<str>)>);

impl Budget {
    const SECONDS: u64 = 60;
    /// To all sites together.
    const IN_ALL: usize = 120;
    /// To one site.
    const FOR_ONE: usize = 30;

    /// Spends one fetch from the site, if there is one left.
    pub(super) fn spend(&mut self, site: &str, now: UnixTime) -> bool {
        let is_over = |at: UnixTime| now < at || now.since(at).as_secs() >= Self::SECONDS;
        while self.0.front().is_some_and(|(at, _)| is_over(*at)) {
            self.0.pop_front();
        }
        let here = self.0.iter().filter(|(_, other)| **other == *site).count();
        let is_left = self.0.len() < Self::IN_ALL && here < Self::FOR_ONE;
        if is_left {
            self.0.push_back((now, site.into()));
        }
        is_left
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Budget;
    use crate::clock::UnixTime;

    /// Checklist 115: per-origin and global budgets hold.
    #[test]
    fn each_site_and_all_together_have_a_budget() {
        let start = UnixTime::from_seconds(1_000);
        let mut budget = Budget::default();
        let spent = (0..100).filter(|_| budget.spend("one.example", start)).count();
        assert_eq!(spent, 30);
        let spent = (0..500).filter(|n| budget.spend(&format!("{n}.example"), start)).count();
        assert_eq!(spent, 90, "120 in all");
        assert!(!budget.spend("one.example", start + Duration::from_secs(59)));
        assert!(budget.spend("one.example", start + Duration::from_secs(60)));
    }
}
