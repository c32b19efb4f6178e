//! The scale of an axis: where its values lie, and which of them are named.

use std::ops::Range;

use crate::Axis;

/// How many values of an axis are named, at most.
const TICKS_MAX: usize = 7;

/// An axis that is laid off evenly: of powers the exponents are.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    powers: bool,
    /// From end to end.
    pub(super) range: Range<f64>,
    /// The places that are named.
    pub(super) ticks: Vec<f64>,
}

impl Scale {
    /// The scale of `axis` for these values, from 0 on if `grounded` and not in powers. There is
    /// none for no values.
    pub(super) fn of(axis: &Axis, values: &[f64], grounded: bool) -> Option<Self> {
        let places = values.iter().filter_map(|value| place(axis.powers, *value));
        let (least, most) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), at| {
            (least.min(at), most.max(at))
        });
        if least > most {
            return None;
        }
        let least = if grounded && !axis.powers { least.min(0.0) } else { least };
        // One value alone is no range.
        let room = if most > least { (most - least) * 0.04 } else { 0.5 };
        let low = if grounded && least == 0.0 { 0.0 } else { least - room };
        let range = low..most + room;
        // Counts have no halves.
        let least_step = if values.iter().all(|value| value.fract() == 0.0) { 1.0 } else { 0.0 };
        let ticks = if axis.powers { powers(&range) } else { steps(&range, least_step) };
        Some(Self { powers: axis.powers, range, ticks })
    }

    /// Where a value lies, if it can be shown.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        place(self.powers, value)
    }

    /// The value at a place, for people.
    pub(super) fn spelt(&self, at: f64) -> String {
        let value = if self.powers { 10_f64.powf(at) } else { at };
        if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) {
            return format!("{value:.0e}");
        }
        // Steps of a tenth would show how binary fractions are rounded.
        format!("{}", (value * 1e4).round() / 1e4)
    }
}

fn place(powers: bool, value: f64) -> Option<f64> {
    let at = if powers { value.log10() } else { value };
    at.is_finite().then_some(at)
}

/// Round numbers: 1, 2 or 5 of some power of ten apart.
fn steps(range: &Range<f64>, least_step: f64) -> Vec<f64> {
    let rough = ((range.end - range.start) / TICKS_MAX as f64).max(least_step);
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power);
    let step = step.into_iter().find(|step| *step >= rough).unwrap_or(10.0 * power);
    within(range, step)
}

/// Powers of ten; where they are few, also twice and five times them, or any round numbers.
fn powers(range: &Range<f64>) -> Vec<f64> {
    let tens = within(range, 1.0);
    if tens.len() > TICKS_MAX {
        let every = tens.len().div_ceil(TICKS_MAX) as f64;
        return within(range, every);
    }
    if tens.len() > 2 {
        return tens;
    }
    let first = range.start.floor();
    let last = range.end.ceil();
    let decades = (0..).map(|n| first + f64::from(n)).take_while(|at| *at <= last);
    let fine = decades.flat_map(|at| [1.0_f64, 2.0, 5.0].map(|part| at + part.log10()));
    let fine: Vec<f64> = fine.filter(|at| range.contains(at)).collect();
    if fine.len() > 2 {
        return fine;
    }
    let values = 10_f64.powf(range.start)..10_f64.powf(range.end);
    steps(&values, 0.0).into_iter().map(f64::log10).collect()
}

/// The multiples of `step` in `range`.
fn within(range: &Range<f64>, step: f64) -> Vec<f64> {
    let first = (range.start / step).ceil();
    let multiples = (0..).map(|n| (first + f64::from(n)) * step);
    multiples.take_while(|at| *at <= range.end + step * 1e-9).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(axis: &Axis, values: &[f64]) -> Vec<String> {
        let scale = Scale::of(axis, values, true).unwrap();
        scale.ticks.iter().map(|at| scale.spelt(*at)).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(named(&Axis::even("x"), &[0.3, 2.0]), ["0", "0.5", "1", "1.5", "2"]);
        assert_eq!(named(&Axis::even("x"), &[1.0, 3.0]), ["0", "1", "2", "3"]);
        assert_eq!(named(&Axis::even("x"), &[9.0, 100.0]), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(named(&Axis::powers("x"), &[0.01, 10.0]), ["0.01", "0.1", "1", "10"]);
        assert_eq!(named(&Axis::powers("x"), &[4.0, 80.0]), ["5", "10", "20", "50"]);
    }

    #[test]
    fn a_short_scale_has_more_than_one_tick() {
        assert_eq!(named(&Axis::powers("x"), &[0.3, 0.7]), ["0.3", "0.4", "0.5", "0.6", "0.7"]);
    }

    #[test]
    fn many_powers_are_thinned() {
        let names = named(&Axis::powers("x"), &[1e-12, 1.0]);
        assert_eq!(names, ["1e-12", "1e-10", "1e-8", "1e-6", "1e-4", "0.01", "1"]);
    }

    #[test]
    fn what_has_no_place_is_left_out() {
        let axis = Axis::powers("x");
        assert!(Scale::of(&axis, &[0.0, -1.0, f64::NAN], true).is_none());
        let scale = Scale::of(&axis, &[0.0, 10.0], true).unwrap();
        assert!(scale.place(0.0).is_none() && scale.place(100.0).is_some());
    }
}
