//! How a record becomes bytes: JSON with a format number in front.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::StoreError;

/// Raised when a record changes in a way that serde's defaults cannot bridge.
const FORMAT: u32 = 1;

#[derive(Serialize)]
struct Envelope<'a, T> {
    format: u32,
    record: &'a T,
}

#[derive(Deserialize)]
struct Opened<T> {
    record: T,
}

#[derive(Deserialize)]
struct Stamp {
    format: u32,
}

/// # Errors
///
/// [`StoreError::Record`], for a type that JSON cannot hold.
pub(crate) fn encode<T: Serialize>(record: &T) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(&Envelope { format: FORMAT, record }).map_err(StoreError::Record)
}

/// # Errors
///
/// [`StoreError::Format`] for a record of another format, [`StoreError::Record`] for
/// one that is no record at all.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, StoreError> {
    // The stamp first: the rest may look different in another format.
    let stamp: Stamp = serde_json::from_slice(bytes).map_err(StoreError::Record)?;
    if stamp.format != FORMAT {
        return Err(StoreError::Format(stamp.format));
    }
    let opened: Opened<T> = serde_json::from_slice(bytes).map_err(StoreError::Record)?;
    Ok(opened.record)
}
