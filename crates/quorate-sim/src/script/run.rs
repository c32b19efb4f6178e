//! Plays a script in a world.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use quorate_protocol::ClaimId;
use quorate_quorum::SiteId;

use super::command::{Action, Channel, Check, Command, Deed, Who};
use super::error::{Fault, ScriptError};
use super::line::{Line, Recorder, Tally};
use super::{Cluster, Script};
use crate::{
    AnyProtocol, AnyWorld, Breach, Fault as Mishap, Lane, Message, Observer, Order, Standpoint,
    TimerView,
};

/// No story needs more deliveries in one `settle`.
const DELIVERIES_MAX: usize = 1_000_000;

/// What came of a script in which all went as it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What was sent, and who was served.
    pub tally: Tally,
    /// The property that broke as expected, and the line where it did.
    pub broken: Option<(usize, Breach)>,
}

/// Plays `script`, showing every line to `sink`.
pub(super) struct Play<'a> {
    pub(super) script: &'a Script,
    pub(super) watch: &'a mut dyn Observer,
    pub(super) sink: &'a mut dyn FnMut(&Line),
    /// Whether traces must be as the script says.
    pub(super) compare: bool,
}

impl Play<'_> {
    pub(super) fn run(self) -> Result<Report, ScriptError> {
        let Self { script, watch, sink, compare } = self;
        let Cluster { sessions, order, .. } = script.cluster;
        let mut stage = Stage {
            protocol: &*script.protocol,
            world: Arc::clone(&script.setup).world(sessions, order),
            recorder: Recorder::new(watch),
            broken: None,
            held: BTreeSet::new(),
            any_order: order != Order::Fifo,
        };
        for (at, command) in script.commands.iter().enumerate() {
            stage.recorder.begin(command.line, command.is_quiet());
            let done = stage.follow(command);
            show(command, &stage.recorder.shown, sink);
            done.map_err(|fault| fault.at(command.line))?;
            stage.judge(command.line, &script.commands[at..])?;
            if compare {
                compare_trace(command, &stage.recorder.shown)?;
            }
        }
        Ok(Report { tally: stage.recorder.tally, broken: stage.broken })
    }
}

fn show(command: &Command, trace: &[Line], sink: &mut dyn FnMut(&Line)) {
    sink(&Line {
        number: command.line,
        depth: 0,
        word: if command.is_check() { "check" } else { "command" },
        text: command.text.clone(),
        site: None,
        peer: None,
        kind: None,
    });
    trace.iter().for_each(sink);
}

/// A world in which a script is played.
pub(super) struct Stage<'a> {
    protocol: &'a dyn AnyProtocol,
    pub(super) world: Box<dyn AnyWorld>,
    pub(super) recorder: Recorder<'a>,
    pub(super) broken: Option<(usize, Breach)>,
    held: BTreeSet<Channel>,
    any_order: bool,
}

