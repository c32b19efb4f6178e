//! Times, as scripts and options spell them.

use std::time::Duration;

/// The units of a time, with their length in nanoseconds.
const UNITS: [(&str, u64); 5] =
    [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000)];

/// The units, as an error lists them.
pub(crate) const EXPECTED: &str = "a number with ns, us, ms, s or m, as in `50ms` or `1s500ms`";

/// Reads a time as in `50ms` or `1s500ms`; `None` if it is none, or too long for 64 bits of
/// nanoseconds.
pub(crate) fn parse_time(text: &str) -> Option<Duration> {
    let (mut rest, mut total) = (text, 0_u64);
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = rest.split_at(digits);
        let letters = after.bytes().take_while(u8::is_ascii_lowercase).count();
        let (unit, after) = after.split_at(letters);
        let (_, length) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
        total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(length)?)?;
        rest = after;
    }
    (!text.is_empty()).then_some(Duration::from_nanos(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_one_or_more_numbers_with_units() {
        let read = |text| parse_time(text).map(|time| time.as_nanos());
        assert_eq!(read("7ns"), Some(7));
        assert_eq!(read("20us"), Some(20_000));
        assert_eq!(read("50ms"), Some(50_000_000));
        assert_eq!(read("0s"), Some(0));
        assert_eq!(read("1m2s3ms"), Some(62_003_000_000));
        for wrong in ["", "50", "ms", "50 ms", "-1s", "1.5s", "1h", "9999999999m", "1µs"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
