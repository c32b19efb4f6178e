//! A cluster in which what callers do, and what goes wrong, has its time; messages take T each.

use std::collections::BTreeMap;
use std::sync::Arc;

use quorate_protocol::{ClaimId, Tick};
use quorate_quorum::SiteId;
use quorate_sim::random::T;
use quorate_sim::{
    AnySetup, AnyWorld, Caller, Claim, Event, Fault, Lane, Observer, Order, Standpoint, TimerView,
};

use crate::diagram::{Diagram, Film};

/// What happens at some moment.
enum Deed {
    Acquire(SiteId, Claim),
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
pub(super) struct Stage {
    world: Box<dyn AnyWorld>,
    film: Film,
    /// What is due, in this order; at one moment what was planned first.
    agenda: BTreeMap<(Tick, u64), Deed>,
    planned: u64,
    /// How long callers stay inside.
    stay: Tick,
}

impl Stage {
    /// Nothing has happened yet; callers will stay inside for `stay` T.
    pub(super) fn new(setup: Arc<dyn AnySetup>, names: &[&str], stay: f64) -> Self {
        let world = setup.world(None, Order::Fifo);
        let film = Film::new(names.iter().map(|&name| name.to_owned()).collect(), true);
        Self { world, film, agenda: BTreeMap::new(), planned: 0, stay: ticks(stay) }
    }

    /// A caller at `site`, counted from 1, asks at some time.
    pub(super) fn acquires(mut self, site: usize, at: f64, claim: Claim) -> Self {
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

    fn plan(&mut self, at: Tick, deed: Deed) {
        self.planned += 1;
        self.agenda.insert((at, self.planned), deed);
    }

    fn happen(&mut self, deed: Deed) {
        let now = self.world.now();
        let mut desk = Desk { now, film: &mut self.film, news: Vec::new() };
        match deed {
            Deed::Acquire(site, claim) => {
                self.world.acquire(site, &claim, &mut desk).expect("every site may ask");
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
                let is_due = |timer: &TimerView| timer.due <= now;
                while let Some(at) = self.world.timers(site).iter().position(is_due) {
                    self.world.expire(site, at, &mut desk);
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

impl Observer for Desk<'_> {
    fn see(&mut self, _: usize, event: &Event<'_>) {
        self.film.see(self.now.0 as f64 / T as f64, event);
        match *event {
            Event::Sends { from, to, .. } if from != to => self.news.push(News::Sent(from, to)),
            Event::Enters(Caller { site, claim, .. }, _) => {
                self.news.push(News::Entered(site, claim));
            }
            Event::Arms(site, _, due) => self.news.push(News::Armed(site, due)),
            _ => {}
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a short time")]
fn ticks(time: f64) -> Tick {
    Tick((time * T as f64).round() as u64)
}
