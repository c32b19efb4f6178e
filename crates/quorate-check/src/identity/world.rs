//! Three sites with their disks, and a fourth process that can run as the first site.

use std::collections::VecDeque;

use quorate_quorum::SiteId;
use quorate_session::session::{Incarnation, Terms};
use quorate_site::Start;
use quorate_site::identity::{Identity, IdentityEffect, IdentityMessage, IdentityRecord, Life};

/// How many sites there are.
pub(super) const SITES: usize = 3;

/// The process that runs on a copy of the first site's folder.
pub(super) const COPY: usize = SITES;

/// A folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Folder {
    incarnation: u64,
    record: IdentityRecord,
    place: u64,
}

/// The sites, their folders, and what has happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World {
    terms: Terms,
    pub(super) folders: Vec<Folder>,
    pub(super) running: Vec<Option<Identity>>,
    /// A copy of the first site's folder that was made earlier.
    pub(super) backup: Option<Folder>,
    /// The processes that each process is connected with.
    links: Vec<Vec<usize>>,
    /// How many starts and places there have been.
    starts: u64,
    places: u64,
    /// The last life of the first site that began, and its highest write that was used.
    last_begun: Option<Life>,
    used: u64,
    broken: Option<&'static str>,
}

/// The site that a process runs as.
fn site_of(process: usize) -> SiteId {
    SiteId::new(process % SITES)
}

type Messages = VecDeque<(usize, usize, IdentityMessage)>;

