//! Words: who is inside, or lets others in, because another site says so, and for how long.
//!
//! A pivot's site tells its managers how long it is good, and they tell those they let join it. A
//! remaining time is never counted from its receipt: it travels as (k, x), so each believes what it
//! was told for no longer than the giver itself. What has run out is over, whatever comes later.

use std::collections::{BTreeMap, BTreeSet};

use quorate_protocol::{Basis, Tick, Ticket, Why};
use quorate_quorum::{SiteId, SiteSet};
use quorate_session::session::{Half, Rule, between};
use quorate_session::{CallId, Loss, Name};

use super::Site;
use super::desk::Desk;
use crate::effect::Effect;
use crate::resource::Part;
use crate::said::{Said, Word};
use crate::validity::quorum_validity;

/// So many words go into one message, and not more.
const WORDS_MAX: usize = 256;

/// What a site was told, and what it told others.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    /// Until when we believe which site about which request.
    heard: BTreeMap<(SiteId, Name, Ticket), Tick>,
    due: BTreeSet<(Tick, SiteId, Name, Ticket)>,
    /// The resources in which others count on us.
    given: BTreeSet<Name>,
    /// Until when we told which site that it may.
    told: BTreeMap<SiteId, BTreeMap<(Name, Ticket), Tick>>,
    /// The sites that have renewed their lease: the same time, counted from then, lasts longer.
    pub(super) renewed: BTreeSet<SiteId>,
    /// Whether times may have moved since others were told.
    pub(super) moved: bool,
    /// Whether something that others rest on is lost.
    pub(super) shaken: bool,
}

impl Words {
    pub(super) fn deadline(&self) -> Option<Tick> {
        self.due.first().map(|(when, ..)| *when)
    }

    /// A word that has run out.
    fn next_due(&mut self, now: Tick) -> Option<(SiteId, Name, Ticket)> {
        self.due.first().filter(|(when, ..)| *when <= now)?;
        let (_, from, name, about) = self.due.pop_first()?;
        self.heard.remove(&(from, name.clone(), about));
        Some((from, name, about))
    }

    /// Believes a site for longer, if it is longer.
    fn hear(&mut self, from: SiteId, name: &Name, about: Ticket, until: Tick) {
        let heard = self.heard.entry((from, name.clone(), about)).or_default();
        if *heard < until {
            self.due.remove(&(*heard, from, name.clone(), about));
            self.due.insert((until, from, name.clone(), about));
            *heard = until;
            self.moved = true;
        }
    }
}

impl Desk {
    /// Until when something is good that rests on `basis`; `None` if it is not.
    pub(super) fn good_until(&self, name: &Name, part: &dyn Part, basis: &Basis) -> Option<Tick> {
        match basis {
            Basis::Nothing => None,
            Basis::Until(until, giver) => {
                let kept = self.config.terms.keep(Rule::WordsInSession);
                let until = match giver.filter(|_| kept) {
                    Some(giver) => self.sessions.at(giver)?.until.min(*until),
                    None => *until,
                };
                (until > self.now).then_some(until)
            }
            Basis::Permissions(sites) => {
                let quorums = self.shared.quorums();
                let is_quorum =
                    |sites: &SiteSet| self.shared.is_quorum_of(quorums, name.hash64(), sites);
                self.vouched_until(sites, is_quorum)
            }
            Basis::Word(giver, about) if *giver == self.me() => {
                self.good_until(name, part, &part.word_on(*about))
            }
            Basis::Word(giver, about) => {
                let heard = self.words.heard.get(&(*giver, name.clone(), *about)).copied();
                // The giver forgets us when our session there is over, however long it is good.
                let lease = self.sessions.at(*giver).map(|there| there.until);
                let terms = &self.config.terms;
                let until = match (terms.keep(Rule::WordsEnd), terms.keep(Rule::WordsInSession)) {
                    (true, true) => heard?.min(lease?),
                    (true, false) => heard?,
                    (false, _) => lease?,
                };
                (until > self.now).then_some(until)
            }
        }
    }

    /// Until when these sites contain a quorum whose leases last.
    pub(super) fn vouched_until(
        &self,
        sites: &SiteSet,
        is_quorum: impl Fn(&SiteSet) -> bool,
    ) -> Option<Tick> {
        let session = |site| Some((site, self.shared.session_at(site)?));
        quorum_validity(&self.sessions, self.now, is_quorum, sites.iter().filter_map(session))
    }

    /// Gives our word about a request; `None` if we have none to give.
    pub(super) fn give_word(
        &mut self,
        to: SiteId,
        name: &Name,
        part: &dyn Part,
        about: Ticket,
    ) -> Option<Word> {
        let until = self.good_until(name, part, &part.word_on(about))?;
        let word = self.word(to, about, until)?;
        self.words.given.insert(name.clone());
        self.words.told.entry(to).or_default().insert((name.clone(), about), until);
        Some(word)
    }

    fn word(&self, to: SiteId, about: Ticket, until: Tick) -> Option<Word> {
        let session = self.sessions.of(to)?.number;
        Some(Word { about, session, down: self.sessions.hand_down(to, until)? })
    }

