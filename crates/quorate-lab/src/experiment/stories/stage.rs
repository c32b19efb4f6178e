//! A cluster in which what callers do, and what goes wrong, has its time; messages take T each.

use std::collections::BTreeMap;

use quorate_protocol::{ClaimId, Tick};
use quorate_quorum::SiteId;
use quorate_sim::random::T;
use quorate_sim::{Event, Fault, Lane, Observer, Standpoint, Subject, World};

use crate::diagram::{Diagram, Film};

/// What happens at some moment.
enum Deed<P: Subject> {
    Acquire(SiteId, P::Claim),
    Release(SiteId, ClaimId),
    Deliver(SiteId, SiteId),
    Suffer(Fault),
    Expire(SiteId),
}

/// What an action leads to.
enum News {
    Sent(SiteId, SiteId),
    Entered(SiteId, ClaimId),
    Armed(SiteId, Tick),
}

/// A cluster on which a story is played and filmed.
pub(super) struct Stage<P: Subject> {
    world: World<P>,
    film: Film,
    /// What is due, in this order; at one moment what was planned first.
    agenda: BTreeMap<(Tick, u64), Deed<P>>,
    planned: u64,
    /// How long callers stay inside.
    stay: Tick,
}

impl<P: Subject> Stage<P> {
    /// Nothing has happened yet; callers will stay inside for `stay` T.
    pub(super) fn new(
        quorums: &P::Quorums,
        options: &P::Options,
        names: &[&str],
        stay: f64,
    ) -> Self {
        let world = World::new(quorums, options);
        let film = Film::new(names.iter().map(|&name| name.to_owned()).collect(), true);
        Self { world, film, agenda: BTreeMap::new(), planned: 0, stay: ticks(stay) }
    }

    /// A caller at `site`, counted from 1, asks at some time.
    pub(super) fn acquires(mut self, site: usize, at: f64, claim: P::Claim) -> Self {
        self.plan(ticks(at), Deed::Acquire(SiteId::new(site - 1), claim));
        self
    }

    /// A site, counted from 1, crashes at some time and does not come back.
    pub(super) fn crashes(mut self, site: usize, at: f64) -> Self {
        self.plan(ticks(at), Deed::Suffer(Fault::Crash(SiteId::new(site - 1))));
        self
    }

    /// Plays until all callers are gone and nothing is under way.
    pub(super) fn play(mut self, title: &str, condition: &str) -> Diagram {
        while let Some(((at, _), deed)) = self.agenda.pop_first() {
            let timer = matches!(deed, Deed::Expire(_));
            if timer && self.world.is_at_rest() && self.world.in_flight() == 0 {
                continue; // it waits for nobody
            }
            self.world.set_now(at);
            self.happen(deed);
            assert!(self.world.breach().is_none(), "{title}: {:?}", self.world.breach());
        }
        let (title, condition) = (title.to_owned(), condition.to_owned());
        let end = self.film.now() + 0.5;
        Diagram { title, condition, ..self.film.develop(end) }
    }

    fn plan(&mut self, at: Tick, deed: Deed<P>) {
        self.planned += 1;
        self.agenda.insert((at, self.planned), deed);
    }

    fn happen(&mut self, deed: Deed<P>) {
        let now = self.world.now();
        let mut desk = Desk { now, film: &mut self.film, news: Vec::new() };
        match deed {
            Deed::Acquire(site, claim) => {
                self.world.acquire(site, claim, &mut desk).expect("every site may ask");
            }
            Deed::Release(site, claim) => {
                // Its site may have crashed.
                if self.world.standpoint(site, claim) == Some(Standpoint::Inside) {
                    self.world.release(site, claim, &mut desk).expect("it is inside");
                }
            }
            Deed::Deliver(from, to) => {
                self.world.deliver((from, to, Lane::Up), &mut desk);
            }
            Deed::Suffer(fault) => self.world.suffer(fault, &mut desk),
            Deed::Expire(site) => {
                let due = |world: &World<P>| world.timers(site).find(|timer| timer.1 <= now);
                while let Some((timer, _)) = due(&self.world) {
                    self.world.expire(site, timer, &mut desk);
                }
            }
        }
        for news in desk.news {
            match news {
                News::Sent(from, to) => self.plan(Tick(now.0 + T), Deed::Deliver(from, to)),
                News::Armed(site, due) => self.plan(due, Deed::Expire(site)),
                News::Entered(site, claim) => {
                    self.plan(Tick(now.0 + self.stay.0), Deed::Release(site, claim));
                }
            }
        }
    }
}

/// Films an action, and keeps what must be planned for.
struct Desk<'a> {
    now: Tick,
    film: &'a mut Film,
    news: Vec<News>,
}

impl<P: Subject> Observer<P> for Desk<'_> {
    fn see(&mut self, _: usize, event: &Event<'_, P>) {
        self.film.see(self.now.0 as f64 / T as f64, event);
        match *event {
            Event::Sends { from, to, .. } if from != to => self.news.push(News::Sent(from, to)),
            Event::Enters(site, claim, _) => self.news.push(News::Entered(site, claim)),
            Event::Arms(site, _, due) => self.news.push(News::Armed(site, due)),
            _ => {}
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a short time")]
fn ticks(time: f64) -> Tick {
    Tick((time * T as f64).round() as u64)
}
