//! The figures of one workload.

use hdrhistogram::Histogram;
use serde_json::{Value, json};

use super::messages::Sample;

/// One line of the table.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub(super) workload: &'static str,
    pub(super) sites: usize,
    pub(super) callers: usize,
    pub(super) via: &'static str,
    pub(super) p50_us: Option<f64>,
    pub(super) p99_us: Option<f64>,
    pub(super) pairs_per_s: Option<f64>,
    pub(super) cpu_us_per_pair: Option<f64>,
    /// Protocol messages between sites.
    pub(super) messages_per_pair: Option<f64>,
    pub(super) jain: Option<f64>,
    pub(super) ratio_to_raw: Option<f64>,
    /// The median as a multiple of the lease, if the lease determines it.
    pub(super) leases: Option<f64>,
    /// The CPU time of all idle processes, as a share of one processor.
    pub(super) cpu_percent: Option<f64>,
}

impl Row {
    /// Sets the quantiles from times in nanoseconds.
    pub(super) fn set_times(&mut self, times: &[u64]) {
        let quantiles = quantiles(times);
        (self.p50_us, self.p99_us) = (quantiles.map(|q| q.0), quantiles.map(|q| q.1));
    }

    /// Sets the ratio of the median to the raw one.
    pub(super) fn compare(&mut self, raw_us: Option<f64>) {
        self.ratio_to_raw = self.p50_us.zip(raw_us).map(|(own, raw)| own / raw);
    }

    pub(super) fn json(&self) -> Value {
        let mut row = json!({
            "workload": self.workload,
            "sites": self.sites,
            "callers": self.callers,
            "via": self.via,
            "p50_us": self.p50_us,
            "p99_us": self.p99_us,
            "pairs_per_s": self.pairs_per_s,
            "cpu_us_per_pair": self.cpu_us_per_pair,
            "messages_per_pair": self.messages_per_pair,
            "jain": self.jain,
            "ratio_to_raw": self.ratio_to_raw,
        });
        for (key, value) in [("leases", self.leases), ("cpu_percent", self.cpu_percent)] {
            if let Some(value) = value {
                row[key] = value.into();
            }
        }
        row
    }
}

/// The median and the 99th percentile of times in nanoseconds, in microseconds.
pub(super) fn quantiles(times: &[u64]) -> Option<(f64, f64)> {
    let mut histogram = Histogram::<u64>::new(3).expect("three digits are fine");
    histogram.auto(true);
    for &time in times {
        histogram.record(time).expect("it grows as it has to");
    }
    let at = |quantile: f64| histogram.value_at_quantile(quantile) as f64 / 1000.0;
    (!histogram.is_empty()).then(|| (at(0.5), at(0.99)))
}

/// Jain's fairness index: 1 if all shares are equal, 1/n if one of n gets everything.
pub(super) fn jain(shares: &[usize]) -> Option<f64> {
    let total: f64 = shares.iter().map(|&share| share as f64).sum();
    let squares: f64 = shares.iter().map(|&share| (share as f64).powi(2)).sum();
    (squares > 0.0).then(|| total * total / (shares.len() as f64 * squares))
}

/// The times between a release and the next grant, if its caller was already waiting.
pub(super) fn hand_overs(mut samples: Vec<Sample>) -> Vec<u64> {
    samples.sort_by_key(|sample| sample.fence);
    let pairs = samples.windows(2).map(|pair| (pair[0], pair[1]));
    let waited = pairs.filter(|(before, next)| next.asked < before.released);
    waited.map(|(before, next)| next.granted.saturating_sub(before.released)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_in_microseconds() {
        let times: Vec<u64> = (1..=100).map(|time| time * 1000).collect();
        let (p50, p99) = quantiles(&times).unwrap();
        assert!((p50 - 50.0).abs() < 0.1 && (p99 - 99.0).abs() < 0.1, "{p50} {p99}");
        assert_eq!(quantiles(&[]), None);
    }

    #[test]
    fn equal_shares_are_fair_and_one_takes_all_is_not() {
        assert_eq!(jain(&[5, 5, 5]), Some(1.0));
        assert_eq!(jain(&[9, 0, 0]), Some(1.0 / 3.0));
        assert_eq!(jain(&[0, 0]), None);
    }

    #[test]
    fn only_grants_to_waiters_are_hand_overs() {
        let sample = |fence, asked, granted, released| Sample { fence, asked, granted, released };
        let samples = vec![sample(3, 40, 50, 60), sample(1, 0, 5, 10), sample(2, 2, 13, 20)];
        assert_eq!(hand_overs(samples), [3], "the third had not asked when the second left");
    }
}
