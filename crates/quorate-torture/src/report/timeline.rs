//! Timelines: for each lock when it was held, with faults as bands.

use maud::{Markup, html};

use super::since;
use crate::clock::Time;
use crate::judge::{Grant, Judgement, Span};

/// The width of a row, in pixels, and how many seconds it shows.
const WIDTH: usize = 1200;
const SECONDS: u64 = 60;
const ROW: Time = SECONDS * 1_000_000_000;
/// Heights, in pixels.
const HELD: usize = 14;
const HEIGHT: usize = 34;

/// A row for each minute.
pub(super) fn timelines(judgement: &Judgement, name: &str) -> Markup {
    let grants: Vec<&Grant> = judgement.grants.iter().filter(|grant| grant.name == name).collect();
    let mut starts = Vec::new();
    let mut from = judgement.from;
    while from < judgement.until {
        starts.push(from);
        from += ROW;
    }
    html! {
        @for from in starts { (row(judgement, &grants, name, from)) }
    }
}

fn row(judgement: &Judgement, grants: &[&Grant], name: &str, from: Time) -> Markup {
    let within = |start: Time, end: Time| start < from + ROW && end > from;
    let faults = judgement.faults.iter().filter(|fault| within(fault.from, fault.until));
    let of_name = |text: &str| text.starts_with(&format!("{name}:"));
    let broken = judgement
        .violations
        .iter()
        .filter(|violation| (from..from + ROW).contains(&violation.at) && of_name(&violation.text));
    html! {
        svg width=(WIDTH) height=(HEIGHT) viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" {
            title { (name) " from " (format!("{:.0}", since(judgement, from))) " s" }
            @for fault in faults { (band(fault, from)) }
            rect.free x="0" y="18" width=(WIDTH) height=(HELD) {}
            @for (start, length) in held(grants, from) {
                rect.held x=(start) y="18" width=(length) height=(HELD) {}
            }
            @for violation in broken {
                circle.broken cx=(pixel(violation.at, from)) cy="25" r="5" {
                    title { (violation.rule) ": " (violation.text) }
                }
            }
            text.time x="2" y="11" { (format!("{:.0} s", since(judgement, from))) }
        }
    }
}

fn band(fault: &Span, from: Time) -> Markup {
    let (start, end) = (pixel(fault.from, from), pixel(fault.until, from));
    let width = end.saturating_sub(start).max(2);
    html! {
        g {
            title { (fault.name) ": " (fault.text) }
            rect.fault x=(start) y="0" width=(width) height=(HEIGHT) {}
            text.fault-name x=(start + 2) y="11" { (fault.name) }
        }
    }
}

/// The pixel of a time in the row that begins at `from`.
fn pixel(at: Time, from: Time) -> usize {
    let after = u128::from(at.saturating_sub(from).min(ROW));
    usize::try_from(after * WIDTH as u128 / u128::from(ROW)).unwrap_or(WIDTH)
}

/// The pixels in which somebody held the lock, as beginnings and lengths.
fn held(grants: &[&Grant], from: Time) -> Vec<(usize, usize)> {
    let mut pixels = vec![false; WIDTH + 1];
    let within = |grant: &&&Grant| grant.from < from + ROW && grant.until > from;
    for grant in grants.iter().filter(within) {
        pixels[pixel(grant.from, from)..=pixel(grant.until, from)].fill(true);
    }
    let mut bars: Vec<(usize, usize)> = Vec::new();
    for (at, _) in pixels.iter().enumerate().take(WIDTH).filter(|(_, held)| **held) {
        match bars.last_mut() {
            Some((start, length)) if *start + *length == at => *length += 1,
            _ => bars.push((at, 1)),
        }
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::share::Share;

    #[test]
    fn bars_join_where_grants_touch() {
        let second = 1_000_000_000;
        let grant = |from: Time, until: Time| Grant {
            who: String::new(),
            name: "mutex".into(),
            share: Share::Alone,
            fence: 1,
            from: from * second,
            until: until * second,
            lost: false,
        };
        let grants = [grant(0, 1), grant(1, 2), grant(30, 31)];
        let grants: Vec<&Grant> = grants.iter().collect();
        assert_eq!(held(&grants, 0), [(0, 41), (600, 21)]);
    }
}
