//! The state of a client: its machine, the link to its site, and the calls.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use quorate_net::clock;
use quorate_net::connection::FrameWriter;
use quorate_session::client::{
    ClientEffect, ClientInput, ClientMachine, ClientMessage, ClientRequest,
};
use quorate_session::session::Packet;
use quorate_session::{SiteAnswer, SiteId, Tick};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

use crate::call::{Call, Progress};

/// A reply to a question.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// The question was sent to these sites.
    Asked(Vec<SiteId>),
    /// The answer of one of them.
    Answer(SiteId, SiteAnswer),
}

/// Where packets go.
pub(crate) enum Link {
    Socket(FrameWriter),
    #[cfg(feature = "embedded")]
    Local(quorate_server::LocalLink),
}

/// The connection that a client wants.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// Counts the changes. What belongs to an earlier attempt is not wanted any more.
    pub(crate) attempt: u64,
    /// The place of the site in the list of addresses; `None` if it wants none for now.
    pub(crate) site: Option<usize>,
    /// Whether the client has ended, and wants none any more.
    pub(crate) ended: bool,
}

/// What the handles of a client and its tasks change, one at a time.
pub(crate) struct State {
    pub(crate) machine: ClientMachine,
    /// When the client's task wakes by itself.
    pub(crate) wakes_at: Tick,
    pub(crate) link: Option<Link>,
    pub(crate) calls: HashMap<u64, Arc<Call>>,
    pub(crate) asks: HashMap<u64, UnboundedSender<Reply>>,
    pub(crate) wanted: watch::Sender<Wanted>,
    /// When the site stops, if it is about to.
    pub(crate) stops_at: watch::Sender<Option<Tick>>,
}

impl State {
    pub(crate) fn new(machine: ClientMachine) -> Self {
        Self {
            machine,
            wakes_at: Tick::ZERO,
            link: None,
            calls: HashMap::new(),
            asks: HashMap::new(),
            wanted: watch::Sender::new(Wanted::default()),
            stops_at: watch::Sender::new(None),
        }
    }

    /// Whether the client has not ended, and wants the connection of this attempt.
    pub(crate) fn wants(&self, attempt: u64) -> bool {
        let wanted = self.wanted.borrow();
        !wanted.ended && wanted.attempt == attempt
    }

    /// Whether the client has ended.
    pub(crate) fn is_ended(&self) -> bool {
        self.wanted.borrow().ended
    }

    /// Ends the client, and all its calls and questions.
    pub(crate) fn end(&mut self) {
        self.wanted.send_modify(|wanted| wanted.ended = true);
        self.stop_calls();
    }

    pub(crate) fn request(&mut self, request: ClientRequest) {
        self.step(ClientInput::Request(request));
    }

    pub(crate) fn step(&mut self, input: ClientInput) {
        for effect in self.machine.step(clock::now(), input) {
            match effect {
                ClientEffect::Packet(packet) => self.send(packet),
                ClientEffect::Granted(call, fence, granted) => {
                    self.set_progress(call, Progress::Granted(fence, granted));
                }
                ClientEffect::Lost(call, loss) => self.set_progress(call, Progress::Lost(loss)),
                ClientEffect::Denied(call, denial) => {
                    self.set_progress(call, Progress::Denied(denial));
                    self.calls.remove(&call);
                }
                ClientEffect::Left(call) => {
                    self.set_progress(call, Progress::Left);
                    self.calls.remove(&call);
                }
                ClientEffect::Asked(ask, sites) => self.reply(ask, Reply::Asked(sites)),
                ClientEffect::Answer(ask, site, answer) => {
                    self.reply(ask, Reply::Answer(site, answer));
                }
                ClientEffect::Draining(end) => drop(self.stops_at.send_replace(Some(end))),
                ClientEffect::Close => self.close(),
                ClientEffect::Dial(site) => self.want(Some(site)),
            }
        }
    }

    #[cfg_attr(
        not(feature = "embedded"),
        expect(clippy::needless_pass_by_value, reason = "a site in this process takes it")
    )]
    fn send(&mut self, packet: Packet<ClientMessage>) {
        match &mut self.link {
            Some(Link::Socket(writer)) => writer.queue(&packet),
            #[cfg(feature = "embedded")]
            Some(Link::Local(link)) => link.send(packet),
            None => {}
        }
    }

    fn set_progress(&self, call: u64, progress: Progress) {
        if let Some(call) = self.calls.get(&call) {
            call.set(progress);
        }
    }

    fn reply(&self, ask: u64, reply: Reply) {
        if let Some(sender) = self.asks.get(&ask) {
            drop(sender.send(reply)); // the caller may not wait any more
        }
    }

    /// Whether something is due before the client's task wakes by itself.
    pub(crate) fn is_due_before_waking(&self) -> bool {
        self.machine.deadline().is_some_and(|when| when < self.wakes_at)
    }

    pub(crate) fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.link {
            Some(Link::Socket(writer)) => writer.poll_write(cx),
            _ => Poll::Ready(()),
        }
    }

    /// Writes as much of the queued frames as the site takes at once, and closes the connection.
    fn close(&mut self) {
        let _ = self.poll_write(&mut Context::from_waker(Waker::noop()));
        self.link = None;
        self.want(None);
    }

    fn want(&self, site: Option<usize>) {
        self.wanted.send_modify(|wanted| {
            wanted.attempt += 1;
            wanted.site = site;
        });
    }

    /// Ends all calls and questions.
    fn stop_calls(&mut self) {
        for (_, call) in self.calls.drain() {
            if call.loss().is_none() {
                call.set(Progress::Stopped);
            }
        }
        self.asks.clear();
    }
}
