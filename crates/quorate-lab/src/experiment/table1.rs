//! Cao & Singhal 2001, table 1.

use quorate_protocol::mutex::{Mutex, Options};
use quorate_sim::random::T;
use quorate_sim::{Shape, SimProtocol};

use super::measure::{heavy, light};
use super::{Axis, Claim, Finding, Plot, Settings, Sink};
use crate::algorithm::{ALL_SITES, Algorithm};
use crate::baseline::Baseline;
use crate::baselines::{
    Lamport, Maekawa, Raymond, RicartAgrawala, SinghalDynamic, SinghalHeuristic, SuzukiKasami,
};

/// A row of the table: messages under light and heavy load, and the delay.
struct Claims {
    light: Claim,
    heavy: Claim,
    delay: Claim,
    notes: [&'static str; 3],
}

/// The nine rows of the table, for clusters of growing size.
pub(super) fn run(settings: Settings, sink: Sink<'_>) {
    let squares: &[u32] = if settings.quick { &[3, 5] } else { &[3, 5, 7, 10] };
    let depths: &[u32] = if settings.quick { &[4] } else { &[4, 5, 6, 7] };
    let mut table = Table { settings, sink, plots: plots() };
    for &root in squares {
        permissions(&mut table, root * root);
        quorums(&mut table, root);
        tokens(&mut table, root * root);
    }
    for depth in depths {
        let (n, claims) = ((1 << depth) - 1, ours(f64::from(*depth)));
        table.row::<Mutex>("mutex, tree", "tree", n, &Options::default(), &claims);
    }
    let Table { sink, plots, .. } = table;
    for plot in plots {
        sink(Finding::Plot(plot));
    }
}

fn permissions(table: &mut Table<'_>, n: u32) {
    let others = f64::from(n - 1);
    let both = |text, value| (Claim::exact(text, value), Claim::exact(text, value));
    let delay = || Claim::exact("T", 1.0);
    let (light, heavy) = both("3(N-1)", 3.0 * others);
    let claims = Claims { light, heavy, delay: delay(), notes: [""; 3] };
    table.baseline::<Lamport>(n, &claims);
    let (light, heavy) = both("2(N-1)", 2.0 * others);
    let claims = Claims { light, heavy, delay: delay(), notes: [""; 3] };
    table.baseline::<RicartAgrawala>(n, &claims);
    let light = Claim::average("3(N-1)/2", 1.5 * others);
    let heavy = Claim::exact("3(N-1)/2", 1.5 * others);
    let introduction = "the paper's introduction says N-1 light, 2(N-1) heavy";
    let claims = Claims { light, heavy, delay: delay(), notes: [introduction, introduction, ""] };
    table.baseline::<SinghalDynamic>(n, &claims);
}

fn quorums(table: &mut Table<'_>, root: u32) {
    let k = f64::from(2 * root - 1);
    let n = root * root;
    let claims = Claims {
        light: Claim::exact("3(K-1)", 3.0 * (k - 1.0)),
        heavy: Claim::exact("5(K-1)", 5.0 * (k - 1.0)),
        delay: Claim::exact("2T", 2.0),
        notes: ["K of a grid", "no request gives way while they come in order", ""],
    };
    table.baseline::<Maekawa>(n, &claims);
    table.row::<Mutex>("mutex, grid", "grid", n, &Options::default(), &ours(k));
}

/// The claims about our mutex.
fn ours(k: f64) -> Claims {
    Claims {
        light: Claim::exact("3(K-1)", 3.0 * (k - 1.0)),
        heavy: Claim::exact("6(K-1)", 6.0 * (k - 1.0)),
        delay: Claim::exact("T", 1.0),
        notes: ["", "an upper bound: the text has 5(K-1) for most cases", ""],
    }
}

fn tokens(table: &mut Table<'_>, n: u32) {
    let (sites, log) = (f64::from(n), f64::from(n).log2());
    let delay = || Claim::exact("T", 1.0);
    let claims = Claims {
        light: Claim::average("N", sites),
        heavy: Claim::exact("N", sites),
        delay: delay(),
        notes: ["who has the token enters for nothing", "", ""],
    };
    table.baseline::<SuzukiKasami>(n, &claims);
    let claims = Claims {
        light: Claim::average("N/2", sites / 2.0),
        heavy: Claim::exact("N", sites),
        delay: delay(),
        notes: ["half of the others are asked, and the token comes", "", ""],
    };
    table.baseline::<SinghalHeuristic>(n, &claims);
    let walk = "the token walks once around the tree in N entries";
    let claims = Claims {
        light: Claim::average("log N", log),
        heavy: Claim::average("4", 4.0),
        delay: Claim::average("T(log N)/2", log / 2.0),
        notes: ["twice the way to the token, in a binary tree", walk, walk],
    };
    table.baseline::<Raymond>(n, &claims);
}

/// Under which load messages and delay are measured.
const LOADS: [&str; 2] =
    ["one caller at a time, sites in no order", "all sites ask again at once, E = 2T"];

/// Messages under light and heavy load, and the delay, as N grows.
fn plots() -> [Plot; 3] {
    let [one, all] = LOADS.map(|load| format!("{load}, constant delays"));
    let plot = |title, condition, y| Plot::new(title, condition, Axis::even("sites N"), y);
    let messages = || Axis::powers("messages for an entry");
    let delay = Axis::even("delay in T");
    [
        plot("Messages under light load", &one, messages()),
        plot("Messages under heavy load", &all, messages()),
        plot("Delay between two holders", &all, delay),
    ]
}

/// The table as it is filled.
struct Table<'a> {
    settings: Settings,
    sink: Sink<'a>,
    plots: [Plot; 3],
}

impl Table<'_> {
    fn baseline<A: Algorithm>(&mut self, n: u32, claims: &Claims) {
        self.row::<Baseline<A>>(A::NAME, A::QUORUM, n, &None, claims);
    }

    fn row<P: SimProtocol<Claim = ()>>(
        &mut self,
        name: &str,
        kind: &str,
        n: u32,
        options: &P::Options,
        claims: &Claims,
    ) {
        let shape = Shape::Kind(kind.to_owned(), n as usize);
        let quorums = P::quorums(&shape, &[()]).expect("there are such quorums for every N");
        let asked = if kind == ALL_SITES { String::new() } else { format!(", quorums {kind}") };
        let [one, all] = LOADS.map(|load| format!("{load}{asked}, constant delays"));
        let light = light::<P>(&quorums, options, self.settings.seed);
        let heavy = heavy::<P>(&quorums, options, 2 * T);
        let cells = [
            ("light", &claims.light, one, (light, "messages")),
            ("heavy", &claims.heavy, all.clone(), (heavy.messages, "messages")),
            ("delay", &claims.delay, all, (heavy.handover, "T")),
        ];
        for (at, (what, claim, condition, measured)) in cells.into_iter().enumerate() {
            let name_of_row = format!("{name} N={n} {what}");
            (self.sink)(claim.beside(name_of_row, condition, measured, claims.notes[at]));
            self.plots[at].measured(name, f64::from(n), measured.0);
        }
    }
}
