//! Who is refused, and when a life begins: rule by rule.

use std::collections::VecDeque;

use quorate_quorum::SiteId;
use quorate_session::session::{Incarnation, Terms};
use quorate_site::identity::{
    Identity, IdentityEffect, IdentityMessage, IdentityRecord, IdentityRefusal, Lineage,
};
use quorate_site::{Start, StartError};

/// Identities on disks that are always in time, and connections without delays.
struct Members {
    n: usize,
    disks: Vec<(u64, IdentityRecord)>,
    running: Vec<Option<Identity>>,
    places: Vec<u64>,
    starts: u64,
    /// Who refused whom, and why.
    refused: Vec<(usize, usize, IdentityRefusal)>,
}

impl Members {
    /// All members run and are connected.
    fn formed(n: usize) -> Self {
        let mut members = Self {
            n,
            disks: vec![Default::default(); n],
            running: vec![None; n],
            places: vec![1; n],
            starts: 0,
            refused: Vec::new(),
        };
        (0..n).for_each(|site| members.start(site));
        members.connect_all();
        members
    }

    fn try_start(&mut self, site: usize, record: IdentityRecord) -> Result<Identity, StartError> {
        self.starts += 1;
        self.disks[site].0 += 1;
        let (place, birth, nonce) = (self.places[site], self.starts.into(), self.starts);
        let start = Start { birth, nonce, place, new_place: place, ..Start::default() };
        let incarnation = Incarnation(self.disks[site].0);
        Identity::start(SiteId::new(site), self.n, Terms::default(), incarnation, record, &start)
    }

    fn start(&mut self, site: usize) {
        let identity = self.try_start(site, self.disks[site].1.clone()).unwrap();
        self.disks[site].1 = identity.record().clone();
        self.running[site] = Some(identity);
        self.act(site, Identity::on_start);
    }

    fn crash(&mut self, site: usize) {
        self.running[site] = None;
        for other in 0..self.n {
            if self.running[other].is_some() {
                self.act(other, |it, out| it.on_down(SiteId::new(site), out));
            }
        }
    }

    fn connect(&mut self, a: usize, b: usize) {
        let mut under_way = self.act(a, |it, out| it.on_up(SiteId::new(b), out));
        under_way.extend(self.act(b, |it, out| it.on_up(SiteId::new(a), out)));
        self.carry(under_way);
    }

    fn connect_all(&mut self) {
        for (a, b) in (0..self.n).flat_map(|a| (0..a).map(move |b| (a, b))) {
            if self.running[a].is_some() && self.running[b].is_some() {
                self.connect(a, b);
            }
        }
    }

    fn carry(&mut self, mut under_way: VecDeque<(usize, usize, IdentityMessage)>) {
        while let Some((from, to, message)) = under_way.pop_front() {
            let from = SiteId::new(from);
            let more = self.act(to, |it, out| it.on_message(from, message, false, out));
            under_way.extend(more);
        }
    }

    /// Lets a member act; returns what it sends.
    fn act(
        &mut self,
        site: usize,
        act: impl FnOnce(&mut Identity, &mut Vec<IdentityEffect>),
    ) -> VecDeque<(usize, usize, IdentityMessage)> {
        let identity = self.running[site].as_mut().expect("it runs");
        let (mut out, mut sent) = (Vec::new(), VecDeque::new());
        act(identity, &mut out);
        let mut effects = VecDeque::from(out);
        while let Some(effect) = effects.pop_front() {
            match effect {
                IdentityEffect::Send(to, message) => sent.push_back((site, to.index(), message)),
                IdentityEffect::Persist => {
                    identity.note_persisted();
                    self.disks[site].1 = identity.record().clone();
                }
                IdentityEffect::Save => {
                    self.disks[site].1 = identity.record().clone();
                    let mut more = Vec::new();
                    identity.on_saved(&self.disks[site].1, &mut more);
                    effects.extend(more);
                }
                IdentityEffect::Refuse(peer, why) => {
                    self.refused.push((site, peer.index(), why));
                }
                _ => {}
            }
        }
        sent
    }

    /// A member makes a numbered write that is on its disk; returns what it sends.
    fn write(&mut self, site: usize) -> VecDeque<(usize, usize, IdentityMessage)> {
        self.act(site, |it, out| {
            it.next_write();
            it.note_persisted();
            out.push(IdentityEffect::Persist);
            it.announce(out);
        })
    }

    fn has_begun(&self, site: usize) -> bool {
        self.running[site].as_ref().is_some_and(Identity::has_begun)
    }

    fn is_open(&self, a: usize, b: usize) -> bool {
        self.running[a].as_ref().is_some_and(|it| it.is_open(SiteId::new(b)))
    }
}

#[test]
fn a_cluster_forms_when_all_know_each_other() {
    let mut members = Members::formed(1);
    assert!(members.has_begun(0), "it is alone");
    members = Members::formed(3);
    assert!((0..3).all(|site| members.has_begun(site)));
    assert!(members.is_open(0, 1) && members.is_open(1, 0));

    let mut members = Members::formed(3);
    for site in 0..3 {
        members.crash(site);
        members.disks[site] = Default::default();
    }
    members.start(0);
    members.start(1);
    members.connect_all();
    assert!(!members.has_begun(0), "one has not been up");
    members.start(2);
    members.connect(0, 2);
    assert!(members.has_begun(0), "it knows all, and all know it");
    assert!(!members.has_begun(1) && !members.is_open(0, 1), "2 and 3 have not met");
    members.connect(1, 2);
    assert!(members.has_begun(1) && members.is_open(0, 1) && members.is_open(2, 1));
}

