//! Flags that take a length of time.

use std::fmt;
use std::str::FromStr;

use quorate_sim::random::{Span, T};

/// The longest time that can be asked for, in T.
const LONGEST: u64 = 1_000_000_000;

/// A length of time in T, the mean delay of a message: `20`, or `..20` for anything up to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time(pub(super) Span);

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let ticks = |number: &str| {
            parse_ticks(number).ok_or(format!(
                "expected a time in T such as `20`, or `..20` for anything up to it, not `{text}`"
            ))
        };
        Ok(Self(match text.strip_prefix("..") {
            Some(most) => Span::UpTo(ticks(most)?),
            None => Span::Fixed(ticks(text)?),
        }))
    }
}

/// A decimal number of T, in ticks. By hand, because a float would round.
fn parse_ticks(number: &str) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |part: &str| part.chars().all(|c| c.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole: u64 = whole.parse().ok().filter(|whole| *whole <= LONGEST)?;
    let (mut ticks, mut place) = (whole * T, T);
    for digit in fraction.bytes() {
        place /= 10;
        ticks += u64::from(digit - b'0') * place;
    }
    Some(ticks)
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (lead, ticks) = match self.0 {
            Span::Fixed(ticks) => ("", ticks),
            Span::UpTo(ticks) => ("..", ticks),
        };
        write!(f, "{lead}{}", ticks / T)?;
        match format!("{:06}", ticks % T).trim_end_matches('0') {
            "" => Ok(()),
            fraction => write!(f, ".{fraction}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_exactly_and_written_as_read() {
        let read = |text: &str| text.parse::<Time>().map(|time| time.0);
        assert_eq!(read("20"), Ok(Span::Fixed(20 * T)));
        assert_eq!(read("..0.25"), Ok(Span::UpTo(T / 4)));
        for text in ["0", "20", "..3", "..0.25", "1.000001"] {
            assert_eq!(text.parse::<Time>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "..", "-1", "1,5", "1e3", ".5", "1..2", "9999999999999999999999"] {
            assert!(text.parse::<Time>().is_err(), "{text}");
        }
    }
}
