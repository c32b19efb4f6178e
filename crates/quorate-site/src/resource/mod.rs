//! One resource at one site: a protocol, and the callers in front of it.

mod crowd;
mod front;
mod party;
mod timers;

use quorate_protocol::token::Regeneration;
use quorate_protocol::{
    Basis, ClaimView, Fence, Input, Record, Shared, Tick, Ticket, View, Violation, Why,
};
use quorate_quorum::{QuorumSystem, SiteId};
use quorate_session::session::Event;
use quorate_session::{CallId, Denial, Got, Want};

use crate::registry::{Registered, Speech, Spoken};

pub(crate) use self::crowd::Crowd;
pub(crate) use self::front::Front;
pub(crate) use self::party::Party;

/// What a site does for one resource, whatever its kind.
pub(crate) trait Part {
    /// A caller wants something of it, or is denied at once. A hasty one does not wait for anybody.
    fn claim(&mut self, bench: &mut Bench<'_>, call: CallId, want: &Want, hasty: bool);

    /// A caller leaves, or does not wait any longer.
    fn leave(&mut self, bench: &mut Bench<'_>, call: CallId);

    /// Its protocol is told what happened elsewhere.
    fn hear(&mut self, bench: &mut Bench<'_>, news: News) -> Result<(), Violation>;

    /// A message arrived.
    fn deliver(
        &mut self,
        bench: &mut Bench<'_>,
        from: SiteId,
        speech: Speech,
    ) -> Result<(), Violation> {
        self.hear(bench, News::Message(from, speech))
    }

    /// Something became of a session.
    fn tell(&mut self, bench: &mut Bench<'_>, event: Event) {
        self.hear(bench, News::Session(event)).expect("a session's fate is no violation");
    }

    /// The quarantine is over.
    fn clear(&mut self, bench: &mut Bench<'_>) {
        self.hear(bench, News::Cleared).expect("the end of a quarantine is no violation");
    }

    /// When the next timer of its protocol runs out.
    fn timer(&self) -> Option<Tick> {
        None
    }

    /// Handles the timers that have run out.
    fn expire(&mut self, _bench: &mut Bench<'_>) {}

    /// Whether a caller waits, and was told to wait for somebody.
    fn is_held_up(&self, call: CallId) -> bool;

    /// The callers that wait with this request, in their order.
    fn waiting_with(&self, ticket: Ticket) -> Vec<CallId>;

    /// What the grant of a caller rests on.
    fn basis(&self, call: CallId) -> Basis;

    /// To which site our word was given, and about which request.
    fn words(&self) -> Vec<(SiteId, Ticket)> {
        Vec::new()
    }

    /// What our word about a request rests on.
    fn word_on(&self, _about: Ticket) -> Basis {
        Basis::Nothing
    }

    /// The caller that is inside with this request, on the word of that site.
    fn inside_on(&self, _giver: SiteId, _ticket: Ticket) -> Option<CallId> {
        None
    }

    /// The requests of callers, here or elsewhere, for which a request of ours was made.
    fn on_behalf(&self, request: Ticket) -> Vec<Ticket> {
        vec![request]
    }

    /// Lets nobody join those inside any more.
    fn shut(&mut self) {}

    /// What we were told of a request of another site holds again.
    fn assure(&mut self, _bench: &mut Bench<'_>, _about: Ticket) {}

    /// The quorums of which a caller needs one.
    fn quorums<'a>(&'a self, shared: &'a Shared, call: CallId) -> &'a dyn QuorumSystem;

    /// What the protocol shows of itself.
    fn view(&self) -> View;

    /// The local callers: who is served first, then those in line.
    fn line(&self) -> Vec<CallId>;

    /// The request that was made for a caller, in what the protocol shows.
    fn request<'a>(&self, call: CallId, view: &'a View) -> Option<&'a ClaimView>;

    /// Whether it can be forgotten now.
    fn is_vacant(&self, now: Tick) -> bool;

    /// Notes what must outlive it.
    fn retire(&self, shared: &mut Shared);
}

/// What a part hears, whatever its protocol.
pub(crate) enum News {
    Message(SiteId, Speech),
    Session(Event),
    /// The quarantine is over.
    Cleared,
}

impl News {
    /// The news as the input of a protocol, unless its language is another one.
    fn into_input<P: Registered>(self) -> Result<Input<P>, Violation> {
        match self {
            News::Message(from, speech) => match P::Message::from_speech(speech) {
                Some(message) => Ok(Input::Deliver(from, message)),
                None => Err(Violation::NotAsked(from)),
            },
            News::Session(event) => Ok(input_of(event)),
            News::Cleared => Ok(Input::Cleared),
        }
    }
}

/// What a part works with during one step.
pub(crate) struct Bench<'a> {
    pub(crate) now: Tick,
    pub(crate) shared: &'a mut Shared,
    pub(crate) local_turns: u32,
    pub(crate) acts: &'a mut Vec<Act>,
}

/// What a part asks of its site.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Send(SiteId, Speech),
    Grant(CallId, Fence, Got),
    Lose(CallId, Why),
    /// Tell the caller to leave; it is inside until it has.
    Stop(CallId, Why),
    Deny(CallId, Denial),
    Persist(Record),
    /// Until when who is inside may believe it has changed.
    Moved,
    /// For people: a token was replaced.
    Regenerated(Regeneration),
}

/// The fate of a session as the input of a protocol.
fn input_of<P: Registered>(event: Event) -> Input<P> {
    match event {
        Event::Open(site, number) => Input::Open(site, number),
        Event::Silent(site) => Input::Silent(site),
        Event::Lost(site) => Input::Lost(site),
        Event::Opened(site, number) => Input::Opened(site, number),
        Event::Closed(site) => Input::Closed(site),
    }
}
