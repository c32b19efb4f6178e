//! Whole sites on a network without delays, and a clock that all of them share.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use quorate_protocol::{Fence, Tick};
use quorate_quorum::{Kind, SiteId, build};
use quorate_session::client::ClientId;
use quorate_session::{
    Answer, AskId, BreakRequest, CallId, ClaimRequest, Claimant, Denial, LockSpec, Loss, Name,
    Question,
};
use quorate_site::{Config, Disk, Effect, Grant, Input, Past, Site, SitePacket, Start};

/// Measures the steps of sites, one after the other.
pub(crate) trait Stopwatch {
    /// A step begins.
    fn begin(&mut self);

    /// It ends.
    fn end(&mut self);
}

/// The sites, the packets under way, and the effects for callers.
pub(crate) struct Net {
    sites: Vec<Option<Site>>,
    disks: Vec<Past>,
    configs: Vec<Config>,
    pub(crate) now: Tick,
    under_way: VecDeque<(usize, usize, SitePacket)>,
    /// The records that were written, and whose sites are not told yet.
    saved: VecDeque<(usize, Disk)>,
    starts: u64,
    /// The directions in which no packet arrives.
    cut: BTreeSet<(usize, usize)>,
    /// All effects for callers and operators, and their sites.
    pub(crate) effects: Vec<(usize, Effect)>,
    pub(crate) writes: u32,
    pub(crate) packets: u32,
    /// Measures each step of a site, for benchmarks.
    pub(crate) stopwatch: Option<Box<dyn Stopwatch>>,
    /// All packets, if they are recorded.
    pub(crate) record: Option<Vec<SitePacket>>,
    calls: u64,
}

pub(crate) fn name(text: &str) -> Name {
    text.parse().expect("a good name")
}

impl Net {
    /// A cluster of majorities with all sites connected.
    pub(crate) fn new(n: usize) -> Self {
        Self::with(n, |_| {})
    }

    /// The same with another configuration.
    pub(crate) fn with(n: usize, change: impl Fn(&mut Config)) -> Self {
        Self::begin(n, change, Past::default())
    }

    /// The same with something on all disks.
    pub(crate) fn with_past(n: usize, past: Past) -> Self {
        Self::begin(n, |_| {}, past)
    }

    fn begin(n: usize, change: impl Fn(&mut Config), past: Past) -> Self {
        let quorums = build(Kind::Majority, n).unwrap();
        let configs: Vec<Config> = SiteId::all(n)
            .map(|site| {
                let mut config = Config::new(site, quorums.clone());
                change(&mut config);
                config
            })
            .collect();
        let mut net = Self {
            sites: (0..n).map(|_| None).collect(),
            disks: vec![past; n],
            configs,
            now: Tick(1),
            under_way: VecDeque::new(),
            saved: VecDeque::new(),
            starts: 0,
            cut: BTreeSet::new(),
            effects: Vec::new(),
            writes: 0,
            packets: 0,
            stopwatch: None,
            record: None,
            calls: 0,
        };
        (0..n).for_each(|site| net.start(site));
        net.effects.clear();
        net
    }

    pub(crate) fn site(&self, site: usize) -> &Site {
        self.sites[site].as_ref().expect("it runs")
    }

    /// Starts a site from its disk and connects it.
    pub(crate) fn start(&mut self, site: usize) {
        let config = self.configs[site].clone();
        self.starts += 1;
        let start = Start { birth: self.starts.into(), nonce: self.starts, ..Start::default() };
        let past = self.disks[site].clone();
        let (value, effects) = Site::start(self.now, config, past, &start).expect("its own disk");
        self.sites[site] = Some(value);
        self.apply(site, effects);
        for peer in (0..self.sites.len()).filter(|&peer| peer != site) {
            if self.sites[peer].is_some() {
                self.step(site, Input::Up(SiteId::new(peer)));
                self.step(peer, Input::Up(SiteId::new(site)));
            }
        }
        self.settle();
    }

    /// A site loses everything but its disk.
    pub(crate) fn crash(&mut self, site: usize) {
        self.sites[site] = None;
        self.under_way.retain(|(from, to, _)| *from != site && *to != site);
        for peer in 0..self.sites.len() {
            if self.sites[peer].is_some() {
                self.step(peer, Input::Down(SiteId::new(site)));
            }
        }
        self.settle();
    }

    /// Nothing of `from` arrives at `to` any more.
    pub(crate) fn cut(&mut self, from: usize, to: usize) {
        self.cut.insert((from, to));
    }

