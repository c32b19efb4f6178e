//! Which of its sites a client uses, and when it leaves one for another.

use std::time::Duration;

use crate::session::{Rule, Terms};
use crate::{SPLITMIX_STEP, Tick, splitmix};

/// Which of its sites a client uses, and when it leaves one for another.
///
/// A client knows its sites by their place in the list it was given. Each client goes through them
/// in an order of its own, so that the clients of a site that fails spread over the others. It
/// leaves a site
///
/// - that does not accept the connection within a third of a lease,
/// - that leaves a packet unanswered for a third of a lease,
/// - that reaches no quorum, or asks its clients to move.
///
/// A client that is *tied*, because it holds grants there, stays for as long as its session lasts,
/// and connects only to that site. A connection that merely breaks is opened again once: the site
/// has a third of a lease to accept it and to answer, counted from when it first owed an answer.
/// If it breaks again before it has lasted for as long, the client leaves. A client that has a
/// single site has nowhere to go, and is patient for a whole lease.
#[derive(Clone, Debug)]
pub struct SiteChoice {
    terms: Terms,
    /// The places of the sites, in the order in which they are tried.
    order: Vec<usize>,
    /// The index in `order` of the site that is used or tried, or was last.
    at: usize,
    state: State,
    /// Whether the site said that it reaches no quorum, or asked us to move.
    unwanted: bool,
    /// Whether the connection has broken since the site was chosen, or has served us for long.
    broken: bool,
    /// How many sites in a row did not serve us.
    failures: u32,
    /// Whether the client holds grants at its site.
    tied: bool,
    /// The state of a generator of numbers, for delays.
    draws: u64,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// There is no connection. The next attempt is due then; at the same site if `again`. `due` is
    /// since when that owes an answer.
    Idle { until: Tick, again: bool, due: Option<Tick> },
    /// A site is being dialed, until then; since when it owes an answer.
    Dialing { until: Tick, due: Option<Tick> },
    /// There is a connection, since when; and since when an answer is due.
    Connected { since: Tick, due: Option<Tick> },
}

/// A step that a [`SiteChoice`] asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Leave the site, and close the connection.
    Leave,
    /// Connect to the site at this place of the list, instead of any attempt that is under way.
    Dial(usize),
}

/// The delay after the first failure, before jitter.
const FIRST_DELAY: Duration = Duration::from_millis(50);

/// How long the only site of a client has to accept a connection, at least.
const ONLY_SITE_TIMEOUT: Duration = Duration::from_secs(5);

impl SiteChoice {
    /// A choice among so many sites, which begins with the site at the place `first`. The order of
    /// the others, and delays, are drawn from `seed`.
    pub fn new(now: Tick, terms: Terms, sites: usize, first: usize, seed: u64) -> Self {
        assert!(first < sites, "the first site is one of the sites");
        let state = State::Idle { until: now, again: true, due: None };
        let mut choice = Self {
            terms,
            order: (0..sites).collect(),
            at: 0,
            state,
            unwanted: false,
            broken: false,
            failures: 0,
            tied: false,
            draws: seed,
        };
        choice.order.swap(0, first);
        for place in (2..sites).rev() {
            let other = 1 + choice.draw(place);
            choice.order.swap(place, other);
        }
        choice
    }

    /// The place of the site that is used or tried, or was last.
    pub fn site(&self) -> usize {
        self.order[self.at]
    }

    pub(super) fn on_up(&mut self, now: Tick) {
        let due = match self.state {
            State::Dialing { due, .. } => due,
            _ => None,
        };
        self.state = State::Connected { since: now, due };
        if !self.terms.keep(Rule::QuorumStatusIsKept) {
            self.unwanted = false;
        }
    }

    /// The connection broke: the same site is tried once more, because waiting claims have their
    /// places there. If it breaks again soon, the site does not serve us.
    pub(super) fn on_down(&mut self, now: Tick) {
        let owed = match self.state {
            State::Connected { due, .. } => due.unwrap_or(now),
            _ => now,
        };
        let once = self.terms.keep(Rule::BrokenOnceIsReopened);
        if std::mem::replace(&mut self.broken, true) && once {
            return self.fail(now);
        }
        let due = (once && self.order.len() > 1 && !self.tied).then_some(owed);
        self.state = State::Idle { until: now, again: true, due };
    }

    /// The site at this place could not be reached.
    pub(super) fn on_dial_failed(&mut self, now: Tick, site: usize) {
        if matches!(self.state, State::Dialing { .. }) && site == self.site() {
            self.fail(now);
        }
    }

