//! Both pools side by side: the ledger, and (h,k)-arbiters.

use std::sync::Arc;

use quorate_protocol::SiteId;
use quorate_protocol::ledger::{self, LedgerPool};
use quorate_protocol::pool::{self, Claim, Pool, Units};
use quorate_quorum::{ArbiterKind, Arbiters, Kind, QuorumSystem, SiteSet, build};
use quorate_sim::random::{Delay, Plan, Span, T, Tally};
use quorate_sim::{
    AnySetup, ClaimState, Claims, Contract, Fault, LedgerQuorums, Order, Unwatched, setup,
};

use super::measure::{in_t, seeds, served, share};
use super::pool::{InUse, condition, runs};
use super::{Axis, Claim as Claimed, Finding, Plot, Settings, Sink};

/// Sites and units of the clusters.
const CLUSTERS: [(usize, usize); 2] = [(5, 4), (9, 3)];

/// The longest pauses between two claims of a site, in T.
const THINK: [u64; 5] = [0, 5, 20, 80, 320];

/// A pool on some quorums.
struct Candidate {
    name: String,
    cluster: Arc<dyn AnySetup>,
    /// The quorums for 1, 2, … units.
    of: Vec<Arc<dyn QuorumSystem>>,
    /// Messages to each other site of the quorum, for a grant that nobody else wants.
    each: usize,
}

/// Messages, units in use, hand-over, and the sites that may be down.
pub(super) fn run(settings: Settings, sink: Sink<'_>) {
    for (n, k) in CLUSTERS {
        let candidates = candidates(n, k);
        let mut plots = plots(settings, n, k);
        for candidate in &candidates {
            alone(candidate, sink);
            for think in THINK {
                under_load(settings, candidate, think, sink, &mut plots);
            }
            handover(candidate, sink);
            down(candidate, sink, &mut plots[3]);
        }
        let [ledger, arbiters] = ["ledger", "arbiters"].map(|name| {
            let of_name = candidates.iter().filter(|found| found.name.starts_with(name));
            of_name.map(Candidate::borne).max().expect("there is one of each protocol")
        });
        sink(Finding::Headline(format!(
            "A pool of {k} units on {n} sites: with a ledger any {ledger} sites may be down, \
             with arbiters {arbiters}, if one unit is asked for."
        )));
        for plot in plots {
            sink(Finding::Plot(plot));
        }
    }
}

fn plots(settings: Settings, n: usize, k: usize) -> [Plot; 4] {
    let title = |what: &str| format!("{what}, {n} sites, {k} units");
    let load = condition(settings, 0).replace("think up to 0T, ", "");
    let think = || Axis::even("think up to, in T");
    [
        Plot::new(&title("Messages"), &load, think(), Axis::even("messages for a grant")),
        Plot::new(&title("Units in use"), &load, think(), Axis::even("units")),
        Plot::new(&title("Hand-over"), &load, think(), Axis::even("from a release, in T")),
        Plot::new(
            &title("Served with sites down"),
            "every set of so many sites; the first other site asks",
            Axis::even("sites down"),
            Axis::even("share of the sets"),
        ),
    ]
}

fn candidates(n: usize, k: usize) -> Vec<Candidate> {
    let kinds = [Some(Kind::Majority), (n == 9).then_some(Kind::Grid)];
    let families = [Some(ArbiterKind::Uniform), (n == 9).then_some(ArbiterKind::Space)];
    let ledgers = kinds.into_iter().flatten().map(|kind| of_ledger(kind, n, k));
    ledgers.chain(families.into_iter().flatten().map(|kind| of_arbiters(kind, n, k))).collect()
}

fn of_ledger(kind: Kind, n: usize, k: usize) -> Candidate {
    let quorums = build(kind, n).expect("the kind takes so many sites");
    let of = vec![quorums.clone(); k];
    let units = units(k);
    let cluster = setup::<LedgerPool>(LedgerQuorums { units, quorums }, ledger::Options::default());
    Candidate { name: format!("ledger, {kind}"), cluster, of, each: 4 }
}

