//! Never two valid holders: at no instant are two conflicting grants both valid.

use std::collections::BTreeMap;

use super::{Grant, Lateness, Violation, seconds};

/// Looks at all grants, in the order of their beginnings.
pub(super) fn check(grants: &[Grant], late: &Lateness) -> Vec<Violation> {
    let mut inside: BTreeMap<&str, Vec<&Grant>> = BTreeMap::new();
    let mut violations = Vec::new();
    for grant in grants {
        if grant.certain_end(late) <= grant.from {
            continue;
        }
        let others = inside.entry(&grant.name).or_default();
        others.retain(|other| other.certain_end(late) > grant.from);
        let broken = others.iter().find(|other| other.share.conflicts(&grant.share));
        if let Some(other) = broken {
            violations.push(both(other, grant));
        } else if let Some((count, of)) = grant.share.units() {
            let taken: u32 =
                others.iter().filter_map(|other| other.share.units()).map(|u| u.0).sum();
            if taken + count > of {
                let text = format!("{}: {} units of {of} are held", grant.name, taken + count);
                violations.push(Violation { at: grant.from, rule: "exclusion", text });
            }
        }
        others.push(grant);
    }
    violations
}

fn both(one: &Grant, two: &Grant) -> Violation {
    let overlap = one.until.min(two.until).saturating_sub(two.from);
    let text = format!(
        "{}: {} holds {:?} with fence {}, and {} {:?} with fence {}, for {}",
        two.name,
        one.who,
        one.share,
        one.fence,
        two.who,
        two.share,
        two.fence,
        seconds(overlap)
    );
    Violation { at: two.from, rule: "exclusion", text }
}

#[cfg(test)]
mod tests {
    use crate::history::What;
    use crate::judge::forged::{broken, event, grant};
    use crate::share::Share;

    #[test]
    fn two_holders_of_a_mutex_are_found() {
        let mut events = grant("client-1.1", 0, "mutex", Share::Alone, 1, (0, 100));
        events.extend(grant("client-2.1", 0, "mutex", Share::Alone, 2, (99, 200)));
        assert_eq!(broken(events.clone()), ["exclusion"]);
        events.truncate(2);
        events.extend(grant("client-2.1", 0, "mutex", Share::Alone, 2, (100, 200)));
        assert!(broken(events).is_empty());
    }

    #[test]
    fn members_of_one_group_are_fine_and_others_are_found() {
        let group = |name: &str| Share::Group(name.into());
        let mut events = grant("client-1.1", 0, "group", group("a"), 1, (0, 100));
        events.extend(grant("client-2.1", 0, "group", group("a"), 1, (50, 200)));
        assert!(broken(events.clone()).is_empty());
        events.extend(grant("client-3.1", 0, "group", group("b"), 2, (150, 200)));
        assert_eq!(broken(events), ["exclusion"]);
    }

    #[test]
    fn too_many_units_are_found_though_no_two_grants_conflict() {
        let units = |numbers: &[u32]| Share::Units {
            count: 2,
            of: 4,
            numbers: numbers.iter().copied().collect(),
        };
        let mut events = grant("client-1.1", 0, "pool", units(&[]), 1, (0, 100));
        events.extend(grant("client-2.1", 0, "pool", units(&[]), 1, (10, 100)));
        assert!(broken(events.clone()).is_empty());
        events.extend(grant("client-3.1", 0, "pool", units(&[]), 1, (20, 100)));
        assert_eq!(broken(events), ["exclusion"]);
        let mut events = grant("client-1.1", 0, "numbered", units(&[0, 1]), 1, (0, 100));
        events.extend(grant("client-2.1", 0, "numbered", units(&[1, 2]), 2, (50, 100)));
        assert_eq!(broken(events), ["exclusion"]);
    }

    #[test]
    fn a_command_that_is_killed_late_is_excused_only_if_the_machine_was() {
        let mut events = grant("command-1.1", 0, "mutex", Share::Alone, 1, (0, 160));
        events.extend(grant("client-2.1", 0, "mutex", Share::Alone, 2, (100, 200)));
        assert_eq!(broken(events.clone()), ["exclusion"]);
        events.push(event(155, "torture", What::Late { ms: 60 }));
        assert!(broken(events).is_empty());
    }
}