    /// Everything arrives again, on new connections.
    pub(crate) fn heal(&mut self) {
        self.connect_again();
        self.settle();
    }

    /// New connections take the place of those that were cut. Nothing is delivered yet.
    pub(crate) fn connect_again(&mut self) {
        for (from, to) in std::mem::take(&mut self.cut) {
            self.step(from, Input::Up(SiteId::new(to)));
            self.step(to, Input::Up(SiteId::new(from)));
        }
    }

    /// What is on the disk of a site.
    pub(crate) fn disk(&self, site: usize) -> &Past {
        &self.disks[site]
    }

    /// A packet arrives that its sender may not have sent.
    pub(crate) fn deliver(&mut self, from: usize, to: usize, packet: SitePacket) {
        self.step(to, Input::Packet(SiteId::new(from), packet));
        self.settle();
    }

    /// A caller claims a mutex.
    pub(crate) fn claim(&mut self, site: usize, text: &str) -> CallId {
        self.claim_until(site, text, None)
    }

    /// A caller claims a mutex, with a timeout.
    pub(crate) fn claim_until(
        &mut self,
        site: usize,
        text: &str,
        timeout: Option<Duration>,
    ) -> CallId {
        self.claim_as(site, text, LockSpec::Mutex, timeout)
    }

    /// A caller claims a lock, with a timeout.
    pub(crate) fn claim_as(
        &mut self,
        site: usize,
        text: &str,
        spec: LockSpec,
        timeout: Option<Duration>,
    ) -> CallId {
        self.claim_in(site, text, spec, timeout, false)
    }

    /// A caller claims a lock that it has waited for at another site since this Lamport time.
    pub(crate) fn claim_since(
        &mut self,
        site: usize,
        text: &str,
        spec: LockSpec,
        since: u64,
    ) -> CallId {
        self.calls += 1;
        let call = CallId(self.calls);
        let (name, claimant) = (name(text), Claimant::default());
        let since = Some(since);
        let claim = ClaimRequest { name, spec, claimant, timeout: None, no_wait: false, since };
        self.step(site, Input::Claim(call, ClientId(1), claim));
        self.settle();
        call
    }

    /// A caller of a client claims a mutex. Nothing is delivered yet.
    pub(crate) fn claim_by(
        &mut self,
        site: usize,
        client: ClientId,
        text: &str,
        no_wait: bool,
        timeout: Option<Duration>,
    ) -> CallId {
        self.calls += 1;
        let (call, spec) = (CallId(self.calls), LockSpec::Mutex);
        let (name, claimant) = (name(text), Claimant::default());
        let claim = ClaimRequest { name, spec, claimant, timeout, no_wait, since: None };
        self.step(site, Input::Claim(call, client, claim));
        call
    }

    /// A site is to stop within `time`.
    pub(crate) fn drain(&mut self, site: usize, time: Duration) {
        self.step(site, Input::Drain(time));
        self.settle();
    }

    /// A caller claims a lock, with `no_wait`.
    pub(crate) fn no_wait(&mut self, site: usize, text: &str, spec: LockSpec) -> CallId {
        self.claim_in(site, text, spec, None, true)
    }

    fn claim_in(
        &mut self,
        site: usize,
        text: &str,
        spec: LockSpec,
        timeout: Option<Duration>,
        no_wait: bool,
    ) -> CallId {
        self.calls += 1;
        let call = CallId(self.calls);
        let claimant = Claimant {
            owner: format!("caller {}", self.calls).parse().unwrap(),
            ..Claimant::default()
        };
        let claim =
            ClaimRequest { name: name(text), spec, claimant, timeout, no_wait, since: None };
        self.step(site, Input::Claim(call, ClientId(1), claim));
        self.settle();
        call
    }

    pub(crate) fn leave(&mut self, site: usize, call: CallId) {
        self.leave_alone(site, call);
        self.settle();
    }

    /// A caller leaves. Nothing is delivered yet.
    pub(crate) fn leave_alone(&mut self, site: usize, call: CallId) {
        self.step(site, Input::Leave(call));
    }

    /// A site handles what is due. Nothing is delivered yet.
    pub(crate) fn wake(&mut self, site: usize) {
        self.step(site, Input::Time);
    }

    pub(crate) fn break_it(&mut self, site: usize, text: &str, fence: Fence) {
        let by = Claimant { owner: "operator".parse().unwrap(), ..Claimant::default() };
        let order =
            BreakRequest { name: name(text), fence, by, reason: "it hangs".parse().unwrap() };
        self.step(site, Input::Break(order));
        self.settle();
    }

