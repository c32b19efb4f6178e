//! Fences grow: a grant has a higher fence than every conflicting one before, and no storage that
//! checks fences refuses a valid holder.

use std::collections::BTreeMap;

use super::{Grant, Lateness, Violation};
use crate::history::{Event, What};
use crate::share::Share;

/// Looks at all grants, in the order of their beginnings. A grant that was over when its client
/// knew of it has no place in that order.
pub(super) fn check(grants: &[Grant], late: &Lateness) -> Vec<Violation> {
    let mut highest: BTreeMap<&str, BTreeMap<&Share, &Grant>> = BTreeMap::new();
    let mut violations = Vec::new();
    for grant in grants.iter().filter(|grant| grant.certain_end(late) > grant.from) {
        let before = highest.entry(&grant.name).or_default();
        let conflicting = before.iter().filter(|(share, _)| share.conflicts(&grant.share));
        let worst = conflicting.map(|(_, before)| *before).max_by_key(|before| before.fence);
        if let Some(before) = worst.filter(|before| before.fence >= grant.fence) {
            let text = format!(
                "{}: {} was granted {:?} with fence {}, after {} {:?} with fence {}",
                grant.name,
                grant.who,
                grant.share,
                grant.fence,
                before.who,
                before.share,
                before.fence
            );
            violations.push(Violation { at: grant.from, rule: "fences grow", text });
        }
        let known = before.entry(&grant.share).or_insert(grant);
        if grant.fence > known.fence {
            *known = grant;
        }
    }
    violations
}

/// Looks at all writes to the storage.
pub(super) fn storage(events: &[Event]) -> Vec<Violation> {
    let refused = |event: &Event| match &event.what {
        What::Wrote { place, fence, highest, valid: true, .. } if highest > fence => {
            let who = &event.who;
            let text =
                format!("{place} refused {who}, a valid holder: fence {fence}, seen {highest}");
            Some(Violation { at: event.at, rule: "storage", text })
        }
        _ => None,
    };
    events.iter().filter_map(refused).collect()
}

#[cfg(test)]
mod tests {
    use crate::history::What;
    use crate::judge::forged::{broken, event, grant};
    use crate::share::Share;

    #[test]
    fn a_fence_that_does_not_grow_is_found() {
        for (fence, rules) in [(2, &["fences grow"][..]), (3, &["fences grow"]), (4, &[])] {
            let mut events = grant("client-1.1", 0, "mutex", Share::Alone, 3, (0, 100));
            events.extend(grant("client-2.1", 0, "mutex", Share::Alone, fence, (200, 300)));
            assert_eq!(broken(events), rules, "{fence}");
        }
    }

    #[test]
    fn an_older_grant_counts_though_others_came_between() {
        let group = |name: &str| Share::Group(name.into());
        let mut events = grant("client-1.1", 0, "group", group("a"), 5, (0, 100));
        events.extend(grant("client-1.1", 1, "group", group("a"), 4, (110, 120)));
        events.extend(grant("client-2.1", 0, "group", group("b"), 5, (200, 300)));
        assert_eq!(broken(events), ["fences grow"]);
    }

    #[test]
    fn a_valid_holder_must_not_be_refused_but_a_late_one_may() {
        for (valid, rules) in [(true, &["storage"][..]), (false, &[])] {
            let place = "mutex".to_owned();
            let what = What::Wrote { id: 0, place, fence: 3, highest: 4, valid };
            assert_eq!(broken(vec![event(5, "client-1.1", what)]), rules);
        }
    }
}
