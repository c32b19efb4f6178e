//! `quorate quorum`: the quorum systems, and who asks whom in them.

use clap::{Args, Subcommand};
use quorate_quorum::{Kind, SiteId, SiteSet, build};

use crate::answer::{Answer, Failure, Verdict, say_lines};

/// Beyond this many sites only the sizes are shown.
const SITES_SHOWN: usize = 31;

/// Shows quorum systems.
#[derive(Debug, Subcommand)]
pub(crate) enum Quorum {
    /// Lists the kinds of quorum system
    #[command(after_help = "Example:\n  quorate quorum list")]
    List,
    /// Shows the quorum of every site
    Show(Show),
}

/// Shows the quorum of every site.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate quorum show plane 13")]
pub(crate) struct Show {
    /// Which kind; see `quorate quorum list`
    kind: String,
    /// How many sites
    #[arg(value_name = "N")]
    sites: usize,
}

impl Quorum {
    /// Shows what was asked for.
    pub(crate) fn run(&self) -> Answer {
        match self {
            Quorum::List => list()?,
            Quorum::Show(show) => show.run()?,
        }
        Ok(Verdict::Clean)
    }
}

fn list() -> Result<(), Failure> {
    let line = |kind: &Kind| format!("{kind:<10}{}", kind.description());
    say_lines(&Kind::all().iter().map(line).collect::<Vec<_>>())
}

impl Show {
    fn run(&self) -> Result<(), Failure> {
        let kind: Kind = self.kind.parse().map_err(Failure::of)?;
        let system = build(kind, self.sites).map_err(Failure::of)?;
        let (n, least, most) = (system.n(), system.min_size(), system.max_size());
        let sizes = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let mut lines = vec![format!("{}: quorums of {sizes}", system.name())];
        if n <= SITES_SHOWN {
            let all = SiteSet::full(n);
            let quorums =
                SiteId::all(n).filter_map(|site| Some((site, system.pick_for(site, &all)?)));
            lines.extend(quorums.map(|(site, quorum)| format!("{site:>4}  {quorum}")));
        }
        say_lines(&lines)
    }
}
