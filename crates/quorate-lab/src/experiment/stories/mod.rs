//! Short histories worth a look: each is drawn, and what it shows is measured in it.

mod timed_world;

use std::time::Duration;

use quorate_protocol::group::{self, GroupLock};
use quorate_protocol::mutex::{self, Mutex};
use quorate_protocol::token::{self, TokenLock};
use quorate_quorum::SiteId;
use quorate_sim::{Claim as Asked, Shape, SimProtocol, setup};

use self::timed_world::TimedWorld;
use super::{Claim, Finding, Settings, Sink};
use crate::baseline::Baseline;
use crate::baselines::Maekawa;
use crate::diagram::{Diagram, Span};

/// Two hand-overs, an occupancy with followers, and a token that is lost.
pub(super) fn run(_: Settings, sink: Sink<'_>) {
    let twice = Claim::exact("2T", 2.0);
    handover::<Baseline<Maekawa>>("Hand-over by way of an arbiter: maekawa", &None, &twice, sink);
    let once = Claim::exact("T", 1.0);
    let options = mutex::Options::default();
    handover::<Mutex>("Hand-over from holder to holder: mutex", &options, &once, sink);
    followers(sink);
    regeneration(sink);
}

/// Sites 1 and 3 ask site 2, almost at the same time.
fn handover<P: SimProtocol<Claim = ()>>(
    title: &str,
    options: &P::Options,
    claim: &Claim,
    sink: Sink<'_>,
) {
    let condition = "site 2 is in both quorums, messages take T, holders stay 3T";
    let quorum =
        |sites: [usize; 2]| Some(sites.map(|site| SiteId::new(site - 1)).into_iter().collect());
    let shape = Shape::Listed(vec![quorum([1, 2]), None, quorum([2, 3])]);
    let quorums = P::quorums(&shape, &[()]).expect("the quorums meet");
    let world = TimedWorld::new(setup::<P>(quorums, options.clone()), &["1", "2", "3"], 3.0);
    let world = world.acquires(1, 0.0, Asked::of(())).acquires(3, 0.5, Asked::of(()));
    let mut diagram = world.run(title, condition);
    let (left, entered) = (ends(&diagram, 0), begins(&diagram, 2));
    mark(&mut diagram, left, entered);
    let name = format!("{} hand-over", P::NAME);
    sink(claim.beside(name, condition.to_owned(), (entered - left, "T"), ""));
    sink(Finding::Diagram(diagram));
}

/// Site 3 joins site 1 in group a, and site 2 has to wait.
fn followers(sink: Sink<'_>) {
    let condition = "3 sites, majorities, messages take T, callers stay 5T";
    let setup = setup::<GroupLock>(majority::<GroupLock>(), group::Options::default());
    let names = ["1: group a", "2: group b", "3: group a"];
    let mut world = TimedWorld::new(setup, &names, 5.0);
    for (site, at, group) in [(1, 0.0, "a"), (3, 2.5, "a"), (2, 4.0, "b")] {
        let claim = GroupLock::parse_claim(&[group]).expect("a group");
        world = world.acquires(site, at, Asked::of(claim));
    }
    let diagram = world.run("An occupancy with a follower: group", condition);
    let claim = Claim::exact("all of one group", 2.0);
    let together = (diagram.together() as f64, "inside");
    sink(claim.beside("group together".to_owned(), condition.to_owned(), together, ""));
    sink(Finding::Diagram(diagram));
}

/// The holder crashes; a waiter makes a new token.
fn regeneration(sink: Sink<'_>) {
    let condition = "3 sites, messages take T, callers stay 3T, T1 is 6T and a bit";
    let options = token::Options { t1: Duration::from_millis(6), ..token::Options::default() };
    let names = ["1: group a", "2: group b", "3: group b"];
    let setup = setup::<TokenLock>(majority::<TokenLock>(), options);
    let mut world = TimedWorld::new(setup, &names, 3.0);
    for (site, at, group) in [(1, 0.0, "a"), (2, 0.5, "b"), (3, 3.0, "b")] {
        let claim = TokenLock::parse_claim(&[group]).expect("a group");
        world = world.acquires(site, at, Asked::of(claim));
    }
    let world = world.crashes(1, 2.0);
    let mut diagram = world.run("A token is lost and made anew: token", condition);
    let (lost, made) = (2.0, begins(&diagram, 1));
    mark(&mut diagram, lost, made);
    let claim = Claim::at_most("3(n-1)", 6.0);
    let kinds = ["prepare", "promise", "nack", "new_epoch", "withdraw"];
    let messages = (diagram.messages(&kinds) as f64, "messages");
    let note = "the site that is down does not answer";
    sink(claim.beside("token made anew".to_owned(), condition.to_owned(), messages, note));
    sink(Finding::Diagram(diagram));
}

fn majority<P: SimProtocol>() -> P::Quorums {
    P::quorums(&Shape::Kind("majority".to_owned(), 3), &[]).expect("three have majorities")
}

/// When the first caller at a site enters.
fn begins(diagram: &Diagram, place: usize) -> f64 {
    diagram.inside(place).next().expect("it gets in").0
}

/// When it is out again.
fn ends(diagram: &Diagram, place: usize) -> f64 {
    diagram.inside(place).next().expect("it gets in").1
}

/// Marks a time in T.
fn mark(diagram: &mut Diagram, from: f64, until: f64) {
    let length = super::rounded(until - from);
    let number = if (length - 1.0).abs() < 1e-9 { String::new() } else { length.to_string() };
    diagram.spans.push(Span { from, until, label: format!("{number}T") });
}
