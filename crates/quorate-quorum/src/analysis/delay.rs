//! Quorums that answer soon, when it is known how far each site is.

use super::error::AnalysisError;
use super::load::{Choice, Class, check_speeds, mixed_load};
use super::program;
use crate::{QuorumError, QuorumSystem, SiteId, SiteSet};

/// A strategy of least mean delay.
#[derive(Clone, Debug, PartialEq)]
pub struct LeastDelay {
    /// The mean over all accesses of the delay of the slowest site asked.
    pub mean: f64,
    /// Which quorums to use how often.
    pub strategy: Vec<Choice>,
}

/// A quorum whose slowest member is as near as possible, and the delay of that member.
///
/// # Errors
///
/// Not one delay for each site, or one that is negative or no number.
///
/// ```
/// use quorate_quorum::{Kind, analysis::nearest_by_worst, build};
/// let delays = [40.0, 1.0, 2.0, 30.0, 3.0];
/// let (quorum, slowest) = nearest_by_worst(&*build(Kind::Majority, 5)?, &delays)?;
/// assert_eq!((quorum.to_string().as_str(), slowest), ("{2 3 5}", 3.0));
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
pub fn nearest_by_worst(
    system: &dyn QuorumSystem,
    delays: &[f64],
) -> Result<(SiteSet, f64), QuorumError> {
    check_delays(system.n(), delays)?;
    let mut order: Vec<_> = SiteId::all(system.n()).collect();
    order.sort_by(|a, b| delays[a.index()].total_cmp(&delays[b.index()]));
    let first = |count: usize| order[..count].iter().copied().collect::<SiteSet>();
    // Whether the nearest sites contain a quorum only ever turns from no to yes.
    let counts: Vec<usize> = (1..=order.len()).collect();
    let enough = counts.partition_point(|count| !system.is_quorum(&first(*count))) + 1;
    let quorum = system.pick(&first(enough), &order).expect("these contain a quorum");
    let slowest = worst(&quorum, delays);
    Ok((quorum, slowest))
}

/// The quorum whose delays have the least sum, and that sum.
///
/// # Errors
///
/// Not one delay for each site, one that is negative or no number, or no quorum at all.
pub fn nearest_by_sum(
    n: usize,
    quorums: &[SiteSet],
    delays: &[f64],
) -> Result<(SiteSet, f64), QuorumError> {
    check_delays(n, delays)?;
    let sum = |quorum: &SiteSet| quorum.iter().map(|site| delays[site.index()]).sum::<f64>();
    let nearest = quorums.iter().map(|quorum| (quorum.clone(), sum(quorum)));
    nearest.min_by(|a, b| a.1.total_cmp(&b.1)).ok_or(QuorumError::NoQuorum)
}

/// The strategy of least mean delay that gives no site more than `limit` of its speed.
///
/// # Errors
///
/// Delays or speeds as they cannot be, no quorum at all, or [`AnalysisError::LoadLimit`] with the
/// least load there is.
pub fn least_delay(
    quorums: &[SiteSet],
    delays: &[f64],
    speeds: &[f64],
    limit: f64,
) -> Result<LeastDelay, QuorumError> {
    check_delays(speeds.len(), delays)?;
    check_speeds(speeds)?;
    let classes = [Class { share: 1.0, quorums: quorums.to_vec() }];
    let least = mixed_load(&classes, speeds)?.upper;
    // At the least load itself rounding must not decide.
    let worst: Vec<f64> = quorums.iter().map(|quorum| worst(quorum, delays)).collect();
    let found = (limit >= least - 1e-9)
        .then(|| program::delays(quorums, &worst, speeds, limit.max(least) + 1e-9).ok())
        .flatten()
        .ok_or(AnalysisError::LoadLimit { limit, least })?;
    let used = || quorums.iter().zip(&found).zip(&worst).filter(|((_, often), _)| **often > 0.0);
    let choice = |((quorum, often), _): ((&SiteSet, &f64), &f64)| Choice {
        class: 0,
        quorum: quorum.clone(),
        often: *often,
    };
    let mean = used().map(|((_, often), delay)| often * delay).sum();
    Ok(LeastDelay { mean, strategy: used().map(choice).collect() })
}

fn worst(quorum: &SiteSet, delays: &[f64]) -> f64 {
    quorum.iter().map(|site| delays[site.index()]).fold(0.0, f64::max)
}

fn check_delays(n: usize, delays: &[f64]) -> Result<(), QuorumError> {
    if delays.len() != n {
        return Err(AnalysisError::DelaysLength { given: delays.len(), n }.into());
    }
    match delays.iter().position(|delay| !delay.is_finite() || *delay < 0.0) {
        Some(at) => {
            let (site, value) = (SiteId::new(at), delays[at]);
            Err(AnalysisError::NotPositive { what: "delay", site, value }.into())
        }
        None => Ok(()),
    }
}
