//! The text form of listed quorums, in quorum files and scripts.

use std::str::FromStr;

use crate::{Listed, QuorumError, SITES_MAX, SiteId, SiteSet};

/// One line of a quorum file.
///
/// ```text
/// sites 4            # optional: otherwise the highest site that is named
/// quorum 1: 1 2      # sites are counted from 1
/// quorum 2: 2 3
/// ```
///
/// ```
/// use quorate_quorum::QuorumLine;
/// assert_eq!(QuorumLine::parse(1, "sites 4 # four of them")?, Some(QuorumLine::Sites(4)));
/// assert_eq!(QuorumLine::parse(2, "  # nothing here")?, None);
/// let error = QuorumLine::parse(3, "quorum 1 2").unwrap_err();
/// assert_eq!(error.to_string(), "line 3: expected `quorum S: A B C`, found `quorum 1 2`");
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuorumLine {
    /// `sites N`: how many sites there are.
    Sites(usize),
    /// `quorum S: A B C`: the quorum of site S.
    Quorum(SiteId, SiteSet),
}

impl QuorumLine {
    /// Reads line number `line`; `None` if it is empty but for a comment.
    ///
    /// # Errors
    ///
    /// [`QuorumError::Line`], with what was expected.
    pub fn parse(line: usize, text: &str) -> Result<Option<QuorumLine>, QuorumError> {
        let text = without_comment(text);
        let expected = |form: &str| wrong(line, format!("expected {form}, found `{text}`"));
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match word {
            "" => Ok(None),
            "sites" => Ok(Some(QuorumLine::Sites(number(line, rest.trim())?))),
            "quorum" => {
                let (site, members) =
                    rest.split_once(':').ok_or_else(|| expected("`quorum S: A B C`"))?;
                let owner = site_id(line, site.trim())?;
                Ok(Some(QuorumLine::Quorum(owner, quorum(line, text, members)?)))
            }
            _ => Err(expected("`sites N` or `quorum S: A B C`")),
        }
    }
}

impl FromStr for Listed {
    type Err = QuorumError;

    /// Reads a quorum file: any number of [`QuorumLine`]s.
    fn from_str(text: &str) -> Result<Self, QuorumError> {
        let mut sites: Option<(usize, usize)> = None;
        let mut quorums: Vec<(usize, SiteId, SiteSet)> = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            match QuorumLine::parse(line, text)? {
                None => {}
                Some(QuorumLine::Sites(n)) => {
                    if let Some((before, _)) = sites {
                        let twice = format!("`sites` stands in line {before} already");
                        return Err(wrong(line, twice));
                    }
                    sites = Some((line, n));
                }
                Some(QuorumLine::Quorum(site, members)) => {
                    if let Some((before, ..)) = quorums.iter().find(|(_, other, _)| *other == site)
                    {
                        let twice = format!("site {site} has a quorum already, in line {before}");
                        return Err(wrong(line, twice));
                    }
                    quorums.push((line, site, members));
                }
            }
        }
        let named =
            |(_, site, members): &(usize, SiteId, SiteSet)| members.iter().last().max(Some(*site));
        let highest = quorums.iter().filter_map(named).max().map_or(0, |site| site.index() + 1);
        let n = sites.map_or(highest, |(_, n)| n);
        let mut own = vec![None; n];
        for (line, site, members) in quorums {
            let last = members.iter().last().max(Some(site)).expect("an owner is named");
            if last.index() >= n {
                let error = QuorumError::UnknownSite { site: last, n };
                return Err(wrong(line, error.to_string()));
            }
            own[site.index()] = Some(members);
        }
        if n == 0 { Err(QuorumError::NoQuorum) } else { Listed::new(own) }
    }
}

/// A line without its comment.
pub(crate) fn without_comment(text: &str) -> &str {
    text.split('#').next().unwrap_or_default().trim()
}

/// The members that stand behind the colon of a line.
pub(crate) fn quorum(line: usize, text: &str, members: &str) -> Result<SiteSet, QuorumError> {
    let members = members.split_whitespace().map(|member| site_id(line, member));
    let members: SiteSet = members.collect::<Result<_, _>>()?;
    if members.is_empty() {
        let expected = "expected the members of the quorum after the colon";
        return Err(wrong(line, format!("{expected}, found `{text}`")));
    }
    Ok(members)
}

pub(crate) fn wrong(line: usize, message: String) -> QuorumError {
    QuorumError::Line { line, message }
}

fn site_id(line: usize, text: &str) -> Result<SiteId, QuorumError> {
    number(line, text).map(|site| SiteId::new(site - 1))
}

/// A site, or a number of sites or units: all go from 1 to the most there may be.
pub(crate) fn number(line: usize, text: &str) -> Result<usize, QuorumError> {
    match text.parse() {
        Ok(number) if (1..=SITES_MAX).contains(&number) => Ok(number),
        _ => Err(wrong(line, format!("expected a number from 1 to {SITES_MAX}, found `{text}`"))),
    }
}
