//! Checks the `expect` lines.

use std::time::Duration;

use quorate_protocol::{ClaimId, Eta, Fence, Ticket};
use quorate_quorum::SiteId;

use super::command::{Channel, Check, Who};
use super::error::ErrorKind;
use super::run::Runner;
use crate::time::parse_time;
use crate::{ClaimState, Grant, Lane, Message};

impl Runner<'_> {
    /// Whether things are as the script says.
    pub(super) fn check(&self, check: &Check) -> Result<(), ErrorKind> {
        match check {
            Check::Claim(who, state, words) => {
                self.is_in_state(*who, *state)?;
                match state {
                    Some(ClaimState::Waiting) => self.waits_for(*who, words),
                    _ => self.has_grant(*who, words),
                }
            }
            Check::Fence(who, fence) => self.has_fence(*who, *fence),
            Check::Shows { site, name, text } => {
                let shown = self.world.show(*site, name).map_err(ErrorKind::Refused)?;
                if shown == *text {
                    return Ok(());
                }
                unmet(format!("{site} shows {name} {text}"), format!("it is {shown}"))
            }
            Check::Has(channel, kind) => self.has(*channel, kind),
            Check::Empty(channel) => {
                let expected = || format!("nothing under way on {channel}");
                match self.under_way(*channel).first() {
                    None => Ok(()),
                    Some(message) => unmet(expected(), format!("there is `{message}`")),
                }
            }
            Check::Quiet => match self.world.in_flight() {
                0 => Ok(()),
                _ => unmet("nothing under way", format!("there is something {}", self.busy())),
            },
            Check::Messages(expected) => {
                let sent = self.recorder.tally.messages_total();
                self.sent("messages", sent, *expected)
            }
            Check::Count(kind, expected) => {
                let sent = self.recorder.tally.messages.get(kind.as_str());
                self.sent(&format!("{kind} count"), sent.copied().unwrap_or(0), *expected)
            }
            Check::Broken(property) => self.is_broken(property),
        }
    }

    fn sent(&self, what: &str, sent: u64, expected: u64) -> Result<(), ErrorKind> {
        if sent == expected {
            return Ok(());
        }
        let kinds = self.recorder.tally.messages.iter();
        let kinds: Vec<_> = kinds.map(|(kind, n)| format!("{n} {kind}")).collect();
        let all = if kinds.is_empty() { "no message".to_owned() } else { kinds.join(", ") };
        unmet(format!("{what} {expected}"), format!("{sent} were sent: {all}"))
    }

    /// Whether a claim is in this state; `None` if the site should have none.
    fn is_in_state(&self, who: Who, state: Option<ClaimState>) -> Result<(), ErrorKind> {
        let made = self.world.claims_made(who.site);
        if let Some(ClaimId(number)) = who.claim.filter(|claim| claim.0 > made) {
            let why = format!("site {} has made {made} claims, and none is {number}", who.site);
            return Err(ErrorKind::Impossible(why));
        }
        let claims = self.world.claims(who.site).iter();
        let meant = claims.filter(|&(claim, _)| who.means(*claim));
        let states: Vec<ClaimState> = meant.map(|(_, state)| *state).collect();
        let met = match state {
            None => states.is_empty(),
            Some(state) => states.contains(&state),
        };
        if met {
            return Ok(());
        }
        let name = |state: Option<ClaimState>| state.map_or("idle", Into::into);
        let actual: Vec<_> = states.iter().map(|&state| name(Some(state))).collect();
        let actual = if actual.is_empty() { name(None).to_owned() } else { actual.join(" and ") };
        unmet(format!("{who} {}", name(state)), format!("it is {actual}"))
    }

    /// The grants of a caller that is inside.
    fn grants(&self, who: Who) -> impl Iterator<Item = (ClaimId, Grant<'_>)> {
        let claims = self.world.claims(who.site).keys().copied();
        let meant = claims.filter(move |&claim| who.means(claim));
        meant.filter_map(move |claim| Some((claim, self.world.grant(who.site, claim)?)))
    }

    /// Whether a grant is as the words say.
    fn has_grant(&self, who: Who, words: &[String]) -> Result<(), ErrorKind> {
        if words.is_empty() {
            return Ok(());
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut actual = Vec::new();
        for (claim, grant) in self.grants(who) {
            let found = self.world.grant_is(who.site, claim, &words);
            if found.map_err(ErrorKind::Refused)? == Some(true) {
                return Ok(());
            }
            actual.push(grant.to_string());
        }
        unmet(
            format!("{who} inside {}", words.join(" ")),
            format!("it is inside {}", actual.join(" and ")),
        )
    }

    /// Whether a grant has this fence.
    fn has_fence(&self, who: Who, expected: u64) -> Result<(), ErrorKind> {
        let fences: Vec<Fence> = self.grants(who).map(|(_, grant)| grant.fence).collect();
        if fences.contains(&Fence(expected)) {
            return Ok(());
        }
        let actual: Vec<_> = fences.iter().map(ToString::to_string).collect();
        let actual = match actual[..] {
            [] => "it is not inside".to_owned(),
            _ => format!("it has {}", actual.join(" and ")),
        };
        unmet(format!("{who} fence {expected}"), actual)
    }

    /// Whether a claim that waits can expect to get in when the words say, at the earliest.
    fn waits_for(&self, who: Who, words: &[String]) -> Result<(), ErrorKind> {
        let time = match words {
            [] => return Ok(()),
            [lead, time] if lead == "for" => parse_time(time),
            _ => None,
        };
        let words = words.join(" ");
        let refused = || ErrorKind::Refused(format!("expected `waiting for 4ms`, not `{words}`"));
        let time = time.ok_or_else(refused)?;
        let meant = |ticket: Ticket| ticket.site == who.site && who.means(ticket.claim);
        let etas = SiteId::all(self.world.n()).flat_map(|site| self.world.view(site).etas);
        let etas = etas.filter(|eta| meant(eta.ticket));
        let now = self.world.now();
        let waits = etas.map(|Eta { from, after, .. }| {
            let from = from.map_or(0, |from| from.max(now).0 - now.0);
            Duration::from_nanos(from) + after
        });
        let waits: Vec<Duration> = waits.collect();
        if waits.contains(&time) {
            return Ok(());
        }
        unmet(format!("{who} waiting {words}"), format!("it can expect {waits:?}"))
    }

    fn has(&self, channel: Channel, kind: &str) -> Result<(), ErrorKind> {
        let under_way = self.under_way(channel);
        let found = under_way.iter().find(|message| message.kind == kind);
        found.map(|_| ()).ok_or_else(|| self.no_message(channel, kind))
    }

    /// No message of this kind is under way: these are.
    pub(super) fn no_message(&self, channel: Channel, kind: &str) -> ErrorKind {
        let kinds: Vec<_> = self.under_way(channel).iter().map(|message| message.kind).collect();
        let there = if kinds.is_empty() { "nothing".to_owned() } else { kinds.join(", ") };
        let expected = format!("a {kind} on {channel}");
        ErrorKind::Unmet { expected, actual: format!("there is {there}") }
    }

    /// What is under way in either lane of a channel.
    fn under_way(&self, Channel { from, to }: Channel) -> Vec<Message<'_>> {
        let lane = |lane| self.world.under_way((from, to, lane));
        [Lane::Up, Lane::Down].into_iter().flat_map(lane).collect()
    }

    fn busy(&self) -> String {
        let busy = self.world.busy_channels().into_iter();
        let busy = busy.map(|(from, to, _)| Channel { from, to }.to_string());
        format!("on {}", busy.collect::<Vec<_>>().join(", "))
    }

    fn is_broken(&self, property: &str) -> Result<(), ErrorKind> {
        match self.world.breach() {
            Some(breach) if breach.property == property => Ok(()),
            Some(breach) => unmet(format!("broken {property}"), format!("it was {breach}")),
            None => unmet(format!("broken {property}"), "no property is broken"),
        }
    }
}

fn unmet(expected: impl Into<String>, actual: impl Into<String>) -> Result<(), ErrorKind> {
    Err(ErrorKind::Unmet { expected: expected.into(), actual: actual.into() })
}
