//! Questions of clients: a few are asked at a time, those of each client in its turn.
//!
//! An answer may be long, and all sites send one. So what one site asks at the same time is
//! bounded, and a client that asks much delays nobody but itself.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::time::Duration;

use quorate_quorum::{SiteId, SiteSet};
use quorate_session::client::{ClientId, SiteReply};
use quorate_session::{Answer, AskId, Question, SiteAnswer, Tick, limits};

use crate::site::Site;

/// The questions of all clients of a site.
#[derive(Clone, Debug, Default)]
pub(super) struct Questions {
    /// Those that were asked.
    open: BTreeMap<AskId, Asked>,
    /// Those that wait, by client: the number there, and the question.
    waiting: BTreeMap<ClientId, VecDeque<(u64, Question)>>,
    /// The client whose question was asked last.
    last: Option<ClientId>,
}

/// A question that was asked, and the answers to it.
#[derive(Clone, Debug)]
struct Asked {
    client: ClientId,
    number: u64,
    question: Question,
    /// When it was asked.
    since: Tick,
    /// How many answers are missing.
    left: usize,
    /// The sites that have answered, without those in quarantine.
    counted: SiteSet,
}

impl Questions {
    /// A client has a question. If too many of its questions wait, the oldest is forgotten.
    pub(super) fn queue(&mut self, client: ClientId, number: u64, question: Question) {
        let waiting = self.waiting.entry(client).or_default();
        waiting.push_back((number, question));
        if waiting.len() > limits::QUESTIONS_PER_CLIENT {
            waiting.pop_front();
        }
    }

    /// The next question, which is asked as `ask`; `None` if none waits or too many are open. A
    /// question is forgotten after a lease: nobody waits longer for an answer, and that of a site
    /// whose session was lost never comes.
    pub(super) fn next(&mut self, ask: AskId, now: Tick, lease: Duration) -> Option<Question> {
        if self.open.len() >= limits::QUESTIONS_AT_ONCE {
            self.open.retain(|_, asked| now < asked.since + lease);
        }
        if self.open.len() >= limits::QUESTIONS_AT_ONCE {
            return None;
        }
        let start = self.last.map_or(Bound::Unbounded, Bound::Excluded);
        let after = self.waiting.range((start, Bound::Unbounded)).next();
        let client = *after.or_else(|| self.waiting.first_key_value())?.0;
        let waiting = self.waiting.get_mut(&client)?;
        let (number, question) = waiting.pop_front()?;
        if waiting.is_empty() {
            self.waiting.remove(&client);
        }
        self.last = Some(client);
        let (left, counted) = (usize::MAX, SiteSet::new());
        let asked = Asked { client, number, question: question.clone(), since: now, left, counted };
        self.open.insert(ask, asked);
        Some(question)
    }

    /// The client of a question that this many sites will answer, and its number there.
    pub(super) fn await_answers(&mut self, ask: AskId, sites: usize) -> Option<(ClientId, u64)> {
        let asked = self.open.get_mut(&ask)?;
        asked.left = sites;
        Some((asked.client, asked.number))
    }

    /// Counts an answer; the client of the question, and the reply to it.
    pub(super) fn take_answer(
        &mut self,
        site: &Site,
        (ask, from): (AskId, SiteId),
        answer: Answer,
        quarantined: bool,
    ) -> Option<(ClientId, SiteReply)> {
        let asked = self.open.get_mut(&ask)?;
        asked.left = asked.left.saturating_sub(1);
        if !quarantined {
            asked.counted.insert(from);
        }
        let enough = site.is_enough(&asked.question, &asked.counted);
        let answer = SiteAnswer { answer, quarantined, enough };
        let reply = (asked.client, SiteReply::Answer(asked.number, from, answer));
        if asked.left == 0 {
            self.open.remove(&ask);
        }
        Some(reply)
    }

    /// Forgets the questions of a client.
    pub(super) fn forget(&mut self, client: ClientId) {
        self.open.retain(|_, asked| asked.client != client);
        self.waiting.remove(&client);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(3);

    /// Asks as many questions as may be asked now, and returns whose they are.
    fn ask_all(questions: &mut Questions, now: Tick) -> Vec<(u128, u64)> {
        let mut asked = Vec::new();
        while questions.next(AskId(now.0 * 100 + asked.len() as u64), now, LEASE).is_some() {
            let newest = questions.open.values().next_back().expect("it was just asked");
            asked.push((newest.client.0, newest.number));
        }
        asked
    }

    #[test]
    fn clients_take_turns_and_only_some_questions_are_open() {
        let mut questions = Questions::default();
        for number in 0..1000 {
            questions.queue(ClientId(1), number, Question::Sites);
        }
        questions.queue(ClientId(2), 7, Question::Sites);
        let asked = ask_all(&mut questions, Tick(1));
        let first = 1000 - limits::QUESTIONS_PER_CLIENT as u64;
        assert_eq!(asked.len(), limits::QUESTIONS_AT_ONCE);
        assert_eq!(asked[..3], [(1, first), (2, 7), (1, first + 1)], "older ones are forgotten");
        assert_eq!(ask_all(&mut questions, Tick(2)), [], "too many are open");
        let later = Tick(1) + LEASE;
        assert_eq!(ask_all(&mut questions, later).len(), limits::QUESTIONS_AT_ONCE);
        questions.forget(ClientId(1));
        assert!(questions.open.is_empty() && questions.waiting.is_empty());
    }
}
