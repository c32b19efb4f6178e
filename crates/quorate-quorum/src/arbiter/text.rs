//! The text form of listed arbiters.

use std::str::FromStr;

use super::Arbiters;
use crate::text::{number, quorum, without_comment, wrong};
use crate::{QuorumError, SiteSet};

impl FromStr for Arbiters {
    type Err = QuorumError;

    /// Reads a file of lines `h=2: 1 2 3`, each a quorum for h units; there may be many for one h,
    /// and k is the highest h named.
    ///
    /// ```text
    /// sites 4            # optional: otherwise the highest site that is named
    /// h=1: 1 2 3         # sites are counted from 1
    /// h=2: 1 2
    /// h=2: 2 3
    /// ```
    fn from_str(text: &str) -> Result<Self, QuorumError> {
        let mut sites = None;
        let mut sets: Vec<Vec<SiteSet>> = Vec::new();
        for (line, text) in
            (1..).zip(text.lines()).map(|(line, text)| (line, without_comment(text)))
        {
            if let Some(n) = text.strip_prefix("sites ") {
                sites = Some(number(line, n.trim())?);
            } else if !text.is_empty() {
                let (h, quorum) = units(line, text)?;
                sets.resize_with(sets.len().max(h), Vec::new);
                sets[h - 1].push(quorum);
            }
        }
        let last = |set: &SiteSet| set.iter().last().map_or(0, |site| site.index() + 1);
        let named = sets.iter().flatten().map(last).max();
        Self::listed(sites.or(named).unwrap_or(1), &sets)
    }
}

/// The number of units and the quorum of a line.
fn units(line: usize, text: &str) -> Result<(usize, SiteSet), QuorumError> {
    let parts = text.strip_prefix("h=").and_then(|rest| rest.split_once(':'));
    let Some((h, members)) = parts else {
        return Err(wrong(line, format!("expected `sites N` or `h=2: A B C`, found `{text}`")));
    };
    Ok((number(line, h.trim())?, quorum(line, text, members)?))
}
