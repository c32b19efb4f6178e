//! A mutual exclusion algorithm of the literature, without anything its paper does not have.

use std::fmt::{Debug, Display};
use std::hash::Hash;

use quorate_protocol::{Effect, Fence, Out, Shared, Ticket};
use quorate_quorum::{SiteId, SiteSet};

use crate::baseline::{Baseline, Envelope, Phase};

/// The quorum of an algorithm that asks all sites.
pub const ALL_SITES: &str = "all";

/// One site's part in a mutual exclusion algorithm, under the assumptions of its paper: channels
/// are reliable and FIFO, and a site has one request at a time.
///
/// [`Baseline`] turns it into a protocol that can be scripted, simulated and checked like ours.
pub trait Algorithm: Clone + Debug + Eq + Hash + Send + Sync + 'static {
    /// Its name in scripts and on the command line.
    const NAME: &'static str;

    /// The quorum construction it uses by default, or [`ALL_SITES`].
    const QUORUM: &'static str = ALL_SITES;

    /// The rules that can be undone, by `option undo RULE`, to see their purpose.
    const RULES: &'static [&'static str];

    /// The messages between sites.
    type Message: Clone + Debug + Display + Eq + Hash + Send + Sync;

    /// A site at which nothing has happened yet.
    fn new(config: &SiteConfig) -> Self;

    /// A caller of the site asks. The site calls [`StepContext::enter`], now or later.
    fn ask(&mut self, ticket: Ticket, context: &mut StepContext<'_, Self>);

    /// A message arrives.
    fn receive(
        &mut self,
        from: SiteId,
        message: Self::Message,
        context: &mut StepContext<'_, Self>,
    );

    /// The caller has left.
    fn leave(&mut self, context: &mut StepContext<'_, Self>);

    /// Whether it remembers no request.
    fn is_idle(&self) -> bool;

    /// The message's name in the paper.
    fn kind(message: &Self::Message) -> &'static str;
}

/// What a site knows of its cluster.
#[derive(Clone, Debug)]
pub struct SiteConfig {
    /// The site itself.
    pub me: SiteId,
    /// How many sites there are.
    pub n: usize,
    /// The sites it asks; none if it has no quorum.
    pub quorum: SiteSet,
}

/// What an algorithm can do while it handles an input.
#[derive(Debug)]
pub struct StepContext<'a, A: Algorithm> {
    pub(crate) site: &'a mut Shared,
    pub(crate) undone: Option<&'static str>,
    pub(crate) seen: &'a mut Fence,
    pub(crate) phase: &'a mut Phase,
    pub(crate) out: &'a mut Out<Baseline<A>>,
}

impl<A: Algorithm> StepContext<'_, A> {
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

    /// Sends a message. A message to the site itself is handled next, and costs nothing.
    pub fn send(&mut self, to: SiteId, message: A::Message) {
        self.out.send(to, Envelope { seen: *self.seen, message });
    }

    /// Sends the same message to several sites.
    pub fn send_all(&mut self, to: &SiteSet, message: &A::Message) {
        for site in to.iter() {
            self.send(site, message.clone());
        }
    }

    /// Lets the waiting caller of this site enter.
    pub fn enter(&mut self) {
        let Phase::Waiting(ticket) = *self.phase else {
            panic!("{} lets a site in that does not wait", A::NAME);
        };
        *self.phase = Phase::Inside(ticket);
        *self.seen = self.seen.next();
        let grant = quorate_protocol::mutex::Grant { ticket, fence: *self.seen };
        self.out.push(Effect::Grant(ticket.claim, grant));
    }

    /// Observes the time of a ticket: later tickets of this site come after it.
    pub fn observe(&mut self, ticket: Ticket) {
        self.site.observe(ticket);
    }

    /// Whether a rule applies, as it does unless a test undoes it.
    pub fn keeps(&self, rule: &'static str) -> bool {
        assert!(A::RULES.contains(&rule), "{rule} is one of the rules that can be undone");
        self.undone != Some(rule)
    }
}