fn of_arbiters(kind: ArbiterKind, n: usize, k: usize) -> Candidate {
    let arbiters: Arbiters = kind.build(n, k).expect("the family takes so many sites");
    let of = (1..=k).map(|h| arbiters.of(h).expect("up to k units").clone()).collect();
    let cluster = setup::<Pool>(Arc::new(arbiters), pool::Options::default());
    Candidate { name: format!("arbiters, {kind}"), cluster, of, each: 3 }
}

fn units(k: usize) -> u32 {
    u32::try_from(k).expect("few units")
}

impl Candidate {
    fn n(&self) -> usize {
        self.of[0].n()
    }

    fn k(&self) -> usize {
        self.of.len()
    }

    /// The name of a row.
    fn row(&self, what: &str) -> String {
        format!("{} n={} k={}: {what}", self.name, self.n(), self.k())
    }

    fn claim(&self, h: usize) -> Claim {
        let units = Units { count: units(h), of: units(self.k()) };
        Claim { units, numbered: false, no_wait: false }
    }

    fn plan(&self, claims: Claims) -> Plan {
        Plan::calm_in(Arc::clone(&self.cluster), claims)
    }

    /// How many sites may be down, whichever they are, if one unit is asked for.
    fn borne(&self) -> usize {
        self.of[0].resilience().expect("few sites")
    }

    /// Messages for h units at this site when nobody else asks.
    fn messages_alone(&self, site: SiteId, h: usize) -> usize {
        let quorum = self.of[h - 1].pick_for(site, &SiteSet::full(self.n()));
        let others = quorum.expect("all are up").iter().filter(|&other| other != site).count();
        self.each * others
    }

    /// The mean of the same when site after site asks for 1, 2, … k units.
    fn mean_alone(&self) -> f64 {
        let of_site = |site: SiteId| self.messages_alone(site, site.index() % self.k() + 1) as u64;
        share(SiteId::all(self.n()).map(of_site).sum(), self.n() as u64)
    }
}

/// A site asks ten times, and nobody else does.
fn alone(candidate: &Candidate, sink: Sink<'_>) {
    for h in 1..=candidate.k() {
        let mut plan = candidate.plan(Claims::all(vec![candidate.claim(h)]));
        plan.requests[0] = 10;
        let tally = served(&plan, 1, &mut Unwatched);
        let expected = candidate.messages_alone(SiteId::new(0), h) as f64;
        let text = if candidate.each == 4 { "4(K-1)" } else { "3(s-1)" };
        let name = candidate.row(&format!("messages alone, h={h}"));
        let measured = share(tally.messages, tally.entries);
        let condition = "site 1 asks ten times, constant delays".to_owned();
        sink(Claimed::exact(text, expected).beside(name, condition, (measured, "messages"), ""));
    }
}

/// Site after site asks for 1, 2, … k units, and from 1 on again.
fn under_load(
    settings: Settings,
    candidate: &Candidate,
    think: u64,
    sink: Sink<'_>,
    plots: &mut [Plot; 4],
) {
    let claims = (1..=candidate.k()).map(|h| vec![candidate.claim(h)]).collect();
    let plan = Plan {
        requests: vec![2; candidate.n()],
        think: Span::UpTo(think * T),
        inside: Span::UpTo(3 * T),
        delay: Delay::Exponential,
        ..candidate.plan(Claims::each(claims))
    };
    let (mut tally, mut in_use) = (Tally::default(), InUse::default());
    for seed in seeds(settings.seed, runs(settings)) {
        tally.add(&served(&plan, seed, &mut in_use));
        in_use.next_run();
    }
    let messages = share(tally.messages, tally.entries);
    let units = in_use.mean();
    let at = || condition(settings, think);
    let name = candidate.row(&format!("messages, think {think}T"));
    let claim = Claimed::at_least("alone", candidate.mean_alone());
    sink(claim.beside(name, at(), (messages, "messages"), ""));
    let name = candidate.row(&format!("units in use, think {think}T"));
    let claim = Claimed::at_most("k", candidate.k() as f64);
    sink(claim.beside(name, at(), (units, "units"), ""));
    let x = think as f64;
    plots[0].measured(&candidate.name, x, messages);
    plots[1].measured(&candidate.name, x, units);
    let handover = in_t(tally.handover_ticks) / tally.handovers.max(1) as f64;
    plots[2].measured(&candidate.name, x, handover);
}

