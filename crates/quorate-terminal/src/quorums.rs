//! Describes a quorum system: its quorums, the failures it survives, the quorum each site asks.

use quorate_quorum::{QuorumError, QuorumSystem, SITES_MAX, SiteId, SiteSet};

use crate::answer::Failure;
use crate::facts::{Facts, first_sets};
use crate::figures::grouped;

/// The most sites for a picture and a list of quorums.
pub const SITES_SHOWN: usize = 64;
/// The most sites for anything but the sizes of quorums.
pub const SITES_MEASURED: usize = 1_000;
/// The most units of a pool that are shown, a row each.
pub const UNITS_SHOWN: usize = 64;
/// The most sites for a list of the quorum each site asks.
const SITES_ASKING: usize = 31;
/// The most quorums that are listed.
const QUORUMS_SHOWN: usize = 16;
/// The most quorums that are counted.
const QUORUMS_COUNTED: usize = 20_000;

/// Parses a number of sites.
///
/// # Errors
///
/// The text is not a number, or no cluster can have that many sites.
pub fn parse_sites(text: &str) -> Result<usize, Failure> {
    match text.parse() {
        Ok(0) => Err(Failure::of(QuorumError::NoSites)),
        Ok(n) if n <= SITES_MAX => Ok(n),
        Ok(n) => Err(Failure::of(QuorumError::TooManySites(n))),
        Err(_) => Err(format!("`{text}` is not a number of sites; expected one such as 9").into()),
    }
}

/// Parses a number of units, the value of `--k`.
///
/// # Errors
///
/// The text is not a number, or too large to be shown.
pub fn parse_units(text: &str) -> Result<usize, Failure> {
    match text.parse() {
        Ok(units) if units <= UNITS_SHOWN => Ok(units),
        _ => Err(format!("--k {text}: expected 1 to {UNITS_SHOWN} units").into()),
    }
}

/// The number of quorums; none if there are too many to count.
pub fn count(system: &dyn QuorumSystem) -> Option<usize> {
    let count = system.quorums().take(QUORUMS_COUNTED + 1).count();
    (count <= QUORUMS_COUNTED).then_some(count)
}

/// Adds the number of quorums, and a list of them if they are few.
pub fn add_quorums(system: &dyn QuorumSystem, count: Option<usize>, facts: &mut Facts) {
    let sizes = sizes_text((system.min_size(), system.max_size()));
    let Some(count) = count else {
        let most = grouped(QUORUMS_COUNTED as u64);
        return facts.add("quorums", &format!("more than {most} of {sizes} sites"));
    };
    let list = if system.n() <= SITES_SHOWN && count <= QUORUMS_SHOWN {
        format!(": {}", first_sets(&system.quorums().collect::<Vec<_>>(), QUORUMS_SHOWN))
    } else {
        String::new()
    };
    let plural = if sizes == "1" { "" } else { "s" };
    facts.add("quorums", &format!("{} of {sizes} site{plural}{list}", grouped(count as u64)));
}

/// Adds the number of failures that a system survives, whichever sites fail.
pub fn add_resilience(resilience: &Result<usize, QuorumError>, facts: &mut Facts) {
    let text = match resilience {
        Ok(0) => "nothing: some single site stops everything".to_owned(),
        Ok(1) => "any 1 failure".to_owned(),
        Ok(more) => format!("any {more} failures"),
        Err(error) => format!("not known: {error}"),
    };
    facts.add("survives", &text);
}

/// Adds the quorum that each site asks when all are up, unless there are too many sites.
pub fn add_asked_quorums(system: &dyn QuorumSystem, facts: &mut Facts) {
    if system.n() > SITES_ASKING {
        return;
    }
    let own = own_quorums(system).into_iter().zip(SiteId::all(system.n()));
    let own = own.filter_map(|(quorum, site)| quorum.map(|quorum| format!("{site}:{quorum}")));
    facts.add("site: asks", &own.collect::<Vec<_>>().join(" "));
}

/// The quorum that each site asks when all are up.
pub fn own_quorums(system: &dyn QuorumSystem) -> Vec<Option<SiteSet>> {
    let all = SiteSet::full(system.n());
    SiteId::all(system.n()).map(|site| system.pick_for(site, &all)).collect()
}

/// The numbers of the sites of a set, counted from 1.
pub fn numbers(set: &SiteSet) -> Vec<usize> {
    set.iter().map(|site| site.index() + 1).collect()
}

/// `5`, or `3 to 6`.
pub fn sizes_text((least, most): (usize, usize)) -> String {
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}
