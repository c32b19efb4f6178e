//! A normal form of states: times become differences, and growing numbers become ranks.
//!
//! Sessions compare times with the clock and with each other, and numbers (of sessions, renewals,
//! incarnations) only by order; a new number is always the largest of its kind. So the future of a
//! state does not depend on the time at which it was reached, nor on how many numbers were used
//! before. Without this, an unlimited world would never return to a known state.
//!
//! The numbers are found in the `Debug` text of a world, which is derived and so has every field.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use quorate_protocol::Tick;

use super::model::TICK;

/// Times further in the past than this are compared by their order only. It is longer than any
/// lease here, so that any deadline computed from them has passed too.
const LONG_AGO: Duration = TICK.saturating_mul(8);

const NUMBERS: [&str; 4] = ["SessionNo", "Renewal", "Incarnation", "HappeningNo"];
const TIME: &str = "Tick";

/// The text of a world with `clock` as the origin of time and ranks for numbers.
pub(super) fn normalized(text: &str, clock: Tick) -> String {
    let mut used: [BTreeSet<u64>; 4] = Default::default();
    let mut old: BTreeSet<u64> = BTreeSet::new();
    let long_ago = (Tick(0) + LONG_AGO).0;
    let oldest = clock.0.saturating_sub(long_ago);
    for (name, _, number) in Numbers(text) {
        if let Some(kind) = NUMBERS.iter().position(|kind| *kind == name) {
            used[kind].insert(number);
        } else if name == TIME && number < oldest {
            old.insert(number);
        }
    }
    let rank = |set: &BTreeSet<u64>, number| set.range(..number).count();
    let mut normal = String::with_capacity(text.len());
    let mut rest = Numbers(text);
    for (name, before, number) in rest.by_ref() {
        normal.push_str(before);
        let kind = NUMBERS.iter().position(|kind| *kind == name);
        let written = match kind {
            Some(kind) => write!(normal, "{}", rank(&used[kind], number)),
            None if name != TIME => write!(normal, "{number}"),
            None if number < oldest => write!(normal, "old {}", rank(&old, number)),
            None => write!(normal, "{}", i128::from(number) - i128::from(clock.0)),
        };
        written.expect("writing to a string cannot fail");
    }
    normal.push_str(rest.0);
    normal
}

/// The numbers in parentheses in a text: the name before the parenthesis, the text since the last
/// number, and the number.
struct Numbers<'a>(&'a str);

impl<'a> Iterator for Numbers<'a> {
    type Item = (&'a str, &'a str, u64);

    fn next(&mut self) -> Option<Self::Item> {
        let mut from = 0;
        loop {
            let open = from + self.0[from..].find('(')?;
            let (before, after) = self.0.split_at(open + 1);
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            if digits > 0 && after[digits..].starts_with(')') {
                let name = self.0[..open].trim_end_matches(|c: char| c.is_alphanumeric());
                let number = after[..digits].parse().ok()?;
                let name = &self.0[name.len()..open];
                self.0 = &after[digits..];
                return Some((name, before, number));
            }
            from = open + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_become_differences_and_numbers_ranks() {
        let clock = Tick(100_000_000_000);
        let text = "A { at: Tick(99000000000), old: [Tick(7), Tick(5)], no: SessionNo(12), \
            Some(SessionNo(40)), Renewal(3), Lease(5), pair: (4, 5) }";
        assert_eq!(
            normalized(text, clock),
            "A { at: Tick(-1000000000), old: [Tick(old 1), Tick(old 0)], no: SessionNo(0), \
            Some(SessionNo(1)), Renewal(0), Lease(5), pair: (4, 5) }"
        );
    }
}
