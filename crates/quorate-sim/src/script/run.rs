//! Runs a script in a world.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use quorate_protocol::ClaimId;
use quorate_quorum::SiteId;

use super::command::{Action, Body, Channel, Check, Command, Who};
use super::error::{ErrorKind, ScriptError};
use super::line::{Line, Recorder, Tally};
use super::{Cluster, Script};
use crate::{
    AnyProtocol, AnyWorld, Breach, ClaimState, Fault, Lane, Message, Observer, Order, TimerView,
};

/// No scenario needs more deliveries in one `settle`.
const DELIVERIES_MAX: usize = 100_000;

/// The result of a script that went as it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What was sent, and who was served.
    pub tally: Tally,
    /// The property that broke as expected, and the line where it did.
    pub broken: Option<(usize, Breach)>,
}

/// Runs `script`, showing every line to `sink`; `compare` its traces or not.
///
/// The world keeps messages in the order they were sent, whatever the order of delivery: with
/// `order any` a command takes the oldest message that it means.
pub(super) fn run(
    script: &Script,
    compare: bool,
    sink: &mut dyn FnMut(&Line),
    watch: &mut dyn Observer,
) -> Result<Report, ScriptError> {
    let Cluster { sessions, order, hosts, .. } = &script.cluster;
    let mut runner = Runner {
        protocol: &*script.protocol,
        world: Arc::clone(&script.setup).world(*sessions, Order::Fifo),
        recorder: Recorder::new(watch),
        broken: None,
        held: BTreeSet::new(),
        any_order: *order != Order::Fifo,
    };
    for (_, group, host) in hosts {
        runner.world.prefer_host(group, *host);
    }
    for (at, command) in script.commands.iter().enumerate() {
        runner.recorder.begin(command.line, command.is_quiet());
        let done = runner.follow(command);
        show(command, &runner.recorder.shown, sink);
        done.map_err(|error| error.at(command.line))?;
        runner.note_breach(command.line, &script.commands[at..])?;
        if compare {
            compare_trace(command, &runner.recorder.shown)?;
        }
    }
    Ok(Report { tally: runner.recorder.tally, broken: runner.broken })
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

/// A script that is running.
pub(super) struct Runner<'a> {
    protocol: &'a dyn AnyProtocol,
    pub(super) world: Box<dyn AnyWorld>,
    pub(super) recorder: Recorder<'a>,
    pub(super) broken: Option<(usize, Breach)>,
    held: BTreeSet<Channel>,
    any_order: bool,
}

