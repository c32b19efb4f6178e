//! A mutual exclusion algorithm of the literature, reduced to what its paper says.

use std::fmt::{Debug, Display};
use std::hash::Hash;

use quorate_protocol::{Effect, Fence, Out, Shared, Ticket};
use quorate_quorum::{SiteId, SiteSet};

use crate::baseline::{Baseline, Phase, Sealed};

/// The quorum of an algorithm that asks no quorum: everybody.
pub const EVERYBODY: &str = "all";

/// One site's part in a mutual exclusion algorithm, in the world of its paper: channels never fail
/// and keep the order, and a site asks for itself alone, once at a time.
///
/// [`Baseline`] makes a protocol of it that can be scripted, simulated and checked like ours.
pub trait Algorithm: Clone + Debug + Eq + Hash + Send + Sync + 'static {
    /// Its name in scripts and on the command line.
    const NAME: &'static str;

    /// The construction of quorums it uses if nothing is said, or [`EVERYBODY`].
    const QUORUM: &'static str = EVERYBODY;

    /// The rules that can be taken away to see what they are for, by `option undo RULE`.
    const RULES: &'static [&'static str];

    /// What sites say to each other.
    type Message: Clone + Debug + Display + Eq + Hash + Send + Sync;

    /// A site at which nothing has happened yet.
    fn new(place: &Place) -> Self;

    /// The site wants in. It calls [`Desk::enter`], now or later.
    fn ask(&mut self, ticket: Ticket, desk: &mut Desk<'_, Self>);

    /// A message arrives.
    fn receive(&mut self, from: SiteId, message: Self::Message, desk: &mut Desk<'_, Self>);

    /// The site has left.
    fn leave(&mut self, desk: &mut Desk<'_, Self>);

    /// Whether it remembers no request.
    fn is_idle(&self) -> bool;

    /// The message's name in the paper.
    fn kind(message: &Self::Message) -> &'static str;
}

/// Where a site stands.
#[derive(Clone, Debug)]
pub struct Place {
    /// The site itself.
    pub me: SiteId,
    /// How many sites there are.
    pub n: usize,
    /// Whom it asks; nobody if it has no quorum.
    pub quorum: SiteSet,
}

/// What an algorithm can do while it handles something.
#[derive(Debug)]
pub struct Desk<'a, A: Algorithm> {
    pub(crate) site: &'a mut Shared,
    pub(crate) undone: Option<&'static str>,
    pub(crate) seen: &'a mut Fence,
    pub(crate) phase: &'a mut Phase,
    pub(crate) out: &'a mut Out<Baseline<A>>,
}

impl<A: Algorithm> Desk<'_, A> {
    /// The site itself.
    pub fn me(&self) -> SiteId {
        self.site.site()
    }

    /// All sites but this one.
    pub fn others(&self) -> SiteSet {
        let mut others = SiteSet::full(self.site.n());
        others.remove(self.me());
        others
    }

    /// The other sites in a circle, from this one on.
    pub fn after_me(&self) -> impl Iterator<Item = SiteId> + use<A> {
        let (me, n) = (self.me().index(), self.site.n());
        (me + 1..n).chain(0..me).map(SiteId::new)
    }

    /// Sends a message; one to the site itself is handled next, and costs nothing.
    pub fn send(&mut self, to: SiteId, message: A::Message) {
        self.out.send(to, Sealed { seen: *self.seen, message });
    }

    /// Sends the same message to several sites.
    pub fn send_all(&mut self, to: &SiteSet, message: &A::Message) {
        for site in to.iter() {
            self.send(site, message.clone());
        }
    }

    /// Lets the site in that waits here.
    pub fn enter(&mut self) {
        let Phase::Waiting(ticket) = *self.phase else {
            panic!("{} lets a site in that does not wait", A::NAME);
        };
        *self.phase = Phase::Inside(ticket);
        *self.seen = self.seen.next();
        let grant = quorate_protocol::mutex::Grant { ticket, fence: *self.seen };
        self.out.push(Effect::Grant(ticket.claim, grant));
    }

    /// Takes note of the time of a ticket: later ones of this site are behind it.
    pub fn observe(&mut self, ticket: Ticket) {
        self.site.observe(ticket);
    }

    /// Whether a rule holds, as it does unless a test takes it away.
    pub fn keeps(&self, rule: &'static str) -> bool {
        assert!(A::RULES.contains(&rule), "{rule} is one of the rules that can be undone");
        self.undone != Some(rule)
    }
}
