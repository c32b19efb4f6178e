//! `quorate quorum check`: a list of quorums in a file.

use std::fs;

use clap::Args;
use quorate_quorum::{Listed, QuorumError, QuorumSystem, SiteId, SiteSet};
use serde_json::json;

use super::input;
use super::measure::Measured;
use crate::cluster::in_file;
use quorate_terminal::answer::{Answer, Verdict, print, print_lines};
use quorate_terminal::facts::Facts;
use quorate_terminal::paint::Paint;

/// Check a list of quorums: whether all meet, and whether a better list exists
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// A file with lines such as `quorum 1: 1 2 3`, the quorum of site 1
    file: String,
    /// The probability that a site is down, or a comma-separated list of them
    #[arg(long, value_name = "P,...", default_value = "0.01,0.1")]
    p: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  quorate quorum check quorums/wheel-4.txt
  quorate quorum check mine.txt --p 0.05 --json

Exit status: 0 all quorums meet, 1 two do not, 2 bad input.";

impl Check {
    pub(super) fn run(&self) -> Answer {
        let (file, down) = (&self.file, input::probabilities(&self.p)?);
        let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        let system: Listed = match text.parse() {
            Ok(system) => system,
            Err(QuorumError::DoNotMeet { one, other }) => return self.apart(&one, &other),
            Err(error) => return Err(in_file(file, &error)),
        };
        let measured = Measured::of(&system, &down)?;
        let larger = larger(&system);
        if self.json {
            let site = |(site, own, enough): &(SiteId, SiteSet, SiteSet)| {
                let (asks, enough) = (numbers(own), numbers(enough));
                json!({"site": site.index() + 1, "asks": asks, "enough": enough})
            };
            let mut value = measured.json(&system);
            value["meet"] = json!(true);
            value["larger"] = larger.iter().map(site).collect();
            print(&format!("{value}\n"))?;
        } else {
            let paint = Paint::for_stdout();
            let mut facts = Facts::new(paint);
            facts.add("meet", &paint.good("yes: any two quorums have a common site"));
            for (site, own, enough) in &larger {
                let text = format!("no: site {site} asks {own}, where {enough} is enough");
                facts.add("minimal", &text);
            }
            let mut lines = vec![paint.strong(&format!("{file}: {}", system.name()))];
            lines.extend(facts.into_lines());
            lines.extend(measured.lines(&system, paint));
            print_lines(&lines)?;
        }
        Ok(Verdict::Clean)
    }

    /// Two quorums do not meet.
    fn apart(&self, one: &(SiteId, SiteSet), other: &(SiteId, SiteSet)) -> Answer {
        if self.json {
            let side = |(site, quorum): &(SiteId, SiteSet)| {
                let quorum = numbers(quorum);
                json!({"site": site.index() + 1, "quorum": quorum})
            };
            let value = json!({"meet": false, "apart": [side(one), side(other)]});
            print(&format!("{value}\n"))?;
        } else {
            let paint = Paint::for_stdout();
            let apart = format!(
                "{} of site {} and {} of site {} have no common site",
                one.1, one.0, other.1, other.0
            );
            print_lines(&[
                paint.strong(&self.file),
                format!("{} {apart}: both could hold the same lock at once.", paint.bad("no:")),
                "Add a site of one to the other.".to_owned(),
            ])?;
        }
        Ok(Verdict::Broken)
    }
}

/// The sites that ask more than they must, with a quorum inside theirs.
fn larger(system: &Listed) -> Vec<(SiteId, SiteSet, SiteSet)> {
    let all = SiteSet::full(system.n());
    let larger = SiteId::all(system.n()).filter_map(|site| {
        let own = system.pick_for(site, &all)?;
        let enough = system.quorums().find(|quorum| quorum.is_subset(&own) && *quorum != own)?;
        Some((site, own, enough))
    });
    larger.collect()
}

fn numbers(set: &SiteSet) -> Vec<usize> {
    set.iter().map(|site| site.index() + 1).collect()
}
