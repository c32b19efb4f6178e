//! How a quorum system is told: its quorums, what it survives, and who asks whom.

use quorate_quorum::{QuorumError, QuorumSystem, SITES_MAX, SiteId, SiteSet};

use crate::answer::Failure;
use crate::facts::{Facts, some};
use crate::figures::grouped;

/// Beyond this many sites there is no picture and no list of quorums.
pub const SITES_SHOWN: usize = 64;
/// Beyond this many sites only the sizes of quorums are told.
pub const SITES_MEASURED: usize = 1_000;
/// Beyond this many units of a pool the rows would not be read.
pub const UNITS_SHOWN: usize = 64;
/// Beyond this many sites it is not told who asks whom.
const SITES_ASKING: usize = 31;
/// Beyond this many quorums they are not listed.
const QUORUMS_SHOWN: usize = 16;
/// Beyond this many quorums they are not counted.
const QUORUMS_COUNTED: usize = 20_000;

/// Reads a number of sites.
///
/// # Errors
///
/// The text is no number, or no cluster can have so many sites.
pub fn parse_sites(text: &str) -> Result<usize, Failure> {
    match text.parse() {
        Ok(0) => Err(Failure::of(QuorumError::NoSites)),
        Ok(n) if n <= SITES_MAX => Ok(n),
        Ok(n) => Err(Failure::of(QuorumError::TooManySites(n))),
        Err(_) => Err(format!("`{text}` is no number of sites; expected one such as 9").into()),
    }
}

/// Reads a number of units, behind `--k`.
///
/// # Errors
///
/// The text is no number, or too large to be shown.
pub fn parse_units(text: &str) -> Result<usize, Failure> {
    match text.parse() {
        Ok(units) if units <= UNITS_SHOWN => Ok(units),
        _ => Err(format!("--k {text}: expected 1 to {UNITS_SHOWN} units").into()),
    }
}

/// The number of quorums; `None` if there are too many to count.
pub fn count(system: &dyn QuorumSystem) -> Option<usize> {
    let count = system.quorums().take(QUORUMS_COUNTED + 1).count();
    (count <= QUORUMS_COUNTED).then_some(count)
}

/// Tells how many quorums there are, and which, if they are few.
pub fn tell_quorums(system: &dyn QuorumSystem, count: Option<usize>, facts: &mut Facts) {
    let sizes = sizes_text((system.min_size(), system.max_size()));
    let Some(count) = count else {
        let most = grouped(QUORUMS_COUNTED as u64);
        return facts.say("quorums", &format!("more than {most} of {sizes} sites"));
    };
    let list = if system.n() <= SITES_SHOWN && count <= QUORUMS_SHOWN {
        format!(": {}", some(&system.quorums().collect::<Vec<_>>(), QUORUMS_SHOWN))
    } else {
        String::new()
    };
    let plural = if sizes == "1" { "" } else { "s" };
    facts.say("quorums", &format!("{} of {sizes} site{plural}{list}", grouped(count as u64)));
}

/// Tells how many failures a system survives, whichever sites they strike.
pub fn tell_resilience(resilience: &Result<usize, QuorumError>, facts: &mut Facts) {
    let text = match resilience {
        Ok(0) => "nothing: some single site stops everything".to_owned(),
        Ok(1) => "any 1 failure".to_owned(),
        Ok(more) => format!("any {more} failures"),
        Err(error) => format!("not known: {error}"),
    };
    facts.say("survives", &text);
}

/// Tells which sites each site asks when all are up, unless there are too many.
pub fn tell_asks(system: &dyn QuorumSystem, facts: &mut Facts) {
    if system.n() > SITES_ASKING {
        return;
    }
    let own = own_quorums(system).into_iter().zip(SiteId::all(system.n()));
    let own = own.filter_map(|(quorum, site)| quorum.map(|quorum| format!("{site}:{quorum}")));
    facts.say("site: asks", &own.collect::<Vec<_>>().join(" "));
}

/// Whom each site asks when all are up.
pub fn own_quorums(system: &dyn QuorumSystem) -> Vec<Option<SiteSet>> {
    let all = SiteSet::full(system.n());
    SiteId::all(system.n()).map(|site| system.pick_for(site, &all)).collect()
}

/// The sites of a set, as people number them.
pub fn numbers(set: &SiteSet) -> Vec<usize> {
    set.iter().map(|site| site.index() + 1).collect()
}

/// `5`, or `3 to 6`.
pub fn sizes_text((least, most): (usize, usize)) -> String {
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}
