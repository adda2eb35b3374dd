//! Numbers in as few bytes as they need: seven bits a byte, the lowest first.

/// Appends a number.
pub(super) fn write(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(low_bits(value) | 0x80);
        value >>= 7;
    }
    out.push(low_bits(value));
}

/// Puts a number at a place that is there already, and moves behind it.
pub(super) fn put(out: &mut [u8], at: &mut usize, mut value: u32) {
    while value >= 0x80 {
        out[*at] = low_bits(value) | 0x80;
        *at += 1;
        value >>= 7;
    }
    out[*at] = low_bits(value);
    *at += 1;
}

/// How many bytes a number takes.
pub(super) const fn length(value: u32) -> u32 {
    match value {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        0x20_0000..0x1000_0000 => 4,
        _ => 5,
    }
}

/// Reads the number at a place and moves behind it. What ends too early reads as if
/// zeros followed.
#[inline]
pub(super) fn read(bytes: &[u8], at: &mut usize) -> u32 {
    let first = byte(bytes, at);
    if first < 0x80 {
        return u32::from(first);
    }
    let mut value = u32::from(first & 0x7f);
    let mut shift = 7;
    loop {
        let next = byte(bytes, at);
        value |= u32::from(next & 0x7f) << shift;
        shift += 7;
        if next < 0x80 || shift > 28 {
            return value;
        }
    }
}

#[inline]
fn byte(bytes: &[u8], at: &mut usize) -> u8 {
    let byte = bytes.get(*at).copied().unwrap_or(0);
    *at += 1;
    byte
}

fn low_bits(value: u32) -> u8 {
    (value & 0x7f) as u8
}

#[cfg(test)]
mod tests {
    use super::{length, put, read, write};

    #[test]
    fn every_number_comes_back_from_as_many_bytes_as_are_announced() {
        let edges = [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 268_435_455];
        for value in edges.into_iter().chain([268_435_456, u32::MAX]) {
            let mut bytes = Vec::new();
            write(&mut bytes, value);
            assert_eq!(bytes.len(), length(value) as usize, "{value}");
            let mut at = 0;
            assert_eq!(read(&bytes, &mut at), value);
            assert_eq!(at, bytes.len());
            let mut copy = vec![0; bytes.len()];
            put(&mut copy, &mut 0, value);
            assert_eq!(copy, bytes);
        }
    }

    #[test]
    fn a_number_that_is_cut_off_is_no_panic() {
        assert_eq!(read(&[0xff], &mut 0), 0x7f);
        assert_eq!(read(&[], &mut 3), 0);
    }
}
