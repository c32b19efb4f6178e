//! The schedule: which fault comes when, from a seed. It is complete before anything runs.

use std::time::Duration;

use crate::chance::Chance;
use crate::faults::{Action, Nemesis, Setting};

/// A step of the schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A fault begins.
    Begin { fault: usize, nemesis: Nemesis, text: String },
    /// Something is done for a fault.
    Act(usize, Action),
    /// A fault is over.
    End(usize),
    /// Everything is mended; the last time, for good.
    Heal { last: bool },
}

/// The steps of a run, each with its time since the beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    pub(crate) steps: Vec<(Duration, Step)>,
    /// When the run is over.
    pub(crate) end: Duration,
}

/// The rest after the faults of an episode, in leases.
const REST: u32 = 6;
/// The rest at the beginning and at the end, in leases.
const LONG_REST: u32 = 12;

impl Schedule {
    /// Draws the schedule: every fault alone, then pairs, then random walks of overlapping faults,
    /// and all over again until the time is over.
    pub(crate) fn draw(nemeses: &[Nemesis], setting: &Setting, time: Duration, seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let mut schedule = Self { steps: Vec::new(), end: setting.lease * LONG_REST };
        let last = time.saturating_sub(setting.lease * (LONG_REST + REST));
        let mut faults = 0;
        'whole: while !nemeses.is_empty() {
            for episode in episodes(nemeses, &mut chance) {
                if schedule.end >= last && faults > 0 {
                    break 'whole;
                }
                schedule.add(&episode, &mut faults, setting, &mut chance);
            }
        }
        schedule.steps.push((schedule.end, Step::Heal { last: true }));
        schedule.end += setting.lease * LONG_REST;
        schedule.steps.sort_by_key(|(at, _)| *at);
        schedule
    }

    fn add(
        &mut self,
        episode: &[Nemesis],
        faults: &mut usize,
        setting: &Setting,
        chance: &mut Chance,
    ) {
        let (mut begin, mut end) = (self.end, self.end);
        for nemesis in episode {
            let drawn = nemesis.draw(setting, chance);
            let (fault, nemesis, text) = (*faults, *nemesis, drawn.text);
            self.steps.push((begin, Step::Begin { fault, nemesis, text }));
            for (at, action) in drawn.actions {
                self.steps.push((begin + at, Step::Act(fault, action)));
            }
            self.steps.push((begin + drawn.length, Step::End(fault)));
            *faults += 1;
            end = end.max(begin + drawn.length);
            // The next one begins while this one lasts.
            let percent = u32::try_from(10 + chance.below(80)).unwrap_or(50);
            begin += drawn.length * percent / 100;
        }
        self.steps.push((end, Step::Heal { last: false }));
        self.end = end + setting.lease * REST;
    }
}

/// One round: each fault alone, half as many pairs, and some walks.
fn episodes(nemeses: &[Nemesis], chance: &mut Chance) -> Vec<Vec<Nemesis>> {
    let alone = chance.shuffled(nemeses).into_iter().map(|nemesis| vec![nemesis]);
    let mut episodes: Vec<Vec<Nemesis>> = alone.collect();
    let several = |count: usize, chance: &mut Chance| -> Vec<Nemesis> {
        (0..count).map(|_| *chance.pick(nemeses)).collect()
    };
    for _ in 0..nemeses.len().div_ceil(2) {
        episodes.push(several(2, chance));
    }
    for _ in 0..nemeses.len().div_ceil(4) {
        let count = 3 + chance.below(4);
        episodes.push(several(count, chance));
    }
    episodes
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTING: Setting =
        Setting { sites: 5, clients: 4, commands: 2, lease: Duration::from_secs(1) };

    fn draw(seed: u64) -> Schedule {
        Schedule::draw(Nemesis::ALL, &SETTING, Duration::from_mins(30), seed)
    }

    #[test]
    fn a_seed_gives_the_same_schedule_again() {
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn every_fault_comes_in_half_an_hour() {
        let schedule = draw(1);
        for wanted in Nemesis::ALL {
            let comes =
                |step: &Step| matches!(step, Step::Begin { nemesis, .. } if nemesis == wanted);
            assert!(schedule.steps.iter().any(|(_, step)| comes(step)), "{wanted}");
        }
    }

    #[test]
    fn it_ends_in_time_with_everything_mended() {
        let schedule = draw(3);
        assert!(schedule.end < Duration::from_mins(31), "{:?}", schedule.end);
        assert_eq!(schedule.steps.last().unwrap().1, Step::Heal { last: true });
    }
}
