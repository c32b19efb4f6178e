//! Limits how often the same line is logged.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_session::Tick;

/// Lets each line pass at most once a minute, and counts what it holds back.
///
/// It keeps a limited number of lines; all further ones share one limit, so that strangers who
/// make up new lines can fill neither the log nor the memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogLimit {
    lines: BTreeMap<String, Line>,
    others: Option<Line>,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    logged: Tick,
    suppressed: u64,
}

impl LogLimit {
    /// How long a line is held back after it was logged.
    pub(crate) const PAUSE: Duration = Duration::from_mins(1);

    /// The most lines that have limits of their own.
    pub(crate) const MOST: usize = 256;

    /// A line is to be logged. Says how often it was held back since it was last logged; `None` if
    /// it is held back now.
    pub(crate) fn pass(&mut self, line: &str, now: Tick) -> Option<u64> {
        if let Some(line) = self.lines.get_mut(line) {
            return line.pass(now);
        }
        if self.lines.len() >= Self::MOST {
            self.lines.retain(|_, line| now < line.logged + Self::PAUSE);
        }
        let first = Line { logged: now, suppressed: 0 };
        if self.lines.len() < Self::MOST {
            self.lines.insert(line.to_owned(), first);
            return Some(0);
        }
        match &mut self.others {
            Some(others) => others.pass(now),
            None => {
                self.others = Some(first);
                Some(0)
            }
        }
    }
}

impl Line {
    fn pass(&mut self, now: Tick) -> Option<u64> {
        if now < self.logged + LogLimit::PAUSE {
            self.suppressed += 1;
            return None;
        }
        let suppressed = self.suppressed;
        *self = Line { logged: now, suppressed: 0 };
        Some(suppressed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Tick {
        Tick(0) + Duration::from_secs(seconds)
    }

    #[test]
    fn a_line_passes_once_a_minute_with_a_count() {
        let mut limit = LogLimit::default();
        assert_eq!(limit.pass("a", at(5)), Some(0));
        assert_eq!(limit.pass("b", at(5)), Some(0), "another line");
        for second in 6..65 {
            assert_eq!(limit.pass("a", at(second)), None);
        }
        assert_eq!(limit.pass("a", at(65)), Some(59));
        assert_eq!(limit.pass("a", at(66)), None);
        assert_eq!(limit.pass("a", at(200)), Some(1));
    }

    #[test]
    fn too_many_lines_share_a_limit() {
        let mut limit = LogLimit::default();
        let mut logged = 0;
        for n in 0..10_000 {
            logged += usize::from(limit.pass(&format!("line {n}"), at(1)).is_some());
        }
        assert_eq!((logged, limit.lines.len()), (LogLimit::MOST + 1, LogLimit::MOST));
        assert_eq!(limit.pass("line 9999", at(2)), None);
        assert_eq!(limit.pass("new", at(61)), Some(0), "the earlier lines are forgotten");
        assert_eq!(limit.lines.len(), 1);
    }
}
