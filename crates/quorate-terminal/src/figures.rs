//! Numbers for people.

use std::time::Duration;

/// A number with its thousands separated: `12 345`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A number and its noun: `1 entry`, `2 entries`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A duration, and the rate of each count: `0.50 s: 1 400 runs a second`.
pub fn per_second(taken: Duration, counts: &[(u64, &str)]) -> String {
    let seconds = taken.as_secs_f64();
    let rate = |(count, things): &(u64, &str)| {
        let rate = ratio(*count, 1).unwrap_or_default() / seconds.max(1e-9);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rough rate")]
        let rate = if rate < 10.0 { format!("{rate:.1}") } else { grouped(rate as u64) };
        format!("{rate} {things} a second")
    };
    format!("{seconds:.2} s: {}", counts.iter().map(rate).collect::<Vec<_>>().join(", "))
}

/// A duration for people: `3.2s`, `4m 10s`.
pub fn short_duration(time: Duration) -> String {
    if time < Duration::from_secs(10) {
        return format!("{:.1}s", time.as_secs_f64());
    }
    humantime::format_duration(Duration::from_secs(time.as_secs())).to_string()
}

/// `whole / parts`; none if `parts` is zero.
pub fn ratio(whole: u64, parts: u64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "figures for people and plots")]
    (parts > 0).then(|| whole as f64 / parts as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        let numbers = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1 000", "1 234 567"]);
    }

    #[test]
    fn rates_are_whole_numbers_unless_they_are_small() {
        let text = per_second(Duration::from_millis(500), &[(700, "runs"), (5000, "messages")]);
        assert_eq!(text, "0.50 s: 1 400 runs a second, 10 000 messages a second");
        assert_eq!(per_second(Duration::from_secs(6), &[(2, "runs")]), "6.00 s: 0.3 runs a second");
    }

    #[test]
    fn short_times_have_a_fraction() {
        let spans = [300, 9_940, 250_400].map(|ms| short_duration(Duration::from_millis(ms)));
        assert_eq!(spans, ["0.3s", "9.9s", "4m 10s"]);
    }

    #[test]
    fn a_ratio_to_zero_does_not_exist() {
        assert_eq!((ratio(3, 2), ratio(3, 0)), (Some(1.5), None));
    }
}
