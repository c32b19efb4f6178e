//! Cenci & Ardenghi 2012, sections 4 and 5.

use quorate_check::{Order, Space};
use quorate_protocol::role::Options;
use quorate_protocol::role::mutations::{Mutant, Mutation};

use super::{Case, calm, kind, listed};

const TWO: &str = "--requests 1,1,0,0 --claims 'shared a for 4ms; shared f for 4ms', hosts 1 and \
                   2, arbiters 3 and 4";
const ANY: &str = "--order any --option unordered=on --requests 1,1,0,0 --claims 'shared a for \
                   4ms; shared f for 4ms', hosts 1 and 2, arbiters 3 and 4";
const TWICE: &str = "--order any --option unordered=on --requests 2,1,0,0 --claims 'shared f for \
                     4ms; shared a for 4ms', hosts 1 and 2, arbiters 3 and 4";
const THREE: &str = "--requests 1,1,1,0,0 --claims 'shared b for 4ms; shared f for 4ms; shared a \
                     for 4ms', hosts 1 to 3, arbiters 4 and 5";
const CYCLIC: &str = "--sites 3 --quorum cyclic --claims 'shared b for 4ms; shared f for 4ms; \
                      shared a for 4ms'";
const ROLES: &str = "--sites 3 --quorum cyclic --claims 'exclusive b for 1ms; exclusive b for \
                     1ms; shared b for 5ms'";

pub(super) fn cases() -> Vec<Case> {
    use Mutation::{A1, A2, A4, A5, A6, A7, A8Blind, A8Ignored, A8Process, A19};
    let pair = listed(&[&[3, 4], &[3, 4], &[], &[]]);
    let three = listed(&[&[4, 5], &[4, 5], &[4, 5], &[], &[]]);
    let cyclic = kind("cyclic", 3);
    let groups = "shared b for 4ms; shared f for 4ms; shared a for 4ms";
    let roles = "exclusive b for 1ms; exclusive b for 1ms; shared b for 5ms";
    let table = [
        ("A1", A1, "who gives a lock back is not put in line again"),
        ("A2", A2, "equal priorities have no order"),
        ("A4", A4, "a stage that is over gives back again"),
        ("A5", A5, "every better request makes the arbiter ask"),
        ("A6", A6, "who is accepted late is let in"),
        ("A7", A7, "whenever a member leaves, the next enters"),
        ("A8-ignored", A8Ignored, "order is not mentioned: a question overtakes its loan"),
        ("A8-blind", A8Blind, "order is not mentioned: the question is answered blindly"),
        ("A8-process", A8Process, "order is not mentioned: a request overtakes the last release"),
        ("A19", A19, "no request is told that it has to wait"),
    ];
    let case = |(name, undone, printed)| {
        let (command, shape, requests, claims): (_, _, &[u32], _) = match undone {
            A4 | A5 => (THREE, &three, &[1, 1, 1, 0, 0], groups),
            A6 | A7 => (ROLES, &cyclic, &[1, 1, 1], roles),
            A19 => (CYCLIC, &cyclic, &[1, 1, 1], groups),
            A8Process => (TWICE, &pair, &[2, 1, 0, 0], "shared f for 4ms; shared a for 4ms"),
            A8Ignored | A8Blind => {
                (ANY, &pair, &[1, 1, 0, 0], "shared a for 4ms; shared f for 4ms")
            }
            _ => (TWO, &pair, &[1, 1, 0, 0], "shared a for 4ms; shared f for 4ms"),
        };
        let unordered = matches!(undone, A8Ignored | A8Blind | A8Process);
        let options = Options { unordered, ..Options::default() };
        let order = if unordered { Order::Any { duplicates: 0 } } else { Order::Fifo };
        let space = calm::<Mutant>(shape, (options, undone), requests, claims);
        let long = matches!(undone, A4 | A5 | A8Process);
        Case { name, printed, command, space: Space { order, ..space }, long }
    };
    table.map(case).into()
}