impl Runner<'_> {
    fn follow(&mut self, command: &Command) -> Result<(), ErrorKind> {
        match &command.body {
            Body::Act { action, .. } => self.act(action),
            Body::Expect(check) => self.check(check),
        }
    }

    fn act(&mut self, action: &Action) -> Result<(), ErrorKind> {
        match action {
            Action::Acquire(who, words) => self.acquire(*who, words),
            Action::Release(who) => {
                let claim = self.claim(*who, ClaimState::Inside)?;
                let done = self.world.release(who.site, claim, &mut self.recorder);
                done.map_err(|why| ErrorKind::Impossible(format!("{who} cannot release: {why}")))
            }
            Action::GiveUp(who) => {
                let claim = self.claim(*who, ClaimState::Waiting)?;
                let done = self.world.give_up(who.site, claim, &mut self.recorder);
                done.map_err(|why| ErrorKind::Impossible(format!("{who} cannot give up: {why}")))
            }
            Action::Deliver(channel, kind) => self.deliver(*channel, kind.as_deref()),
            Action::Drop(channel, kind) => {
                let (channel, at) = self.find("drop", *channel, kind.as_deref())?;
                self.world.drop_at(channel, at, &mut self.recorder);
                Ok(())
            }
            Action::Duplicate(channel, kind) => {
                let (channel, at) = self.find("duplicate", *channel, kind.as_deref())?;
                self.world.duplicate(channel, at);
                Ok(())
            }
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

    fn acquire(&mut self, who: Who, words: &[String]) -> Result<(), ErrorKind> {
        if !self.world.is_up(who.site) {
            let (who, site) = (who, who.site);
            let why = format!("{who} cannot acquire: it has crashed; expected `restart {site}`");
            return Err(ErrorKind::Impossible(why));
        }
        let next = ClaimId(self.world.claims_made(who.site) + 1);
        if who.claim.is_some_and(|claim| claim != next) {
            let why = format!("the next claim of {} is {}/{}", who.site, who.site, next.0);
            return Err(ErrorKind::Impossible(why));
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let claim = self.protocol.parse_claim(&words);
        let claim = claim.map_err(ErrorKind::Refused)?;
        let done = self.world.acquire(who.site, &claim, &mut self.recorder);
        match done {
            Ok(_) => Ok(()),
            Err(why) => Err(ErrorKind::Impossible(format!("{who} cannot acquire: {why}"))),
        }
    }

    /// The claim that is meant, among those in this state.
    fn claim(&self, who: Who, state: ClaimState) -> Result<ClaimId, ErrorKind> {
        if let Some(claim) = who.claim {
            return Ok(claim);
        }
        let there = self.world.claims(who.site).iter().filter(|&(_, other)| *other == state);
        let there: Vec<ClaimId> = there.map(|(claim, _)| *claim).collect();
        match there[..] {
            [claim] => Ok(claim),
            [] => {
                let state: &str = state.into();
                Err(ErrorKind::Impossible(format!("{who} has no claim {state}")))
            }
            [first, ..] => Err(ErrorKind::Impossible(format!(
                "{who} has {} such claims; expected one of them, as in `{who}/{}`",
                there.len(),
                first.0
            ))),
        }
    }

    fn deliver(&mut self, channel: Channel, kind: Option<&str>) -> Result<(), ErrorKind> {
        let Channel { from, to } = channel;
        let (channel, at) = self.find("deliver", channel, kind)?;
        if !self.world.busy_channels().contains(&channel) {
            let first = Fault::Open(to, from);
            let why = format!("{to} does not know of its new session; expected `{first}` first");
            return Err(ErrorKind::Impossible(why));
        }
        self.world.deliver_at(channel, at, &mut self.recorder);
        Ok(())
    }

    fn expire(&mut self, site: SiteId, name: &str) -> Result<(), ErrorKind> {
        let armed = self.world.timer_names(site);
        match armed.iter().position(|timer| timer == name) {
            Some(at) => {
                self.world.expire(site, at, &mut self.recorder);
                Ok(())
            }
            None => {
                let armed = if armed.is_empty() { "none".to_owned() } else { armed.join(", ") };
                Err(ErrorKind::Impossible(format!("{name} of {site} is not armed; armed: {armed}")))
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

    /// The lane and the place of the message that `verb` means: the next one of its channel, or
    /// where messages overtake each other the oldest of its kind.
    fn find(
        &self,
        verb: &str,
        channel: Channel,
        kind: Option<&str>,
    ) -> Result<((SiteId, SiteId, Lane), usize), ErrorKind> {
        let Channel { from, to } = channel;
        if let (true, Some(kind)) = (self.any_order, kind) {
            let under_way = self.world.under_way((from, to, Lane::Up));
            return match under_way.iter().position(|message| kind == message.kind) {
                Some(at) => Ok(((from, to, Lane::Up), at)),
                None => Err(self.no_message(channel, kind)),
            };
        }
        let next = |lane| {
            let under_way = self.world.under_way((from, to, lane));
            under_way.first().map(|&message| (lane, message))
        };
        let next: Vec<_> = [Lane::Up, Lane::Down].into_iter().filter_map(next).collect();
        let lane = next_lane(verb, channel, kind, &next)?;
        Ok(((from, to, lane), 0))
    }

    fn suffer(&mut self, fault: Fault) -> Result<(), ErrorKind> {
        if let Some(why) = self.world.refusal(fault) {
            return Err(ErrorKind::Impossible(why));
        }
        self.world.suffer(fault, &mut self.recorder);
        Ok(())
    }

    /// Delivers in rounds, one message of each channel in the order of senders and receivers.
    fn settle(&mut self) -> Result<(), ErrorKind> {
        let mut delivered = 0;
        loop {
            let free = |&(from, to, _): &_| !self.held.contains(&Channel { from, to });
            let free: Vec<_> = self.world.busy_channels().into_iter().filter(free).collect();
            if free.is_empty() {
                return Ok(());
            }
            for lane in free {
                if delivered == DELIVERIES_MAX {
                    return Err(ErrorKind::Endless(delivered));
                }
                self.world.deliver(lane, &mut self.recorder);
                delivered += 1;
            }
        }
    }

    /// Notes a property that broke: an error unless a line below expects it.
    fn note_breach(&mut self, line: usize, below: &[Command]) -> Result<(), ScriptError> {
        let Some(breach) = self.world.breach() else { return Ok(()) };
        if self.broken.is_some() {
            return Ok(());
        }
        let expected = Body::Expect(Check::Broken(breach.property));
        if !below.iter().any(|command| command.body == expected) {
            return Err(ErrorKind::Broken(breach.clone()).at(line));
        }
        self.broken = Some((line, breach.clone()));
        Ok(())
    }
}

/// The lane of a channel whose next message is meant; `next` has the next of each.
fn next_lane(
    verb: &str,
    channel: Channel,
    kind: Option<&str>,
    next: &[(Lane, Message<'_>)],
) -> Result<Lane, ErrorKind> {
    let is_meant = |(_, message): &&(Lane, Message<'_>)| kind == Some(message.kind);
    match (next, kind) {
        ([], _) => Err(ErrorKind::Impossible(format!("nothing is under way on {channel}"))),
        (&[(lane, _)], None) => Ok(lane),
        ([(_, up), (_, down), ..], None) => Err(ErrorKind::Impossible(format!(
            "two sessions carry messages on {channel}, `{up}` and `{down}`; expected \
             `{verb} {channel} {}` or `{verb} {channel} {}`",
            up.kind, down.kind
        ))),
        (next, Some(kind)) => match next.iter().find(is_meant) {
            Some(&(lane, _)) => Ok(lane),
            None => {
                let first: Vec<_> = next.iter().map(|(_, m)| format!("`{m}`")).collect();
                let verb = if first.len() > 1 { "come" } else { "comes" };
                let actual = format!("{} {verb} first", first.join(" and "));
                Err(ErrorKind::Unmet { expected: format!("a {kind} on {channel}"), actual })
            }
        },
    }
}

/// Finds the first line that differs from the script; without lines nothing is compared.
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
            return Err(ErrorKind::Unlike { expected, actual }.at(line));
        }
        last = line;
    }
}
