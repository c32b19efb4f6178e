//! Headlines: the main result of an experiment, for the top of a report.

use super::{Plot, rounded};

/// Our mutex beside Maekawa's algorithm, where holders stay shortest: delay and throughput.
pub(super) fn of_handover(delay: &Plot, throughput: &Plot) -> String {
    let both = |plot: &Plot| ["maekawa", "5.3"].map(|name| first(plot, name));
    let [(stay, old), (_, new)] = both(delay);
    let [(_, few), (_, many)] = both(throughput);
    format!(
        "A busy lock passes from one holder to the next in {}; Maekawa's algorithm takes {}. \
         Where holders stay {}, that lets {} times as many in.",
        in_t(new),
        in_t(old),
        in_t(stay),
        rounded(many / few)
    )
}

/// The leftmost point of a line.
fn first(plot: &Plot, name: &str) -> (f64, f64) {
    let line = plot.lines.iter().find(|line| line.label == name);
    *line.and_then(|line| line.points.first()).expect("the line was measured")
}

/// `T`, `2T`.
fn in_t(delay: f64) -> String {
    if (delay - 1.0).abs() < 1e-9 { "T".to_owned() } else { format!("{}T", rounded(delay)) }
}