/// All sites ask for all units again and again, so the next caller waits whenever one leaves.
fn handover(candidate: &Candidate, sink: Sink<'_>) {
    let k = candidate.k();
    let plan = Plan {
        requests: vec![20; candidate.n()],
        inside: Span::Fixed(20 * T),
        ..candidate.plan(Claims::all(vec![candidate.claim(k)]))
    };
    let tally = served(&plan, 1, &mut Unwatched);
    let handover = in_t(tally.handover_ticks) / tally.handovers as f64;
    let condition = "every site asks for all units twenty times, inside 20T, constant delays";
    let name = candidate.row("hand-over of all units");
    let claim = Claimed::at_most("to an arbiter, and from it", 2.0);
    sink(claim.beside(name, condition.to_owned(), (handover, "T"), ""));
}

/// Every set of sites is down for good, and the first other site asks for h units.
fn down(candidate: &Candidate, sink: Sink<'_>, plot: &mut Plot) {
    let n = candidate.n();
    let mut hs = vec![1, candidate.k()];
    // The ledger asks the same quorum for any number of units.
    hs.truncate(if candidate.each == 4 { 1 } else { 2 });
    for h in hs {
        let label = if candidate.each == 4 {
            candidate.name.clone()
        } else {
            format!("{}, h={h}", candidate.name)
        };
        let mut borne = None;
        for dead in 0..n {
            let sets = sets_of(n, dead);
            let served = sets.iter().filter(|set| is_served(candidate, set, h)).count();
            if served == sets.len() {
                borne = Some(dead);
            }
            plot.measured(&label, dead as f64, share(served as u64, sets.len() as u64));
        }
        let borne = borne.expect("everybody is served when no site is down") as f64;
        let claimed = candidate.of[h - 1].resilience().expect("few sites") as f64;
        let name = candidate.row(&format!("sites that may be down, h={h}"));
        let condition = "every set of sites; the first other site asks".to_owned();
        sink(Claimed::exact("", claimed).beside(name, condition, (borne, "sites"), ""));
    }
}

/// All sets of so many of n sites.
fn sets_of(n: usize, size: usize) -> Vec<SiteSet> {
    let sets = (0..1_u32 << n).filter(|set| set.count_ones() as usize == size);
    let sites = |set: u32| SiteId::all(n).filter(move |site| set >> site.index() & 1 == 1);
    sets.map(|set| sites(set).collect()).collect()
}

/// Whether the first site that is up gets h units when these sites are down for good.
fn is_served(candidate: &Candidate, dead: &SiteSet, h: usize) -> bool {
    const FOR_GOOD: Contract = Contract { reopens: false, restarts: false, ..Contract::MENDED };
    let mut world = Arc::clone(&candidate.cluster).world(Some(FOR_GOOD), Order::Fifo);
    for site in dead.iter() {
        world.suffer(Fault::Crash(site), &mut Unwatched);
    }
    while let Some(&fault) = world.owed(false, false).first() {
        world.suffer(fault, &mut Unwatched);
    }
    let mut up = SiteId::all(candidate.n()).filter(|&site| !dead.contains(site));
    let site = up.next().expect("not all sites are down");
    let claim = quorate_sim::Claim::of(candidate.claim(h));
    let Ok(claim) = world.acquire(site, &claim, &mut Unwatched) else { return false };
    world.settle(&mut Unwatched);
    assert_eq!(world.breach(), None, "{}, {dead} down", candidate.name);
    world.claim_state(site, claim) == Some(ClaimState::Inside)
}
