//! Cao & Singhal 2001, table 1.

use quorate_protocol::mutex::{Mutex, Options};
use quorate_sim::random::T;
use quorate_sim::{Shape, Subject};

use super::measure::{heavy, light};
use super::{Claim, Row, Settings, rounded};
use crate::algorithm::{Algorithm, EVERYBODY};
use crate::baseline::Baseline;
use crate::baselines::{
    Lamport, Maekawa, Raymond, RicartAgrawala, SinghalDynamic, SinghalHeuristic, SuzukiKasami,
};

/// What the table says of an algorithm: messages under light and heavy load, and the delay.
struct Claims {
    light: Claim,
    heavy: Claim,
    delay: Claim,
    notes: [&'static str; 3],
}

/// The nine rows of the table, for clusters of growing size.
pub(super) fn run(settings: Settings, sink: &mut dyn FnMut(Row)) {
    let squares: &[u32] = if settings.quick { &[3, 5] } else { &[3, 5, 7, 10] };
    let depths: &[u32] = if settings.quick { &[4] } else { &[4, 5, 6, 7] };
    for root in squares {
        permissions(root * root, settings, sink);
        quorums(*root, settings, sink);
        tokens(root * root, settings, sink);
    }
    for depth in depths {
        let (n, k) = ((1 << depth) - 1, f64::from(*depth));
        let claims = ours(k);
        row::<Mutex>("mutex, tree", "tree", n, &Options::default(), &claims, settings, sink);
    }
}

fn permissions(n: u32, settings: Settings, sink: &mut dyn FnMut(Row)) {
    let others = f64::from(n - 1);
    let both = |text, value| (Claim::exact(text, value), Claim::exact(text, value));
    let delay = || Claim::exact("T", 1.0);
    let (light, heavy) = both("3(N-1)", 3.0 * others);
    let claims = Claims { light, heavy, delay: delay(), notes: [""; 3] };
    baseline::<Lamport>(n, &claims, settings, sink);
    let (light, heavy) = both("2(N-1)", 2.0 * others);
    let claims = Claims { light, heavy, delay: delay(), notes: [""; 3] };
    baseline::<RicartAgrawala>(n, &claims, settings, sink);
    let light = Claim::average("3(N-1)/2", 1.5 * others);
    let heavy = Claim::exact("3(N-1)/2", 1.5 * others);
    let introduction = "the paper's introduction says N-1 light, 2(N-1) heavy";
    let claims = Claims { light, heavy, delay: delay(), notes: [introduction, introduction, ""] };
    baseline::<SinghalDynamic>(n, &claims, settings, sink);
}

fn quorums(root: u32, settings: Settings, sink: &mut dyn FnMut(Row)) {
    let k = f64::from(2 * root - 1);
    let n = root * root;
    let claims = Claims {
        light: Claim::exact("3(K-1)", 3.0 * (k - 1.0)),
        heavy: Claim::exact("5(K-1)", 5.0 * (k - 1.0)),
        delay: Claim::exact("2T", 2.0),
        notes: ["K of a grid", "nobody gives way while requests come in their order", ""],
    };
    baseline::<Maekawa>(n, &claims, settings, sink);
    row::<Mutex>("mutex, grid", "grid", n, &Options::default(), &ours(k), settings, sink);
}

/// What is claimed of our mutex.
fn ours(k: f64) -> Claims {
    Claims {
        light: Claim::exact("3(K-1)", 3.0 * (k - 1.0)),
        heavy: Claim::exact("6(K-1)", 6.0 * (k - 1.0)),
        delay: Claim::exact("T", 1.0),
        notes: ["", "an upper bound: the text has 5(K-1) for most cases", ""],
    }
}

fn tokens(n: u32, settings: Settings, sink: &mut dyn FnMut(Row)) {
    let (sites, log) = (f64::from(n), f64::from(n).log2());
    let delay = || Claim::exact("T", 1.0);
    let claims = Claims {
        light: Claim::average("N", sites),
        heavy: Claim::exact("N", sites),
        delay: delay(),
        notes: ["who has the token enters for nothing", "", ""],
    };
    baseline::<SuzukiKasami>(n, &claims, settings, sink);
    let claims = Claims {
        light: Claim::average("N/2", sites / 2.0),
        heavy: Claim::exact("N", sites),
        delay: delay(),
        notes: ["half of the others are asked, and the token comes", "", ""],
    };
    baseline::<SinghalHeuristic>(n, &claims, settings, sink);
    let walk = "the token walks once around the tree in N entries";
    let claims = Claims {
        light: Claim::average("log N", log),
        heavy: Claim::average("4", 4.0),
        delay: Claim::average("T(log N)/2", log / 2.0),
        notes: ["twice the way to the token, in a binary tree", walk, walk],
    };
    baseline::<Raymond>(n, &claims, settings, sink);
}

fn baseline<A: Algorithm>(n: u32, claims: &Claims, settings: Settings, sink: &mut dyn FnMut(Row)) {
    row::<Baseline<A>>(A::NAME, A::QUORUM, n, &None, claims, settings, sink);
}

fn row<P: Subject<Claim = ()>>(
    name: &str,
    kind: &str,
    n: u32,
    options: &P::Options,
    claims: &Claims,
    settings: Settings,
    sink: &mut dyn FnMut(Row),
) {
    let shape = Shape::Kind(kind.to_owned(), n as usize);
    let quorums = P::quorums(&shape, &[()]).expect("there are such quorums for every N");
    let asked = if kind == EVERYBODY { String::new() } else { format!(", quorums {kind}") };
    let mut say = |what: &str, load: &str, unit, measured: f64, at: usize| {
        let claim = [&claims.light, &claims.heavy, &claims.delay][at];
        sink(Row {
            name: format!("{name} N={n} {what}"),
            claim: claim.spelt(),
            condition: format!("{load}{asked}, constant delays"),
            measured: rounded(measured),
            unit,
            verdict: claim.verdict(measured),
            note: claims.notes[at].to_owned(),
        });
    };
    let one = "one caller at a time, sites in no order";
    say("light", one, "messages", light::<P>(&quorums, options, settings.seed), 0);
    let measured = heavy::<P>(&quorums, options, 2 * T);
    let all = "everybody asks again at once, E = 2T";
    say("heavy", all, "messages", measured.messages, 1);
    say("delay", all, "T", measured.handover, 2);
}
