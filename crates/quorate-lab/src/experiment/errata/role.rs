//! Cenci & Ardenghi 2012, sections 4 and 5.

use quorate_check::{Order, Space};
use quorate_protocol::role::Options;
use quorate_protocol::role::errata::{Erratum, Unrepaired};
use quorate_sim::Shape;

use super::{Case, calm, kind, listed};

/// One claim of each of three hosts.
const GROUPS: &str = "shared b for 4ms; shared f for 4ms; shared a for 4ms";
const TWO: &str = "--requests 1,1,0,0 --claims 'shared a for 4ms; shared f for 4ms', hosts 1 and \
                   2, arbiters 3 and 4";
const ANY: &str = "--requests 1,1,0,0 --claims 'shared a for 4ms; shared f for 4ms' --order any \
                   --option unordered=on, hosts 1 and 2, arbiters 3 and 4";
const THREE: &str = "--requests 1,1,1,0,0 --claims 'shared b for 4ms; shared f for 4ms; shared a \
                     for 4ms', hosts 1 to 3, arbiters 4 and 5";
const CYCLIC: &str = "--sites 3 --quorum cyclic --claims 'shared b for 4ms; shared f for 4ms; \
                      shared a for 4ms'";
const ROLES: &str = "--sites 3 --quorum cyclic --claims 'exclusive b for 1ms; exclusive b for \
                     1ms; shared b for 5ms'";

pub(super) fn cases() -> Vec<Case<Unrepaired>> {
    let pair = listed(&[&[3, 4], &[3, 4], &[], &[]]);
    let three = listed(&[&[4, 5], &[4, 5], &[4, 5], &[], &[]]);
    let cyclic = kind("cyclic", 3);
    let two = "shared a for 4ms; shared f for 4ms";
    let roles = "exclusive b for 1ms; exclusive b for 1ms; shared b for 5ms";
    let table: [(_, _, _, _, &Shape, &[u32], _); 9] = [
        (
            "A1",
            Erratum::A1,
            "a lock given back; not to whom it is owed",
            TWO,
            &pair,
            &[1, 1, 0, 0],
            two,
        ),
        ("A2", Erratum::A2, "equal priorities have no order", TWO, &pair, &[1, 1, 0, 0], two),
        (
            "A4",
            Erratum::A4,
            "a stage that is over gives back again",
            THREE,
            &three,
            &[1, 1, 1, 0, 0],
            GROUPS,
        ),
        (
            "A5",
            Erratum::A5,
            "every better request asks the holder",
            THREE,
            &three,
            &[1, 1, 1, 0, 0],
            GROUPS,
        ),
        ("A6", Erratum::A6, "who is accepted late is let in", ROLES, &cyclic, &[1, 1, 1], roles),
        ("A7", Erratum::A7, "whoever leaves, the next gets in", ROLES, &cyclic, &[1, 1, 1], roles),
        (
            "A8-ignored",
            Erratum::A8Ignored,
            "order is not mentioned",
            ANY,
            &pair,
            &[1, 1, 0, 0],
            two,
        ),
        ("A8-blind", Erratum::A8Blind, "order is not mentioned", ANY, &pair, &[1, 1, 0, 0], two),
        (
            "A19",
            Erratum::A19,
            "nobody is told that it must wait",
            CYCLIC,
            &cyclic,
            &[1, 1, 1],
            GROUPS,
        ),
    ];
    let case = |(name, undone, printed, command, shape, requests, claims)| {
        let unordered = matches!(undone, Erratum::A8Ignored | Erratum::A8Blind);
        let options = Options { unordered, ..Options::default() };
        let order = if unordered { Order::Any { duplicates: 0 } } else { Order::Fifo };
        let space = calm::<Unrepaired>(shape, (options, undone), requests, claims);
        let long = matches!(undone, Erratum::A4 | Erratum::A5);
        Case { name, printed, command, space: Space { order, ..space }, long }
    };
    table.map(case).into()
}