    /// A site asks all others, and itself. Returns the answers, and which are of a site in
    /// quarantine.
    pub(crate) fn ask(&mut self, site: usize, question: Question) -> Vec<(SiteId, Answer, bool)> {
        self.calls += 1;
        let ask = AskId(self.calls);
        self.step(site, Input::Ask(ask, question));
        self.settle();
        let answers = self.effects.iter().filter_map(|(_, effect)| match effect {
            Effect::Answer(to, from, answer, quarantined) if *to == ask => {
                Some((*from, answer.clone(), *quarantined))
            }
            _ => None,
        });
        answers.collect()
    }

    /// Lets time pass; every site is woken when it asked to be.
    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            let due = |site: &Option<Site>| site.as_ref().and_then(Site::deadline);
            let next = self.sites.iter().filter_map(due).min().filter(|when| *when <= end);
            self.now = next.unwrap_or(end);
            for site in 0..self.sites.len() {
                if self.sites[site].is_some() {
                    self.step(site, Input::Time);
                }
            }
            self.settle();
            if next.is_none() {
                return;
            }
        }
    }

    /// The grant of a caller.
    pub(crate) fn grant(&self, call: CallId) -> Option<Grant> {
        self.effects.iter().find_map(|(_, effect)| match effect {
            Effect::Grant(to, grant) if *to == call => Some(grant.clone()),
            _ => None,
        })
    }

    /// The loss of a grant.
    pub(crate) fn loss(&self, call: CallId) -> Option<Loss> {
        self.effects.iter().find_map(|(_, effect)| match effect {
            Effect::Lost(to, loss) if *to == call => Some(loss.clone()),
            _ => None,
        })
    }

    /// The denial of a claim.
    pub(crate) fn denial(&self, call: CallId) -> Option<Denial> {
        self.effects.iter().find_map(|(_, effect)| match effect {
            Effect::Denied(to, denial) if *to == call => Some(denial.clone()),
            _ => None,
        })
    }

    fn step(&mut self, site: usize, input: Input) {
        if let Some(stopwatch) = &mut self.stopwatch {
            stopwatch.begin();
        }
        let effects = self.sites[site].as_mut().expect("it runs").step(self.now, input);
        if let Some(stopwatch) = &mut self.stopwatch {
            stopwatch.end();
        }
        self.apply(site, effects);
    }

    /// Delivers everything, and wakes sites that ask for it at once.
    pub(crate) fn settle(&mut self) {
        while self.go_on() {}
    }

    /// Delivers the next packet, or wakes a site that asks for it at once; false if there is
    /// nothing to do.
    pub(crate) fn go_on(&mut self) -> bool {
        if let Some((from, to, packet)) = self.under_way.pop_front() {
            if self.sites[to].is_some() && !self.cut.contains(&(from, to)) {
                self.step(to, Input::Packet(SiteId::new(from), packet));
            }
        } else if let Some((site, disk)) = self.saved.pop_front() {
            if self.sites[site].is_some() {
                self.step(site, Input::Saved(disk));
            }
        } else if let Some(site) = self.due_now() {
            self.step(site, Input::Time);
        } else {
            return false;
        }
        true
    }

    fn due_now(&self) -> Option<usize> {
        let due = |site: &Option<Site>| site.as_ref().and_then(Site::deadline);
        self.sites.iter().position(|site| due(site).is_some_and(|when| when <= self.now))
    }

    fn apply(&mut self, site: usize, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Packet(to, packet) => {
                    self.packets += 1;
                    if let Some(record) = &mut self.record {
                        record.push(packet.clone());
                    }
                    self.under_way.push_back((site, to.index(), packet));
                }
                Effect::Persist(disk) => {
                    self.writes += 1;
                    self.disks[site].disk = disk;
                }
                Effect::Save(disk) => {
                    self.writes += 1;
                    self.disks[site].disk = disk.clone();
                    self.saved.push_back((site, disk));
                }
                Effect::Keep(name, record) => {
                    self.writes += 1;
                    self.disks[site].tokens.insert(name, record);
                }
                Effect::Fold(folded, names) => {
                    self.writes += 1;
                    self.disks[site].fold(folded, &names);
                }
                Effect::Wake(_) => {}
                effect => self.effects.push((site, effect)),
            }
        }
    }
}