#[test]
fn a_restart_in_its_place_needs_a_majority() {
    let mut members = Members::formed(3);
    members.crash(2);
    members.crash(0);
    members.start(0);
    assert!(!members.has_begun(0), "it is alone");
    members.connect(0, 1);
    assert!(members.has_begun(0) && members.is_open(1, 0));
}

#[test]
fn a_moved_folder_needs_all_others() {
    let mut members = Members::formed(3);
    members.crash(2);
    members.crash(0);
    members.places[0] = 2;
    members.start(0);
    members.connect(0, 1);
    assert!(!members.has_begun(0), "only 2 of 3");
    members.crash(0);
    members.start(0);
    members.connect(0, 1);
    assert!(!members.has_begun(0), "it is still in the new place for the first time");
    members.start(2);
    members.connect(0, 2);
    assert!(members.has_begun(0));
    members.crash(0);
    members.crash(2);
    members.start(0);
    members.connect(0, 1);
    assert!(members.has_begun(0), "now this is its place");
}

#[test]
fn a_wiped_folder_is_refused() {
    let mut members = Members::formed(3);
    members.crash(0);
    members.disks[0] = Default::default();
    members.start(0);
    members.connect_all();
    assert!(!members.has_begun(0));
    let why = IdentityRefusal::OtherBirth;
    assert_eq!(members.refused, [(1, 0, why), (2, 0, why)]);
    assert!(members.is_open(1, 2), "the others go on");
}

#[test]
fn an_older_folder_is_refused_however_often_it_starts() {
    let mut members = Members::formed(3);
    let older = members.disks[0].clone();
    members.crash(0);
    members.start(0);
    members.connect_all();
    members.crash(0);
    members.disks[0] = older;
    members.refused.clear();
    for _ in 0..3 {
        members.start(0);
        members.connect(0, 1);
        assert!(!members.has_begun(0));
        members.crash(0);
    }
    let reasons: Vec<_> = members.refused.iter().map(|(.., why)| *why).collect();
    let (known, presented) = (Incarnation(2), Incarnation(2));
    let other = IdentityRefusal::OtherLineage(known);
    assert_eq!(reasons, [IdentityRefusal::OtherLife { known, presented }, other, other]);
}

#[test]
fn a_folder_from_before_a_registered_write_is_refused() {
    let mut members = Members::formed(3);
    let older = members.disks[0].clone();
    let wrote = members.write(0);
    let identity = members.running[0].as_ref().unwrap();
    assert_eq!(identity.registered_writes(), 0, "the others do not know it yet");
    members.carry(wrote);
    assert_eq!(members.running[0].as_ref().unwrap().registered_writes(), 1);
    members.crash(0);
    members.disks[0] = older;
    members.start(0);
    members.connect(0, 2);
    let why = IdentityRefusal::OlderWrites { known: 1, presented: 0 };
    assert_eq!(members.refused, [(2, 0, why)]);
}

#[test]
fn a_third_site_learns_of_lives_and_writes_that_it_missed() {
    let mut members = Members::formed(3);
    let older = members.disks[0].clone();
    members.crash(2);
    let wrote = members.write(0);
    members.carry(wrote);
    members.crash(0);
    members.start(2);
    members.connect(1, 2);
    members.disks[0] = older;
    members.start(0);
    members.connect(0, 2);
    assert_eq!(members.refused.len(), 1, "{:?}", members.refused);
}

#[test]
fn a_moved_folder_waits_for_the_lease_of_its_original() {
    let mut members = Members::formed(3);
    members.crash(0);
    members.places[0] = 2;
    members.start(0);
    let one = SiteId::new(0);
    let sent = members.act(0, |it, out| it.on_up(SiteId::new(1), out));
    members.act(1, |it, out| it.on_up(one, out));
    let (.., message) = sent[0].clone();
    members.act(1, |it, out| it.on_message(one, message, true, out));
    assert_eq!(members.refused, [(1, 0, IdentityRefusal::StillThere)]);
}

#[test]
fn a_folder_of_another_site_or_with_too_many_starts_is_an_error() {
    let mut members = Members::formed(2);
    let other = members.disks[1].1.clone();
    let error = members.try_start(0, other).unwrap_err().to_string();
    let says = "it belongs to site 2 of cluster , and this is site 1 of cluster ";
    assert!(error.starts_with(says), "{error}");
    let mut record = members.disks[0].1.clone();
    let life = record.lineage.latest().unwrap();
    record.lineage.since = vec![life; Lineage::STARTS_MAX];
    assert_eq!(members.try_start(0, record).unwrap_err(), StartError::TooManyStarts);
}

#[test]
fn what_cannot_be_an_identity_is_refused() {
    let mut members = Members::formed(2);
    let one = SiteId::new(0);
    let sent = members.act(0, |it, out| it.on_up(SiteId::new(1), out));
    let IdentityMessage::Present(mut presented) = sent[0].2.clone() else { panic!("{sent:?}") };
    presented.lineage.since = vec![presented.lineage.latest().unwrap(); 2];
    members.act(1, |it, out| it.on_up(one, out));
    let message = IdentityMessage::Present(presented);
    members.act(1, |it, out| it.on_message(one, message, false, out));
    assert_eq!(members.refused, [(1, 0, IdentityRefusal::Malformed)]);
}
