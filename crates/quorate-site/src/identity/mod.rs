//! Who a site is: whether a folder is the one that it was, and not wiped, older, another site's or
//! a copy.
//!
//! On every connection each end first presents itself, and the other checks that against its disk.
//! A life *begins* when enough sites have registered it; only then the site takes part. This layer
//! lies below the sessions: it tells them of a connection once both ends have begun and have
//! registered each other. See "Identities" in `docs/site.md`.

mod check;
mod effect;
mod message;
mod record;
mod writes;

use std::collections::{BTreeMap, BTreeSet};

use quorate_quorum::SiteId;
use quorate_session::session::{Incarnation, Rule, Terms};

pub use self::check::IdentityRefusal;
pub use self::effect::IdentityEffect;
pub use self::message::{IdentityMessage, Presentation, SitePacket};
pub use self::record::{
    Birth, IdentityRecord, Known, Life, Lineage, Needed, Owner, Start, StartError,
};
use self::writes::Writes;
use crate::disk::WRITES_MAX;

type Out = Vec<IdentityEffect>;

/// The identity of one site, and of its peers as far as it knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    me: SiteId,
    n: usize,
    terms: Terms,
    record: IdentityRecord,
    /// How many sites must register this life.
    needed: Needed,
    begun: bool,
    /// Where the folder lies now.
    place: u64,
    /// The peers that have this life on disk.
    registered_by: BTreeSet<SiteId>,
    writes: Writes,
    /// The connections that are up.
    links: BTreeMap<SiteId, Link>,
}

/// One connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Link {
    stage: Stage,
    /// The peer's life, once it is registered here.
    life: Option<Life>,
    /// Whether the peer has registered us.
    registered: bool,
    /// Whether the peer's life has begun.
    begun: bool,
}

/// How far a connection has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Stage {
    /// The ends get to know each other.
    #[default]
    Meeting,
    /// Sessions use it.
    Open,
    /// One of the ends refused the other.
    Refused,
}

impl Identity {
    /// Starts the site `me` of `n` with the record of its disk. The record must be on disk before
    /// anything is sent.
    ///
    /// # Errors
    ///
    /// The folder is another site's, or the site has started too often without a life that began.
    pub fn start(
        me: SiteId,
        n: usize,
        terms: Terms,
        incarnation: Incarnation,
        mut record: IdentityRecord,
        start: &Start,
    ) -> Result<Self, StartError> {
        let needed = record.add_start(me, incarnation, start)?;
        let writes = Writes::new(record.writes);
        Ok(Self {
            me,
            n,
            terms,
            record,
            needed,
            begun: false,
            place: start.new_place,
            registered_by: BTreeSet::new(),
            writes,
            links: BTreeMap::new(),
        })
    }

    /// The record as it is to be written.
    pub fn record(&self) -> &IdentityRecord {
        &self.record
    }

    /// Whether its life has begun.
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// How many sites have registered this life, this one included, and how many must.
    pub fn progress(&self) -> (usize, usize) {
        let needed = match self.needed {
            Needed::Majority => self.n / 2 + 1,
            Needed::All if !self.terms.keep(Rule::MovedNeedsAll) => self.n / 2 + 1,
            Needed::All => self.n,
        };
        (self.registered_by.len() + 1, needed)
    }

    /// Whether sessions with the peer may use the connection.
    pub fn is_open(&self, peer: SiteId) -> bool {
        self.links.get(&peer).is_some_and(|link| link.stage == Stage::Open)
    }

    /// The life begins at once if nobody else is needed.
    pub fn on_start(&mut self, out: &mut Out) {
        self.try_begin(out);
    }

    /// A connection with the peer is up. It replaces the one before.
    pub fn on_up(&mut self, peer: SiteId, out: &mut Out) {
        self.on_down(peer, out);
        self.links.insert(peer, Link::default());
        out.push(IdentityEffect::Send(peer, IdentityMessage::Present(self.presentation(peer))));
    }

    /// The connection with the peer is gone.
    pub fn on_down(&mut self, peer: SiteId, out: &mut Out) {
        self.writes.forget_debt(peer);
        if self.links.remove(&peer).is_some_and(|link| link.stage == Stage::Open) {
            out.push(IdentityEffect::Close(peer));
        }
    }

    /// A message of the peer. `has_session` says whether the lease of a session of it still runs
    /// here.
    pub fn on_message(
        &mut self,
        peer: SiteId,
        message: IdentityMessage,
        has_session: bool,
        out: &mut Out,
    ) {
        let Some(link) = self.links.get_mut(&peer).filter(|link| link.stage != Stage::Refused)
        else {
            return out
                .push(IdentityEffect::Note(peer, "ignored: it is not connected, or refused"));
        };
        match message {
            IdentityMessage::Present(presented) if link.life.is_none() => {
                self.on_present(peer, presented, has_session, out);
            }
            IdentityMessage::Registered(writes, begun) => {
                link.registered = true;
                link.begun |= begun;
                self.on_registered(peer, writes, out);
            }
            IdentityMessage::Begun if link.life.is_some() => {
                link.begun = true;
                self.note_begun(peer);
                self.try_open(peer, out);
            }
            IdentityMessage::Wrote(number) if number > WRITES_MAX => {
                self.refuse(peer, IdentityRefusal::Malformed, out);
            }
            IdentityMessage::Wrote(number) if link.life.is_some() => {
                self.on_wrote(peer, number, out);
            }
            IdentityMessage::Acknowledged(number) => self.writes.acknowledge(peer, number),
            IdentityMessage::Refused(why) => {
                link.stage = Stage::Refused;
                out.push(IdentityEffect::RefusedBy(peer, why));
            }
            _ => out.push(IdentityEffect::Note(peer, "ignored: it has not said who it is")),
        }
    }

