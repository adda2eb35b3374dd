//! How hits are cut down until an answer fits.

/// How much of each hit is shown: characters of the snippet, of the first hits and of
/// the others, tags, headings, characters of the title, and which hits have a link. When
/// an answer is too long, what is said of the later hits gives way first: the answer is
/// likelier among the first. Where paths are long, links, which say the path once more,
/// give way before the snippets become too short to choose by.
pub(super) const SHAPES: [Shape; 12] = [
    Shape::of([260, 260], 8, 4, 120, Links::All),
    Shape::of([260, 200], 8, 4, 120, Links::All),
    Shape::of([260, 150], 6, 3, 120, Links::All),
    Shape::of([240, 110], 5, 2, 100, Links::All),
    Shape::of([240, 110], 5, 2, 100, Links::First),
    Shape::of([220, 100], 3, 2, 80, Links::First),
    Shape::of([200, 90], 2, 1, 60, Links::First),
    Shape::of([160, 70], 1, 1, 60, Links::First),
    Shape::of([120, 60], 1, 0, 50, Links::First),
    Shape::of([80, 50], 0, 0, 40, Links::First),
    Shape::of([50, 40], 0, 0, 40, Links::First),
    Shape::of([40, 40], 0, 0, 40, Links::First),
];

/// So many hits are the first ones.
const FIRST: usize = 3;

/// Which hits have a link.
#[derive(Clone, Copy)]
enum Links {
    All,
    /// Only the first ones.
    First,
}

/// How much of each hit is shown.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    snippets: [usize; 2],
    pub(super) tags: usize,
    pub(super) headings: usize,
    pub(super) title: usize,
    links: Links,
}

impl Shape {
    const fn of(
        snippets: [usize; 2],
        tags: usize,
        headings: usize,
        title: usize,
        links: Links,
    ) -> Self {
        Self { snippets, tags, headings, title, links }
    }

    /// Whether a hit has a link, by its place.
    pub(super) fn has_link(self, place: usize) -> bool {
        matches!(self.links, Links::All) || place < FIRST
    }

    /// The characters of the snippet of a hit, by its place.
    pub(super) fn snippet(self, place: usize) -> usize {
        let [first, other] = self.snippets;
        if place < FIRST { first } else { other }
    }
}
