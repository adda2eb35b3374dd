//! Makes segments of bounded size for all partitions, one writer a thread.

use super::builder::SegmentBuilder;
use super::document::{Document, PartitionId};
use super::segment::Segment;
use crate::search::analysis::Analyzer;

/// When the segments in the making take so much memory, the largest is closed.
const MOST_BYTES: usize = 12 << 20;

/// Collects documents and hands over segments. The memory that it takes is bounded;
/// what it has handed over belongs to the caller.
pub struct Writer<P> {
    builders: [Option<SegmentBuilder<P>>; PartitionId::COUNT],
}

impl<P> Default for Writer<P> {
    fn default() -> Self {
        Self { builders: std::array::from_fn(|_| None) }
    }
}

impl<P> Writer<P> {
    /// Adds a document to a partition. If the documents collected so far take too much
    /// memory, a segment comes back.
    #[must_use = "a segment that is dropped is lost"]
    pub fn add(
        &mut self,
        partition: PartitionId,
        analyzer: &mut Analyzer,
        document: Document<'_, P>,
    ) -> Option<(PartitionId, Segment<P>)> {
        self.builders[partition.index()]
            .get_or_insert_with(SegmentBuilder::new)
            .add(analyzer, document);
        (self.bytes() > MOST_BYTES).then(|| self.close_largest()).flatten()
    }

    /// Hands over what is left.
    #[must_use = "a segment that is dropped is lost"]
    pub fn finish(mut self) -> Vec<(PartitionId, Segment<P>)> {
        std::iter::from_fn(|| self.close_largest()).collect()
    }

    /// About how much memory the documents collected so far take, payloads aside.
    fn bytes(&self) -> usize {
        self.builders.iter().flatten().map(SegmentBuilder::bytes).sum()
    }

    fn close_largest(&mut self) -> Option<(PartitionId, Segment<P>)> {
        let bytes =
            |builder: &Option<SegmentBuilder<P>>| builder.as_ref().map(SegmentBuilder::bytes);
        let (number, largest) =
            self.builders.iter_mut().enumerate().max_by_key(|(_, builder)| bytes(builder))?;
        let partition = u8::try_from(number).ok().and_then(PartitionId::new)?;
        Some((partition, largest.take()?.finish()))
    }
}
