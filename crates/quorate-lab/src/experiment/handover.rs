//! Cao & Singhal 2001, section 5.2 and 5.3: the delay between two holders.

use quorate_protocol::mutex::{Mutex, Options};
use quorate_sim::random::T;
use quorate_sim::{Shape, Subject};

use super::measure::heavy;
use super::{Axis, Claim, Finding, Plot, Settings, Sink, rounded};
use crate::baseline::Baseline;
use crate::baselines::Maekawa;

/// How long a holder stays, in hundredths of T. At just T two events fall on one moment.
const STAYS: [u64; 9] = [1, 10, 25, 50, 75, 101, 200, 500, 1000];

/// The chance that the arbiter which learns late of the last hand-over is asked by the next holder:
/// two of three rows and columns of the grid below.
const P: f64 = 2.0 / 3.0;

const CONDITION: &str = "everybody asks again at once, grid of 9, constant delays";

/// Four variants on a grid of nine, as the stay grows from a hundredth of T to ten.
pub(super) fn run(settings: Settings, sink: Sink<'_>) {
    let mut plots = plots();
    let stays = STAYS.iter().filter(|stay| !settings.quick || [1, 50, 200].contains(*stay));
    for stay in stays {
        let twice = Claim::exact("2T", 2.0);
        row::<Baseline<Maekawa>>("maekawa", &None, *stay, &twice, sink, &mut plots);
        let late = Claim::exact("T(1 + p/2), p = 2/3", 1.0 + P / 2.0);
        let soon = Claim::exact("T", 1.0);
        let short = if *stay < 100 { &late } else { &soon };
        let without = Options { ahead: false, lists: false, ..Options::default() };
        row::<Mutex>("basic", &Options::basic(), *stay, short, sink, &mut plots);
        row::<Mutex>("5.2.1", &without, *stay, short, sink, &mut plots);
        row::<Mutex>("5.3", &Options::default(), *stay, &soon, sink, &mut plots);
    }
    sink(Finding::Headline(headline(&plots)));
    for plot in plots {
        sink(Finding::Plot(plot));
    }
}

/// `T`, `2T`.
fn in_t(delay: f64) -> String {
    if (delay - 1.0).abs() < 1e-9 { "T".to_owned() } else { format!("{}T", rounded(delay)) }
}

/// Ours beside Maekawa's, for the shortest stay.
fn headline([delay, throughput]: &[Plot; 2]) -> String {
    let first = |plot: &Plot, name| {
        let line = plot.lines.iter().find(|line| line.label == name);
        *line.and_then(|line| line.points.first()).expect("both are measured")
    };
    let [(stay, old), (_, new)] = ["maekawa", "5.3"].map(|name| first(delay, name));
    let [(_, few), (_, many)] = ["maekawa", "5.3"].map(|name| first(throughput, name));
    format!(
        "A busy lock passes from one holder to the next in {}; Maekawa's algorithm takes {}. \
         Where holders stay {}, that lets {} times as many in.",
        in_t(new),
        in_t(old),
        in_t(stay),
        rounded(many / few)
    )
}

/// The delay, and what it leaves of throughput.
fn plots() -> [Plot; 2] {
    let stay = || Axis::powers("stay E/T");
    let [delay, entries] = ["delay in T", "entries in T"].map(Axis::even);
    [
        Plot::new("Delay between two holders", CONDITION, stay(), delay),
        Plot::new("Throughput 1/(D + E)", CONDITION, stay(), entries),
    ]
}

fn row<P: Subject<Claim = ()>>(
    name: &str,
    options: &P::Options,
    stay: u64,
    claim: &Claim,
    sink: Sink<'_>,
    [delay, throughput]: &mut [Plot; 2],
) {
    let shape = Shape::Kind("grid".to_owned(), 9);
    let quorums = P::quorums(&shape, &[()]).expect("a grid of nine");
    let measured = heavy::<P>(&quorums, options, stay * T / 100).handover;
    let of_row = format!("{name} E/T={}.{:02}", stay / 100, stay % 100);
    sink(claim.beside(of_row, CONDITION.to_owned(), (measured, "T"), ""));
    let stay = stay as f64 / 100.0;
    delay.measured(name, stay, measured);
    throughput.measured(name, stay, 1.0 / (measured + stay));
}