    fn presentation(&self, peer: SiteId) -> Presentation {
        let known = self.record.known.iter();
        let told = known.filter(|(site, known)| **site != peer && known.begun);
        Presentation {
            birth: self.record.birth,
            lineage: self.record.lineage.clone(),
            writes: self.writes.on_disk(),
            moved: self.needed == Needed::All && !self.begun && self.record.lineage.begun.is_some(),
            known: told.map(|(site, known)| (*site, *known)).collect(),
        }
    }

    fn on_present(
        &mut self,
        peer: SiteId,
        presented: Presentation,
        has_session: bool,
        out: &mut Out,
    ) {
        let known = self.record.known.get(&peer);
        if let Err(why) = check::check(&self.terms, known, &presented, has_session) {
            return self.refuse(peer, why, out);
        }
        let Presentation { birth, lineage, writes, known: told, .. } = presented;
        let life = lineage.latest().expect("it was checked");
        let begun = lineage.begun == Some(life);
        let before = self.record.known.clone();
        let now = Known { birth, life, begun, writes };
        self.record.known.insert(peer, now);
        for (site, known) in told {
            self.on_told(site, known, out);
        }
        if self.record.known != before {
            out.push(IdentityEffect::Persist);
        }
        let registered = IdentityMessage::Registered(writes, self.begun);
        out.push(IdentityEffect::Send(peer, registered));
        if let Some(link) = self.links.get_mut(&peer) {
            (link.life, link.begun) = (Some(life), link.begun || begun);
        }
        if self.links.get(&peer).is_some_and(|link| link.begun) {
            self.note_begun(peer);
        }
        self.try_begin(out);
        self.try_open(peer, out);
    }

    /// A peer tells what it knows of another site. What is newer is taken over.
    fn on_told(&mut self, site: SiteId, told: Known, out: &mut Out) {
        if site == self.me || site.index() >= self.n || !told.begun {
            return;
        }
        let known = self.record.known.get(&site).copied();
        let is_newer = known.is_none_or(|known| {
            let later = told.life.incarnation > known.life.incarnation;
            let same = told.life == known.life && told.writes > known.writes;
            told.birth == known.birth && (later || same)
        });
        if !is_newer {
            return;
        }
        self.record.known.insert(site, told);
        let link = self.links.get(&site).filter(|link| link.stage != Stage::Refused);
        if let Some(life) = link.and_then(|link| link.life).filter(|life| *life != told.life) {
            let (known, presented) = (told.life.incarnation, life.incarnation);
            self.refuse(site, IdentityRefusal::OtherLife { known, presented }, out);
        }
    }

    fn refuse(&mut self, peer: SiteId, why: IdentityRefusal, out: &mut Out) {
        if let Some(link) = self.links.get_mut(&peer) {
            if link.stage == Stage::Open {
                out.push(IdentityEffect::Close(peer));
            }
            *link = Link { stage: Stage::Refused, ..Link::default() };
        }
        out.push(IdentityEffect::Send(peer, IdentityMessage::Refused(why)));
        out.push(IdentityEffect::Refuse(peer, why));
    }

    fn on_registered(&mut self, peer: SiteId, writes: u64, out: &mut Out) {
        self.registered_by.insert(peer);
        self.writes.acknowledge(peer, writes);
        if writes < self.writes.on_disk() {
            let wrote = IdentityMessage::Wrote(self.writes.on_disk());
            out.push(IdentityEffect::Send(peer, wrote));
        }
        self.try_begin(out);
        self.try_open(peer, out);
    }

    fn note_begun(&mut self, peer: SiteId) {
        if let Some(known) = self.record.known.get_mut(&peer) {
            known.begun = true;
        }
    }

    /// Begins the life if enough sites have registered it. The first life also needs the births of
    /// all others.
    fn try_begin(&mut self, out: &mut Out) {
        let (registered, needed) = self.progress();
        let first = self.record.lineage.begun.is_none();
        let knows_all = self.record.known.len() + 1 >= self.n;
        let enough = registered >= needed && (knows_all || !first);
        if self.begun || (!enough && self.terms.keep(Rule::LifeBegins)) {
            return;
        }
        self.begun = true;
        self.record.begin(self.place);
        out.push(IdentityEffect::Persist);
        out.push(IdentityEffect::Begin);
        let told: Vec<SiteId> = self
            .links
            .iter()
            .filter(|(_, link)| link.life.is_some())
            .map(|(peer, _)| *peer)
            .collect();
        for peer in told {
            out.push(IdentityEffect::Send(peer, IdentityMessage::Begun));
            self.try_open(peer, out);
        }
    }

    /// Opens a connection for sessions if both ends have begun and have registered each other.
    fn try_open(&mut self, peer: SiteId, out: &mut Out) {
        let Some(link) = self.links.get_mut(&peer) else { return };
        let ready = self.begun && link.begun && link.registered && link.life.is_some();
        if ready && link.stage == Stage::Meeting {
            link.stage = Stage::Open;
            out.push(IdentityEffect::Open(peer));
        }
    }
}