impl Stage<'_> {
    fn follow(&mut self, command: &Command) -> Result<(), Fault> {
        match &command.deed {
            Deed::Act { action, .. } => self.act(action),
            Deed::Expect(check) => self.check(check),
        }
    }

    fn act(&mut self, action: &Action) -> Result<(), Fault> {
        match action {
            Action::Acquire(who, words) => self.acquire(*who, words),
            Action::Release(who) => {
                let claim = self.claim(*who, Standpoint::Inside)?;
                let done = self.world.release(who.site, claim, &mut self.recorder);
                done.map_err(|why| Fault::Impossible(format!("{who} cannot release: {why}")))
            }
            Action::GiveUp(who) => {
                let claim = self.claim(*who, Standpoint::Waiting)?;
                let done = self.world.give_up(who.site, claim, &mut self.recorder);
                done.map_err(|why| Fault::Impossible(format!("{who} cannot give up: {why}")))
            }
            Action::Deliver(channel, kind) => self.deliver(*channel, kind.as_deref()),
            Action::Drop(channel, kind) => self.lose(*channel, kind.as_deref()),
            Action::Expire(site, timer) => self.expire(*site, timer),
            Action::Advance(time) => {
                self.advance(*time);
                Ok(())
            }
            Action::Hold(channel) => {
                self.held.insert(*channel);
                Ok(())
            }
            Action::Settle => self.settle(),
            Action::Heal => {
                self.held.clear();
                Ok(())
            }
            Action::Clock(site, time) => {
                self.world.set_clock(*site, *time);
                Ok(())
            }
            Action::Suffer(fault) => self.suffer(*fault),
        }
    }

    fn acquire(&mut self, who: Who, words: &[String]) -> Result<(), Fault> {
        if !self.world.is_up(who.site) {
            let (who, site) = (who, who.site);
            let why = format!("{who} cannot acquire: it has crashed; expected `restart {site}`");
            return Err(Fault::Impossible(why));
        }
        let next = ClaimId(self.world.claims_made(who.site) + 1);
        if who.claim.is_some_and(|claim| claim != next) {
            let why = format!("the next claim of {} is {}/{}", who.site, who.site, next.0);
            return Err(Fault::Impossible(why));
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let claim = self.protocol.parse_claim(&words);
        let claim = claim.map_err(Fault::Refused)?;
        let done = self.world.acquire(who.site, &claim, &mut self.recorder);
        match done {
            Ok(_) => Ok(()),
            Err(why) => Err(Fault::Impossible(format!("{who} cannot acquire: {why}"))),
        }
    }

    /// The claim that is meant, where it stands at `standpoint`.
    fn claim(&self, who: Who, standpoint: Standpoint) -> Result<ClaimId, Fault> {
        if let Some(claim) = who.claim {
            return Ok(claim);
        }
        let there = self.world.claims(who.site).iter().filter(|&(_, place)| *place == standpoint);
        let there: Vec<ClaimId> = there.map(|(claim, _)| *claim).collect();
        match there[..] {
            [claim] => Ok(claim),
            [] => {
                let place = if standpoint == Standpoint::Inside { "inside" } else { "waiting" };
                Err(Fault::Impossible(format!("{who} has no claim {place}")))
            }
            [first, ..] => Err(Fault::Impossible(format!(
                "{who} has {} such claims; expected one of them, as in `{who}/{}`",
                there.len(),
                first.0
            ))),
        }
    }

    fn deliver(&mut self, channel: Channel, kind: Option<&str>) -> Result<(), Fault> {
        let Channel { from, to } = channel;
        let (lane, at) = match self.find(channel, kind) {
            Some(at) => (Lane::Up, at),
            None => (self.lane(channel, kind)?, 0),
        };
        if !self.world.busy_channels().contains(&(from, to, lane)) {
            let first = Mishap::Open(to, from);
            let why = format!("{to} does not know of its new session; expected `{first}` first");
            return Err(Fault::Impossible(why));
        }
        self.world.deliver_at((from, to, lane), at, &mut self.recorder);
        Ok(())
    }

    fn lose(&mut self, channel: Channel, kind: Option<&str>) -> Result<(), Fault> {
        let (lane, at) = match self.find(channel, kind) {
            Some(at) => (Lane::Up, at),
            None => (self.lane(channel, kind)?, 0),
        };
        self.world.drop_at((channel.from, channel.to, lane), at, &mut self.recorder);
        Ok(())
    }

    fn expire(&mut self, site: SiteId, name: &str) -> Result<(), Fault> {
        let armed = self.world.timer_names(site);
        match armed.iter().position(|timer| timer == name) {
            Some(at) => {
                self.world.expire(site, at, &mut self.recorder);
                Ok(())
            }
            None => {
                let armed = if armed.is_empty() { "none".to_owned() } else { armed.join(", ") };
                Err(Fault::Impossible(format!("{name} of {site} is not armed; armed: {armed}")))
            }
        }
    }

    /// Time goes by, and what is due on the way runs out, the earliest first.
    fn advance(&mut self, time: Duration) {
        let end = self.world.now() + time;
        while let Some(due) = self.world.next_due().filter(|&due| due <= end) {
            self.world.set_now(due.max(self.world.now()));
            for site in SiteId::all(self.world.n()) {
                let is_due = |timer: &TimerView| timer.due <= due;
                while let Some(at) = self.world.timers(site).iter().position(is_due) {
                    self.world.expire(site, at, &mut self.recorder);
                }
            }
        }
        self.world.set_now(end);
    }

    /// Where in a channel that keeps no order the first message of this kind is.
    fn find(&self, Channel { from, to }: Channel, kind: Option<&str>) -> Option<usize> {
        let under_way = self.world.under_way((from, to, Lane::Up));
        let found = under_way.iter().position(|message| kind == Some(message.kind));
        found.filter(|_| self.any_order)
    }

    /// The lane of a channel whose next message is meant.
    fn lane(&self, channel: Channel, kind: Option<&str>) -> Result<Lane, Fault> {
        let next = |lane| {
            let under_way = self.world.under_way((channel.from, channel.to, lane));
            under_way.first().map(|&message| (lane, message))
        };
        let next: Vec<_> = [Lane::Up, Lane::Down].into_iter().filter_map(next).collect();
        let meant = |(_, message): &&(Lane, Message<'_>)| kind == Some(message.kind);
        match (&next[..], kind) {
            ([], _) => Err(Fault::Impossible(format!("nothing is under way on {channel}"))),
            (&[(lane, _)], None) => Ok(lane),
            ([(_, up), (_, down), ..], None) => Err(Fault::Impossible(format!(
                "two sessions carry messages on {channel}, `{up}` and `{down}`; expected \
                 `deliver {channel} {}` or `deliver {channel} {}`",
                up.kind, down.kind
            ))),
            (next, Some(kind)) => match next.iter().find(meant) {
                Some(&(lane, _)) => Ok(lane),
                None => {
                    let first: Vec<_> = next.iter().map(|(_, m)| format!("`{m}`")).collect();
                    let verb = if first.len() > 1 { "come" } else { "comes" };
                    let actual = format!("{} {verb} first", first.join(" and "));
                    Err(Fault::Unmet { expected: format!("a {kind} on {channel}"), actual })
                }
            },
        }
    }

    fn suffer(&mut self, fault: Mishap) -> Result<(), Fault> {
        if let Some(why) = self.world.refusal(fault) {
            return Err(Fault::Impossible(why));
        }
        self.world.suffer(fault, &mut self.recorder);
        Ok(())
    }

    /// Delivers in rounds, one message of each channel in the order of senders and receivers.
    fn settle(&mut self) -> Result<(), Fault> {
        let mut delivered = 0;
        loop {
            let free = |&(from, to, _): &_| !self.held.contains(&Channel { from, to });
            let free: Vec<_> = self.world.busy_channels().into_iter().filter(free).collect();
            if free.is_empty() {
                return Ok(());
            }
            if delivered >= DELIVERIES_MAX {
                return Err(Fault::Endless(delivered));
            }
            for lane in free {
                self.world.deliver(lane, &mut self.recorder);
                delivered += 1;
            }
        }
    }

    /// Notes a property that broke. It is an error unless a line below expects it.
    fn judge(&mut self, line: usize, below: &[Command]) -> Result<(), ScriptError> {
        let Some(breach) = self.world.breach() else { return Ok(()) };
        if self.broken.is_some() {
            return Ok(());
        }
        let expected = Deed::Expect(Check::Broken(breach.property));
        if !below.iter().any(|command| command.deed == expected) {
            return Err(Fault::Broken(breach.clone()).at(line));
        }
        self.broken = Some((line, breach.clone()));
        Ok(())
    }
}

/// Finds the first line that went otherwise than the script says; no lines say nothing.
fn compare_trace(command: &Command, shown: &[Line]) -> Result<(), ScriptError> {
    if command.trace.is_empty() {
        return Ok(());
    }
    let mut expected = command.trace.iter();
    let mut actual = shown.iter().map(|line| line.to_string().trim_end().to_owned());
    let mut last = command.line;
    loop {
        let (line, expected, actual) = match (expected.next(), actual.next()) {
            (None, None) => return Ok(()),
            (Some((line, text)), actual) => (*line, Some(text.clone()), actual),
            (None, actual) => (last, None, actual),
        };
        if expected != actual {
            return Err(Fault::Unlike { expected, actual }.at(line));
        }
        last = line;
    }
}