    /// A packet was sent that the site has to answer.
    pub(super) fn on_asked(&mut self, now: Tick) {
        if let State::Connected { due: due @ None, .. } = &mut self.state {
            *due = Some(now);
        }
    }

    /// The site sent something.
    pub(super) fn on_answer(&mut self, now: Tick) {
        if let State::Connected { since, due } = &mut self.state {
            *due = None;
            if *since + self.terms.lease.renew_interval() <= now {
                self.broken = false;
                if !self.unwanted {
                    self.failures = 0;
                }
            }
        }
    }

    /// The site should be left: it reaches no quorum, refuses a session, or asks us to move. Or it
    /// serves us again.
    pub(super) fn set_unwanted(&mut self, unwanted: bool) {
        self.unwanted = unwanted;
    }

    /// What is to be done by now. Call it until it returns `None`.
    pub(super) fn review(&mut self, now: Tick, tied: bool) -> Option<Order> {
        self.forgive_sleep(now);
        self.tied = tied;
        let is_due = self.deadline().is_some_and(|when| when <= now);
        match self.state {
            _ if !is_due => None,
            State::Connected { .. } => {
                self.fail(now);
                Some(Order::Leave)
            }
            State::Dialing { .. } => {
                self.fail(now);
                self.review(now, tied)
            }
            State::Idle { again, due, .. } => {
                if !again && !tied && self.terms.keep(Rule::FailedSiteIsPassed) {
                    self.at = (self.at + 1) % self.order.len();
                }
                // A site that is dialed again has no more time to answer than before.
                let until = now + self.dial_timeout();
                let until = due.map_or(until, |due| until.min(due + self.answer_timeout()));
                self.state = State::Dialing { until, due };
                Some(Order::Dial(self.site()))
            }
        }
    }

    /// When [`SiteChoice::review`] must be called at the latest.
    pub(super) fn deadline(&self) -> Option<Tick> {
        match self.state {
            State::Idle { until, .. } | State::Dialing { until, .. } => Some(until),
            State::Connected { .. } if self.tied => None,
            State::Connected { since, due } => {
                let silent = due.map(|due| due + self.answer_timeout());
                let others = self.order.len() > 1;
                // If no site serves us, each gets a lease before it is left for the next.
                let all_failed = self.failures as usize >= self.order.len();
                let stays = if all_failed { self.terms.lease.length() } else { Duration::ZERO };
                let unwanted = (self.unwanted && others).then_some(since + stays);
                silent.into_iter().chain(unwanted).min()
            }
        }
    }

    /// A process that slept has not read what its site sent meanwhile.
    fn forgive_sleep(&mut self, now: Tick) {
        let slept = self.deadline().is_some_and(|when| when + self.terms.lease.sixth() < now);
        if let State::Connected { due: Some(due), .. } = &mut self.state
            && slept
        {
            *due = now;
        }
    }

    /// The present site does not serve us: the next one is tried, at once if it is the first time.
    fn fail(&mut self, now: Tick) {
        self.failures = self.failures.saturating_add(1);
        let delay = self.delay();
        (self.broken, self.unwanted) = (false, false);
        self.state = State::Idle { until: now + delay, again: false, due: None };
    }

    /// No delay before a site that was not tried yet; then a growing one, up to a sixth of a lease.
    /// It is drawn from the upper half of its range, so that clients do not come all at once.
    fn delay(&mut self) -> Duration {
        let sites = if self.tied { 1 } else { self.order.len() };
        let sites = u32::try_from(sites).unwrap_or(u32::MAX);
        if !self.failures.is_multiple_of(sites) {
            return Duration::ZERO;
        }
        let doublings = (self.failures / sites - 1).min(16);
        let delay = (FIRST_DELAY * (1 << doublings)).min(self.terms.lease.sixth());
        let half = delay / 2;
        half + half / 1000 * u32::try_from(self.draw(1001)).unwrap_or(0)
    }

    fn dial_timeout(&self) -> Duration {
        let third = self.terms.lease.renew_interval();
        if self.order.len() > 1 { third } else { third.max(ONLY_SITE_TIMEOUT) }
    }

    fn answer_timeout(&self) -> Duration {
        if self.order.len() > 1 {
            self.terms.lease.renew_interval()
        } else {
            self.terms.lease.length()
        }
    }

    /// A number below `bound`.
    fn draw(&mut self, bound: usize) -> usize {
        self.draws = self.draws.wrapping_add(SPLITMIX_STEP);
        let drawn = splitmix(self.draws) % bound.max(1) as u64;
        usize::try_from(drawn).expect("it is below a usize")
    }
}
