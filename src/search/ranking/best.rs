//! Keeps the best of many.

use std::cmp::Ordering;

/// The best items in an order that tells any two apart.
pub(super) struct Best<T, O: Fn(&T, &T) -> Ordering> {
    items: Vec<T>,
    most: usize,
    order: O,
    /// Whether `items` were cut to the best, so that the last of them bounds what can
    /// still get in.
    is_cut: bool,
}

impl<T, O: Fn(&T, &T) -> Ordering> Best<T, O> {
    /// At most so many, those first that are smaller in the order.
    pub(super) fn new(most: usize, order: O) -> Self {
        Self { items: Vec::new(), most, order, is_cut: false }
    }

    pub(super) fn offer(&mut self, item: T) {
        if self.is_cut
            && let Some(last) = self.items.get(self.most - 1)
            && (self.order)(&item, last).is_ge()
        {
            return;
        }
        self.items.push(item);
        if self.items.len() >= self.most.saturating_mul(2).max(64) {
            self.cut();
        }
    }

    /// The best, in order.
    pub(super) fn into_sorted(mut self) -> Vec<T> {
        self.items.sort_unstable_by(&self.order);
        self.items.truncate(self.most);
        self.items
    }

    /// Leaves only the best, the worst of them last.
    fn cut(&mut self) {
        if self.most > 0 && self.items.len() > self.most {
            self.items.select_nth_unstable_by(self.most - 1, &self.order);
        }
        self.items.truncate(self.most);
        self.is_cut = self.most > 0;
    }
}

#[cfg(test)]
mod tests {
    use super::Best;

    #[test]
    fn the_best_of_many_are_those_that_sorting_puts_first() {
        for most in [0, 1, 2, 7, 40, 1_000] {
            let mut best = Best::new(most, u32::cmp);
            let items: Vec<u32> = (0..500_u32).map(|number| number * 7_919 % 503).collect();
            for item in &items {
                best.offer(*item);
            }
            let mut sorted = items;
            sorted.sort_unstable();
            sorted.truncate(most);
            assert_eq!(best.into_sorted(), sorted, "{most}");
        }
    }
}
