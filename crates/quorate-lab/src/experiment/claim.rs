//! Claims, and how a measurement compares with one.

use super::{Finding, Row, Verdict, rounded};

/// A claim of a paper, in its words and as a number for the cluster at hand.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    text: &'static str,
    value: f64,
    sense: Sense,
}

/// How a claim relates to its number.
#[derive(Clone, Copy, Debug)]
enum Sense {
    /// This it is, give or take so large a share of it.
    Is(f64),
    /// It is no more.
    AtMost,
    /// It is no less.
    AtLeast,
    /// It does not happen.
    Never,
    /// It is something up to this.
    UpTo(f64),
}

/// How far the last digits of a sum may be off.
const DIGITS: f64 = 1e-9;

/// The relative deviation that is put down to chance.
const CHANCE: f64 = 0.05;

impl Claim {
    /// A claim of an exact figure.
    pub(super) fn exact(text: &'static str, value: f64) -> Self {
        Self { text, value, sense: Sense::Is(DIGITS) }
    }

    /// A claim of an average over sites in no particular order.
    pub(super) fn average(text: &'static str, value: f64) -> Self {
        Self { text, value, sense: Sense::Is(CHANCE) }
    }

    /// A bound: more than this refutes it.
    pub(super) fn at_most(text: &'static str, value: f64) -> Self {
        Self { text, value, sense: Sense::AtMost }
    }

    /// A bound from below.
    pub(super) fn at_least(text: &'static str, value: f64) -> Self {
        Self { text, value, sense: Sense::AtLeast }
    }

    /// A claim that something always holds, beside how soon it is seen not to: 0 if it is not seen.
    pub(super) fn never(text: &'static str) -> Self {
        Self { text, value: 0.0, sense: Sense::Never }
    }

    /// A claim of a figure between two others.
    pub(super) fn between(low: f64, high: f64) -> Self {
        Self { text: "", value: low, sense: Sense::UpTo(high) }
    }

    /// The claim beside a measurement.
    pub(super) fn beside(
        &self,
        name: String,
        condition: String,
        (measured, unit): (f64, &'static str),
        note: &str,
    ) -> Finding {
        Finding::Row(Row {
            name,
            claim: self.spelt(),
            condition,
            measured: rounded(measured),
            unit,
            verdict: self.verdict(measured),
            note: note.to_owned(),
        })
    }

    fn verdict(&self, measured: f64) -> Verdict {
        let over = measured - self.value;
        let share = |share: f64| share * self.value.abs().max(DIGITS);
        let holds = match self.sense {
            Sense::Is(chance) => over.abs() <= share(chance),
            Sense::AtMost | Sense::Never => over <= share(DIGITS),
            Sense::AtLeast => over >= -share(DIGITS),
            Sense::UpTo(high) => over >= -share(CHANCE) && measured <= high + share(CHANCE),
        };
        match self.sense {
            _ if holds => Verdict::Holds,
            Sense::Is(_) | Sense::UpTo(_) => Verdict::Differs,
            Sense::AtMost | Sense::AtLeast | Sense::Never => Verdict::Refuted,
        }
    }

    /// The claim with its value: `3(N-1) = 24`, or the value alone.
    fn spelt(&self) -> String {
        let value = rounded(self.value).to_string();
        let bound = match self.sense {
            Sense::Is(_) => "",
            Sense::AtMost => "at most ",
            Sense::AtLeast => "at least ",
            Sense::Never => return self.text.to_owned(),
            Sense::UpTo(high) => return format!("{value} to {}", rounded(high)),
        };
        match self.text {
            text if text.is_empty() || text == value => format!("{bound}{value}"),
            text => format!("{bound}{text} = {value}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_average_is_met_within_a_twentieth() {
        let claim = Claim::average("N", 100.0);
        let verdicts = [95.1, 104.9, 94.0, 106.0].map(|measured| claim.verdict(measured));
        assert_eq!(verdicts, [Verdict::Holds, Verdict::Holds, Verdict::Differs, Verdict::Differs]);
        assert_eq!(Claim::exact("N", 9.0).verdict(9.001), Verdict::Differs);
    }

    #[test]
    fn only_a_bound_is_refuted() {
        let claim = Claim::at_most("N", 9.0);
        let verdicts = [0.0, 9.0, 9.001].map(|measured| claim.verdict(measured));
        assert_eq!(verdicts, [Verdict::Holds, Verdict::Holds, Verdict::Refuted]);
        assert_eq!(Claim::never("exclusion").verdict(0.0), Verdict::Holds);
        assert_eq!(Claim::never("exclusion").verdict(6.0), Verdict::Refuted);
    }

    #[test]
    fn a_figure_lies_between_two_others() {
        let claim = Claim::between(1.09, 1.18);
        let verdicts = [1.04, 1.23, 1.03, 1.24].map(|measured| claim.verdict(measured));
        assert_eq!(verdicts, [Verdict::Holds, Verdict::Holds, Verdict::Differs, Verdict::Differs]);
        assert_eq!(Claim::at_least("some", 1.0).verdict(1.0), Verdict::Holds);
        assert_eq!(Claim::at_least("some", 1.0).verdict(0.0), Verdict::Refuted);
    }

    #[test]
    fn a_claim_is_spelt_with_its_value() {
        assert_eq!(Claim::exact("log N", 2.0_f64.sqrt()).spelt(), "log N = 1.414");
        assert_eq!(Claim::exact("4", 4.0).spelt(), "4");
        assert_eq!(Claim::at_most("n + 1", 5.0).spelt(), "at most n + 1 = 5");
        assert_eq!(Claim::never("exclusion").spelt(), "exclusion");
        assert_eq!(Claim::at_least("", 1.0).spelt(), "at least 1");
        assert_eq!(Claim::between(1.09, 1.18).spelt(), "1.09 to 1.18");
        assert_eq!(Claim::exact("", 0.000_891_2).spelt(), "0.000891");
    }
}