impl World {
    /// All three sites have joined; none is connected.
    pub(super) fn new(terms: Terms) -> Self {
        let mut world = Self {
            terms,
            folders: vec![Folder::default(); SITES + 1],
            running: vec![None; SITES + 1],
            backup: None,
            links: vec![Vec::new(); SITES + 1],
            starts: 0,
            places: 0,
            last_begun: None,
            used: 0,
            broken: None,
        };
        (0..SITES).for_each(|process| world.start(process));
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            world.meet(a, b, usize::MAX);
        }
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            world.part(a, b);
        }
        world
    }

    /// The promise that is broken.
    pub(super) fn broken(&self) -> Option<&'static str> {
        self.broken
    }

    pub(super) fn is_running(&self, process: usize) -> bool {
        self.running[process].is_some()
    }

    pub(super) fn can_write(&self) -> impl Iterator<Item = usize> + '_ {
        let begun =
            |&process: &usize| self.running[process].as_ref().is_some_and(Identity::has_begun);
        [0, COPY].into_iter().filter(begun)
    }

    /// Whether two processes can connect, and are not connected.
    pub(super) fn can_meet(&self, a: usize, b: usize) -> bool {
        site_of(a) != site_of(b)
            && self.is_running(a)
            && self.is_running(b)
            && !self.links[a].contains(&b)
    }

    pub(super) fn start(&mut self, process: usize) {
        self.starts += 1;
        let folder = &mut self.folders[process];
        folder.incarnation += 1;
        let start = Start {
            birth: self.starts.into(),
            nonce: self.starts,
            place: folder.place,
            new_place: folder.place,
            ..Start::default()
        };
        let (me, incarnation) = (site_of(process), Incarnation(folder.incarnation));
        let record = folder.record.clone();
        let started = Identity::start(me, SITES, self.terms, incarnation, record, &start);
        let identity = started.expect("the folder is its own");
        folder.record = identity.record().clone();
        self.running[process] = Some(identity);
        self.act(process, Identity::on_start);
    }

    pub(super) fn crash(&mut self, process: usize) {
        for other in self.links[process].clone() {
            self.part(process, other);
        }
        self.running[process] = None;
    }

    /// The folder of the first site, which does not run, is another one: empty, or the backup.
    pub(super) fn replace_folder(&mut self, folder: Folder) {
        self.places += 1;
        self.folders[0] = Folder { place: self.places, ..folder };
    }

    /// The first site's folder is copied, for the fourth process.
    pub(super) fn copy_folder(&mut self) {
        self.places += 1;
        self.folders[COPY] = Folder { place: self.places, ..self.folders[0].clone() };
    }

    /// Two processes connect; after so many messages the connection breaks, unless there are no
    /// more.
    pub(super) fn meet(&mut self, a: usize, b: usize, most: usize) {
        for (at, peer) in [(a, b), (b, a)] {
            let twin =
                self.links[at].iter().copied().find(|&other| site_of(other) == site_of(peer));
            if let Some(twin) = twin {
                self.part(at, twin);
            }
        }
        self.links[a].push(b);
        self.links[b].push(a);
        let mut under_way = self.act(a, |it, out| it.on_up(site_of(b), out));
        under_way.extend(self.act(b, |it, out| it.on_up(site_of(a), out)));
        if !self.carry(under_way, most) {
            self.part(a, b);
        }
    }

    fn part(&mut self, a: usize, b: usize) {
        for (at, peer) in [(a, b), (b, a)] {
            self.links[at].retain(|&other| other != peer);
            self.act(at, |it, out| it.on_down(site_of(peer), out));
        }
    }

    /// A process makes a numbered write, and the others hear of it or its connections break.
    pub(super) fn write(&mut self, process: usize, is_heard: bool) {
        let (used, mut number) = (self.used, 0);
        let sent = self.act(process, |it, out| {
            number = it.next_write();
            out.push(IdentityEffect::Persist);
        });
        drop(sent);
        if number <= used {
            self.broken = Some("a number is used twice");
        }
        let told = self.act(process, Identity::announce);
        if is_heard {
            self.carry(told, usize::MAX);
        } else {
            for other in self.links[process].clone() {
                self.part(process, other);
            }
        }
    }

    /// Delivers messages, at most so many; false if some are left.
    fn carry(&mut self, mut under_way: Messages, most: usize) -> bool {
        for _ in 0..most {
            let Some((from, to, message)) = under_way.pop_front() else { return true };
            if self.links[to].contains(&from) {
                let site = site_of(from);
                under_way.extend(self.act(to, |it, out| it.on_message(site, message, false, out)));
            }
        }
        under_way.is_empty()
    }

    /// Lets a process act, and syncs its disk at once. Returns what it sends.
    fn act(
        &mut self,
        process: usize,
        act: impl FnOnce(&mut Identity, &mut Vec<IdentityEffect>),
    ) -> Messages {
        let Some(identity) = &mut self.running[process] else { return Messages::new() };
        let lineage = identity.record().lineage.clone();
        let (mut out, mut sent) = (Vec::new(), Messages::new());
        act(identity, &mut out);
        let (mut effects, mut begins) = (VecDeque::from(out), false);
        while let Some(effect) = effects.pop_front() {
            match effect {
                IdentityEffect::Send(to, message) => {
                    let linked = self.links[process].iter().find(|&&peer| site_of(peer) == to);
                    sent.extend(linked.map(|&peer| (process, peer, message)));
                }
                IdentityEffect::Persist => {
                    identity.note_persisted();
                    self.folders[process].record = identity.record().clone();
                }
                IdentityEffect::Save => {
                    self.folders[process].record = identity.record().clone();
                    let mut more = Vec::new();
                    identity.on_saved(&self.folders[process].record, &mut more);
                    effects.extend(more);
                }
                IdentityEffect::Begin => begins = true,
                _ => {}
            }
        }
        if begins && site_of(process) == site_of(0) {
            // Its folder must be from after the start of that life; what the life wrote later has
            // numbers.
            if self.last_begun.is_some_and(|last| !lineage.contains(last)) {
                self.broken = Some("a life begins that does not follow the last one");
            }
            self.last_begun = lineage.latest();
        }
        self.note_used(process);
        self.look_for_two();
        sent
    }

    /// What a majority has registered is used.
    fn note_used(&mut self, process: usize) {
        let Some(identity) = &self.running[process] else { return };
        if site_of(process) == site_of(0) && identity.has_begun() {
            self.used = self.used.max(identity.registered_writes());
        }
    }

    /// No two processes run as the first site, both begun, each the latest life for some peer: two
    /// quorums could count both.
    fn look_for_two(&mut self) {
        let counts = |process: usize| {
            let identity = self.running[process].as_ref().filter(|it| it.has_begun())?;
            let life = identity.record().lineage.latest()?;
            let knows = |peer: &Option<Identity>| {
                let known = peer.as_ref()?.record().known.get(&site_of(0))?;
                (known.life == life).then_some(())
            };
            self.running[1..SITES].iter().find_map(knows)
        };
        if counts(0).is_some() && counts(COPY).is_some() {
            self.broken = Some("two lives of one site count at once");
        }
    }
}
