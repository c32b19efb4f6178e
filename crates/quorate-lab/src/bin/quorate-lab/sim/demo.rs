//! `quorate sim demo`: one run that is worth a look.

use clap::{Args, Parser};

use super::random::Random;
use quorate_terminal::answer::{Answer, print};
use quorate_terminal::paint::Paint;

/// Draws one run in which three of five sites want the same lock at once.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Demo {
    /// Draws with plain ASCII characters
    #[arg(long)]
    ascii: bool,
}

const EXAMPLES: &str = "\
Examples:
  quorate sim demo
  quorate sim random --trace --seed 7    any other run";

/// The run: contended, with a request that gives way and two direct hand-overs.
const FLAGS: &str = "--requests 1,1,0,0,1 --think ..3 --seed 129 --trace";

/// What to look at. The rows are those of the run above.
const GUIDE: &str = "\
Row 23: site 1 leaves and hands the permission of site 2 straight to site 5, which enters in row 27:
one message, where Maekawa's algorithm needs two, by way of site 2.
Rows 17 to 22: inquired by site 3, site 2 yields to the older request of site 1, and passes it the
permission of site 3 itself.";

/// Reads the flags as the command line would.
#[derive(Parser)]
struct Line {
    #[command(flatten)]
    random: Random,
}

impl Demo {
    /// Draws the run.
    pub(crate) fn run(&self) -> Answer {
        let paint = Paint::for_stdout();
        print(&format!("{}\n", paint.faint(&format!("quorate sim random {FLAGS}"))))?;
        let words = ["random"].into_iter().chain(FLAGS.split(' '));
        let words = words.chain(self.ascii.then_some("--ascii"));
        let verdict = Line::parse_from(words).random.run()?;
        print(&format!("\n{GUIDE}\n"))?;
        Ok(verdict)
    }
}
