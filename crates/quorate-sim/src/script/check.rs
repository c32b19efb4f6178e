//! The `expect` lines: what is, against what the script says.

use std::time::Duration;

use quorate_protocol::{ClaimId, Eta, Ticket};
use quorate_quorum::SiteId;

use super::command::{Channel, Check, Place, Who};
use super::error::Fault;
use super::parse::milliseconds;
use super::run::Stage;
use crate::{Lane, Message, Standpoint};

impl Stage<'_> {
    /// Whether things are as the script says.
    pub(super) fn check(&self, check: &Check) -> Result<(), Fault> {
        match check {
            Check::Stands(who, place, words) => {
                self.stands(*who, *place)?;
                match place {
                    Place::Waiting => self.waits_for(*who, words),
                    _ => self.has_what(*who, words),
                }
            }
            Check::Shows(site, what, expected) => {
                let shown = self.world.shown(*site, what).map_err(Fault::Refused)?;
                if shown == *expected {
                    return Ok(());
                }
                unmet(format!("{site} shows {what} {expected}"), format!("it is {shown}"))
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
                if sent == *expected {
                    return Ok(());
                }
                let kinds = self.recorder.tally.messages.iter();
                let kinds: Vec<_> = kinds.map(|(kind, n)| format!("{n} {kind}")).collect();
                unmet(
                    format!("messages {expected}"),
                    format!("{sent} were sent: {}", kinds.join(", ")),
                )
            }
            Check::Broken(property) => self.is_broken(property),
        }
    }

    fn stands(&self, who: Who, place: Place) -> Result<(), Fault> {
        let made = self.world.claims_made(who.site);
        if let Some(ClaimId(number)) = who.claim.filter(|claim| claim.0 > made) {
            let why = format!("site {} has made {made} claims, and none is {number}", who.site);
            return Err(Fault::Impossible(why));
        }
        let claims = self.world.claims(who.site).iter();
        let meant = claims.filter(|&(claim, _)| who.claim.is_none_or(|named| named == *claim));
        let places: Vec<Place> = meant.map(|(_, standpoint)| place_of(*standpoint)).collect();
        let met = match place {
            Place::Idle => places.is_empty(),
            place => places.contains(&place),
        };
        if met {
            return Ok(());
        }
        let actual: Vec<_> = places.iter().map(|place| place.word()).collect();
        let actual = if actual.is_empty() { "idle".to_owned() } else { actual.join(" and ") };
        unmet(format!("{who} {}", place.word()), format!("it is {actual}"))
    }

    /// Whether a claim that is inside has what the words say.
    fn has_what(&self, who: Who, words: &[String]) -> Result<(), Fault> {
        if words.is_empty() {
            return Ok(());
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let claims = self.world.claims(who.site).keys().copied();
        let meant = |claim: &ClaimId| who.claim.is_none_or(|named| named == *claim);
        let mut actual = Vec::new();
        for claim in claims.filter(meant) {
            let found = self.world.grant_is(who.site, claim, &words).map_err(Fault::Refused)?;
            if found == Some(true) {
                return Ok(());
            }
            actual.extend(self.world.grant(who.site, claim).map(|grant| grant.to_string()));
        }
        unmet(
            format!("{who} inside {}", words.join(" ")),
            format!("it is inside {}", actual.join(" and ")),
        )
    }

    /// Whether a claim that waits can expect to get in when the words say, at the earliest.
    fn waits_for(&self, who: Who, words: &[String]) -> Result<(), Fault> {
        let time = match words {
            [] => return Ok(()),
            [lead, time] if lead == "for" => milliseconds(time),
            _ => None,
        };
        let words = words.join(" ");
        let refused = || Fault::Refused(format!("expected `waiting for 4ms`, not `{words}`"));
        let time = time.ok_or_else(refused)?;
        let meant = |ticket: Ticket| {
            ticket.site == who.site && who.claim.is_none_or(|claim| claim == ticket.claim)
        };
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

    fn has(&self, channel: Channel, kind: &str) -> Result<(), Fault> {
        let kinds: Vec<_> = self.under_way(channel).iter().map(|message| message.kind).collect();
        if kinds.contains(&kind) {
            return Ok(());
        }
        let there = if kinds.is_empty() { "nothing".to_owned() } else { kinds.join(", ") };
        unmet(format!("a {kind} on {channel}"), format!("there is {there}"))
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

    fn is_broken(&self, property: &str) -> Result<(), Fault> {
        match self.world.breach() {
            Some(breach) if breach.property == property => Ok(()),
            Some(breach) => unmet(format!("broken {property}"), format!("it was {breach}")),
            None => unmet(format!("broken {property}"), "no property is broken"),
        }
    }
}

fn place_of(standpoint: Standpoint) -> Place {
    match standpoint {
        Standpoint::Inside => Place::Inside,
        Standpoint::Waiting => Place::Waiting,
        Standpoint::Lost => Place::Lost,
    }
}

fn unmet(expected: impl Into<String>, actual: impl Into<String>) -> Result<(), Fault> {
    Err(Fault::Unmet { expected: expected.into(), actual: actual.into() })
}
