//! Cao & Singhal 2001, section 5.2 and 5.3: the delay between two holders.

use quorate_protocol::mutex::{Mutex, Options};
use quorate_sim::random::T;
use quorate_sim::{Shape, SimProtocol};

use super::measure::{Heavy, heavy, uneven};
use super::{Axis, Claim, Finding, Plot, Settings, Sink, headline};
use crate::baseline::Baseline;
use crate::baselines::Maekawa;

/// How long a holder stays, in hundredths of T. At just T two events fall on one moment.
const STAYS: [u64; 9] = [1, 10, 25, 50, 75, 101, 200, 500, 1000];

/// The same where messages take unequal time.
const UNEVEN: [u64; 3] = [25, 100, 300];

/// The chance that the arbiter which learns late of the last hand-over is asked by the next holder:
/// two of three rows and columns of the grid below.
const P: f64 = 2.0 / 3.0;

const EVEN: &str = "all sites ask again at once, grid of 9, constant delays";

/// Four variants on a grid of nine, as the stay grows from a hundredth of T to ten; then the same
/// where messages take unequal time.
pub(super) fn run(settings: Settings, sink: Sink<'_>) {
    let condition = format!(
        "all sites ask again at once, 40 times, plane of 13, exponential delays, {} runs",
        runs(settings)
    );
    let mut page = Page { settings, sink, plots: plots(&condition), condition };
    for stay in STAYS.into_iter().filter(|stay| !settings.quick || [1, 50, 200].contains(stay)) {
        page.even(stay);
    }
    for stay in UNEVEN {
        page.uneven(stay);
    }
    let Page { sink, plots, .. } = page;
    sink(Finding::Headline(headline::of_handover(&plots[0], &plots[1])));
    for plot in plots {
        sink(Finding::Plot(plot));
    }
}

fn runs(settings: Settings) -> u64 {
    if settings.quick { 10 } else { 40 }
}

/// The delay, what it leaves of throughput, and the delay where messages take unequal time.
fn plots(uneven: &str) -> [Plot; 3] {
    let stay = || Axis::powers("stay E/T");
    let [delay, entries] = ["delay in T", "entries in T"].map(Axis::even);
    [
        Plot::new("Delay between two holders", EVEN, stay(), delay.clone()),
        Plot::new("Throughput 1/(D + E)", EVEN, stay(), entries),
        Plot::new("Delay if messages take unequal time", uneven, stay(), delay),
    ]
}

/// Section 5.2.1, without 5.3.
fn without_ahead() -> Options {
    Options { ahead: false, lists: false, ..Options::default() }
}

/// The page as it is filled.
struct Page<'a> {
    settings: Settings,
    sink: Sink<'a>,
    plots: [Plot; 3],
    /// Where messages take unequal time.
    condition: String,
}

impl Page<'_> {
    /// Every message takes T.
    fn even(&mut self, stay: u64) {
        let twice = Claim::exact("2T", 2.0);
        let theirs = self.even_row::<Baseline<Maekawa>>("maekawa", &None, stay, &twice);
        let late = Claim::exact("T(1 + p/2), p = 2/3", 1.0 + P / 2.0);
        let soon = Claim::exact("T", 1.0);
        let short = if stay < 100 { &late } else { &soon };
        self.even_row::<Mutex>("basic", &Options::basic(), stay, short);
        self.even_row::<Mutex>("5.2.1", &without_ahead(), stay, short);
        let ours = self.even_row::<Mutex>("5.3", &Options::default(), stay, &soon);
        if stay == STAYS[0] {
            self.throughput(stay, ours.throughput, theirs.throughput);
        }
    }

    fn even_row<P: SimProtocol<Claim = ()>>(
        &mut self,
        name: &str,
        options: &P::Options,
        stay: u64,
        claim: &Claim,
    ) -> Heavy {
        let shape = Shape::Kind("grid".to_owned(), 9);
        let quorums = P::quorums(&shape, &[()]).expect("a grid of nine");
        let measured = heavy::<P>(&quorums, options, stay * T / 100);
        let named = of_stay(name, stay);
        (self.sink)(claim.beside(named, EVEN.to_owned(), (measured.handover, "T"), ""));
        let x = stay as f64 / 100.0;
        self.plots[0].measured(name, x, measured.handover);
        self.plots[1].measured(name, x, measured.throughput);
        measured
    }

    /// With very short stays the throughput is almost doubled.
    fn throughput(&mut self, stay: u64, ours: f64, theirs: f64) {
        let e = stay as f64 / 100.0;
        let rows = [
            ("5.3, throughput", Claim::exact("1/(T + E)", 1.0 / (1.0 + e)), ours),
            ("maekawa, throughput", Claim::exact("1/(2T + E)", 1.0 / (2.0 + e)), theirs),
            ("throughput, 5.3 to maekawa", Claim::average("almost doubled", 2.0), ours / theirs),
        ];
        let units = ["entries in T", "entries in T", "times"];
        for ((name, claim, measured), unit) in rows.into_iter().zip(units) {
            let named = of_stay(name, stay);
            (self.sink)(claim.beside(named, EVEN.to_owned(), (measured, unit), ""));
        }
    }

    /// With unequal delays; the paper says "somewhat more" than T. The claimed figures are those of
    /// an independent simulation of the repaired algorithm.
    fn uneven(&mut self, stay: u64) {
        let (ours, basic) = match stay {
            25 => (Claim::average("", 1.20), Claim::average("", 1.33)),
            100 => (Claim::between(1.09, 1.18), Claim::between(1.09, 1.18)),
            _ => (Claim::average("", 1.02), Claim::average("", 1.02)),
        };
        let detour = Claim::between(1.62, 1.91);
        // In 33, 39 and 63 of 100 hand-overs.
        let near =
            "the longer, the more often the arbiter shared is one of the two: a free message";
        self.uneven_row::<Baseline<Maekawa>>("maekawa", &None, stay, (&detour, near));
        self.uneven_row::<Mutex>("5.2.1", &without_ahead(), stay, (&basic, ""));
        self.uneven_row::<Mutex>("5.3", &Options::default(), stay, (&ours, ""));
    }

    fn uneven_row<P: SimProtocol<Claim = ()>>(
        &mut self,
        name: &str,
        options: &P::Options,
        stay: u64,
        (claim, note): (&Claim, &str),
    ) {
        let shape = Shape::Kind("plane".to_owned(), 13);
        let quorums = P::quorums(&shape, &[()]).expect("a plane of thirteen");
        let runs = (self.settings.seed, runs(self.settings));
        let delay = uneven::<P>(&quorums, options, stay * T / 100, runs).handover;
        let named = of_stay(&format!("{name}, exponential"), stay);
        (self.sink)(claim.beside(named, self.condition.clone(), (delay, "T"), note));
        self.plots[2].measured(name, stay as f64 / 100.0, delay);
    }
}

/// A row's name, with how long holders stay.
fn of_stay(name: &str, stay: u64) -> String {
    format!("{name} E/T={}.{:02}", stay / 100, stay % 100)
}