    /// Hears a site's word; true if we believe it about a request of its own and did not before.
    pub(super) fn hear_word(&mut self, from: SiteId, name: &Name, word: Word) -> bool {
        let Word { about, session, down } = word;
        if about.site != from && about.site != self.me() {
            self.note(from, "ignored: it speaks of somebody else's request");
            return false;
        }
        if self.sessions.at(from).is_none_or(|there| there.number != session) {
            return false;
        }
        let mut until = self.sessions.handed(from, down);
        if !self.config.terms.keep(Rule::WordsFromRenewal) {
            until = Some(self.now + down.after);
        }
        let Some(until) = until.filter(|until| *until > self.now) else { return false };
        self.words.hear(from, name, about, until);
        self.moved = true;
        let assured = self.shared.assured.get_or_insert_default();
        about.site == from && assured.insert(about)
    }
}

impl Site {
    /// Takes a word in; those who may rely on it are told.
    pub(super) fn on_word(&mut self, from: SiteId, name: &Name, word: Word) {
        let newly = self.desk.hear_word(from, name, word);
        if let Some(resource) = self.table.get(name).filter(|_| newly) {
            let kind = resource.kind.clone();
            self.with_resource(name, &kind, |part, bench| part.assure(bench, word.about));
        }
    }

    /// Ends what rests on words that have run out.
    pub(super) fn on_words_due(&mut self) {
        while let Some((from, name, about)) = self.desk.words.next_due(self.desk.now) {
            if about.site == from {
                self.desk.shared.assured.get_or_insert_default().remove(&about);
                self.desk.words.shaken = true;
            } else if let Some(resource) = self.table.get(&name)
                && let Some(call) = resource.engine.part().inside_on(from, about)
            {
                self.lose_word(call);
            }
        }
        if std::mem::take(&mut self.desk.words.shaken) {
            // All who are inside on a word are told their own end.
            let calls: Vec<CallId> = self.desk.waning.keys().copied().collect();
            for call in calls {
                if self.valid_until(call).is_none() {
                    self.lose_word(call);
                }
            }
        }
        self.settle();
    }

    /// A caller was inside on a word that has run out.
    fn lose_word(&mut self, call: CallId) {
        self.desk.out.push(Effect::Lost(call, Loss::Lapsed(Why::NoWord)));
        self.leave(call);
    }

    /// Lets a caller wait on whose word had run out before it arrived.
    pub(super) fn claim_again(&mut self, id: CallId) {
        let Some(call) = self.desk.calls.get(&id) else { return };
        let (name, want) = (call.name.clone(), call.want.clone());
        let (kind, hasty) = (want.kind(), self.desk.hasty.contains(&id));
        self.with_resource(&name, &kind, |part, bench| {
            part.leave(bench, id);
            part.claim(bench, id, &want, hasty);
        });
    }

    /// Tells others how long our word holds: those who have renewed their lease everything, the
    /// rest what has moved.
    pub(super) fn review_words(&mut self) {
        let renewed = std::mem::take(&mut self.desk.words.renewed);
        let moved = std::mem::take(&mut self.desk.words.moved);
        if self.desk.words.given.is_empty() || (renewed.is_empty() && !moved) {
            return;
        }
        for (to, words) in self.words_given() {
            let all = renewed.contains(&to);
            if all || moved {
                self.tell_words(to, words, all);
            }
        }
    }

    /// What others count on us for, and until when they may.
    fn words_given(&mut self) -> BTreeMap<SiteId, Vec<(Name, Ticket, Tick)>> {
        let mut words: BTreeMap<SiteId, Vec<(Name, Ticket, Tick)>> = BTreeMap::new();
        let (table, desk, me) = (&self.table, &self.desk, self.desk.me());
        let mut over = Vec::new();
        for name in &desk.words.given {
            let part = table.get(name).map(|resource| resource.engine.part());
            let given = part.map(Part::words).unwrap_or_default();
            if given.is_empty() {
                over.push(name.clone());
            }
            for (to, about) in given.into_iter().filter(|(to, _)| *to != me) {
                let part = part.expect("it has given its word");
                if let Some(until) = desk.good_until(name, part, &part.word_on(about)) {
                    words.entry(to).or_default().push((name.clone(), about, until));
                }
            }
        }
        for name in over {
            self.desk.words.given.remove(&name);
        }
        words
    }

    fn tell_words(&mut self, to: SiteId, words: Vec<(Name, Ticket, Tick)>, all: bool) {
        let least = self.desk.config.terms.lease.nudge();
        let told = self.desk.words.told.remove(&to).unwrap_or_default();
        let (mut said, mut tell) = (Vec::new(), BTreeMap::new());
        for (name, about, until) in words {
            let key = (name, about);
            let before = told.get(&key).copied().unwrap_or_default();
            if !all && between(before, until) < least {
                tell.insert(key, before);
            } else if let Some(word) = self.desk.word(to, about, until) {
                said.push((key.0.clone(), word));
                tell.insert(key, until);
            }
        }
        self.desk.words.told.insert(to, tell);
        for words in said.chunks(WORDS_MAX) {
            self.desk.say(to, Half::Requester, Said::Words(words.to_vec()));
        }
    }
}
