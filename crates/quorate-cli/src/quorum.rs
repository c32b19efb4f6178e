//! `quorate quorum`: lists and shows quorum systems.

use clap::{Args, Subcommand};
use quorate_quorum::{ArbiterKind, Kind, QuorumSystem, build};
use quorate_terminal::answer::{Answer, Failure, Verdict, print, print_lines};
use quorate_terminal::facts::Facts;
use quorate_terminal::paint::Paint;
use quorate_terminal::quorums::{self, SITES_MEASURED, numbers, sizes_text};
use quorate_terminal::table::{aligned, row};
use serde_json::{Value, json};

use crate::laboratory::LabArgs;

/// Commands about quorum systems; all but two run `quorate-lab`.
#[derive(Debug, Subcommand)]
pub(crate) enum Quorum {
    List(List),
    Show(Show),
    /// Measure the load and availability of a system, and draw it (runs quorate-lab)
    #[command(disable_help_flag = true)]
    Measure(LabArgs),
    /// Compare quorum systems of several sizes (runs quorate-lab)
    #[command(disable_help_flag = true)]
    Compare(LabArgs),
    /// Check that the quorums in a file intersect (runs quorate-lab)
    #[command(disable_help_flag = true)]
    Check(LabArgs),
    /// Suggest a quorum system for a number of sites (runs quorate-lab)
    #[command(disable_help_flag = true)]
    Suggest(LabArgs),
}

impl Quorum {
    /// Runs the command, here or in `quorate-lab`.
    pub(crate) fn run(&self) -> Answer {
        match self {
            Quorum::List(list) => list.run(),
            Quorum::Show(show) => show.run(),
            Quorum::Measure(args) => args.run(&["quorum", "measure"]),
            Quorum::Compare(args) => args.run(&["quorum", "compare"]),
            Quorum::Check(args) => args.run(&["quorum", "check"]),
            Quorum::Suggest(args) => args.run(&["quorum", "suggest"]),
        }
    }
}

/// List the kinds of quorum system
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate quorum list")]
pub(crate) struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl List {
    fn run(&self) -> Answer {
        let kinds = Kind::all().iter().map(|kind| (kind.name(), kind.description()));
        let pools = ArbiterKind::all().iter().map(|kind| (kind.name(), kind.description()));
        if self.json {
            let entry = |(name, description)| json!({"name": name, "description": description});
            let kinds: Vec<_> = kinds.map(entry).collect();
            let pools: Vec<_> = pools.map(entry).collect();
            print(&format!("{}\n", json!({"kinds": kinds, "pools": pools})))?;
            return Ok(Verdict::Clean);
        }
        let row = |(name, description): (&str, &str)| vec![format!("  {name}"), description.into()];
        let mut lines = vec!["For locks (`quorate quorum show KIND N`):".to_owned()];
        lines.extend(aligned(&kinds.map(row).collect::<Vec<_>>()));
        lines.extend([
            String::new(),
            "For pools of K units (`quorate quorum show KIND N --k K`):".into(),
        ]);
        lines.extend(aligned(&pools.map(row).collect::<Vec<_>>()));
        print_lines(&lines)?;
        Ok(Verdict::Clean)
    }
}

/// Show a quorum system: its quorums, the failures it survives, the quorum each site asks
///
/// `quorate quorum measure` also shows its load and availability, and draws it
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Show {
    /// The kind of system; see `quorate quorum list`
    kind: String,
    /// The number of sites
    #[arg(value_name = "N")]
    sites: String,
    /// Show the quorums for 1 to K units of a pool instead of those of a lock
    #[arg(long, value_name = "K")]
    k: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  quorate quorum show grid 9
  quorate quorum show improved 9 --k 3    the quorums for 1, 2 and 3 of 3 units";

impl Show {
    fn run(&self) -> Answer {
        let n = quorums::parse_sites(&self.sites)?;
        match &self.k {
            Some(units) => self.pool(n, quorums::parse_units(units)?),
            None => self.lock(n),
        }
    }

    fn lock(&self, n: usize) -> Answer {
        let kind: Kind = self.kind.parse().map_err(Failure::of)?;
        let system = build(kind, n).map_err(Failure::of)?;
        if self.json {
            print(&format!("{}\n", lock_json(&*system)))?;
            return Ok(Verdict::Clean);
        }
        let paint = Paint::for_stdout();
        let mut facts = Facts::new(paint);
        if n <= SITES_MEASURED {
            quorums::add_quorums(&*system, quorums::count(&*system), &mut facts);
            quorums::add_resilience(&system.resilience(), &mut facts);
            quorums::add_asked_quorums(&*system, &mut facts);
        } else {
            let sizes = sizes_text((system.min_size(), system.max_size()));
            facts.add("quorums", &format!("of {sizes} sites"));
        }
        let mut lines = vec![paint.strong(&system.name())];
        lines.extend(facts.into_lines());
        print_lines(&lines)?;
        Ok(Verdict::Clean)
    }

    /// Shows the quorums for a claim of 1, 2, … of `k` units.
    fn pool(&self, n: usize, k: usize) -> Answer {
        let kind: ArbiterKind = self.kind.parse().map_err(Failure::of)?;
        let pool = kind.build(n, k).map_err(Failure::of)?;
        let mut rows = vec![row(["UNITS", "SITES", "SURVIVES"])];
        let mut values = Vec::new();
        for units in 1..=k {
            let system = pool.of(units).map_err(Failure::of)?;
            let mut value = sizes_json(&**system);
            value["units"] = json!(units);
            values.push(value);
            let survived = system.resilience().map_or("?".to_owned(), |count| count.to_string());
            let sizes = sizes_text((system.min_size(), system.max_size()));
            rows.push(row([&units.to_string(), &sizes, &survived]));
        }
        if self.json {
            print(&format!("{}\n", json!({"name": pool.name(), "n": n, "k": k, "of": values})))?;
        } else {
            let mut lines = vec![Paint::for_stdout().strong(&pool.name()), String::new()];
            lines.extend(aligned(&rows));
            print_lines(&lines)?;
        }
        Ok(Verdict::Clean)
    }
}

fn lock_json(system: &dyn QuorumSystem) -> Value {
    let mut value = sizes_json(system);
    value["name"] = json!(system.name());
    value["n"] = json!(system.n());
    if system.n() <= SITES_MEASURED {
        let own = quorums::own_quorums(system);
        let own: Vec<_> = own.iter().map(|quorum| quorum.as_ref().map(numbers)).collect();
        value["quorums"] = json!(quorums::count(system));
        value["own"] = json!(own);
    }
    value
}

fn sizes_json(system: &dyn QuorumSystem) -> Value {
    let survived = (system.n() <= SITES_MEASURED).then(|| system.resilience().ok()).flatten();
    json!({"sizes": [system.min_size(), system.max_size()], "resilience": survived})
}
