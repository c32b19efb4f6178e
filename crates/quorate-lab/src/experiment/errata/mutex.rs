//! Cao & Singhal 2001, section 3.3, without what sections 5.2.1 and 5.3 add.

use quorate_protocol::mutex::Options;
use quorate_protocol::mutex::mutations::{Mutant, Mutation};

use super::{Case, calm, kind, listed};

const THREE: &str = "--sites 3 --option yield_pass=off --option ahead=off --option lists=off";
const TWICE: &str =
    "--sites 3 --requests 2 --option yield_pass=off --option ahead=off --option lists=off";
const ALL: &str = "--quorum quorums/all-3.txt --option yield_pass=off --option ahead=off \
                   --option lists=off";
const TWO: &str = "--quorum quorums/two-arbiters-5.txt --requests 1,1,1,0,0 \
                   --option yield_pass=off --option ahead=off --option lists=off";

pub(super) fn cases() -> Vec<Case> {
    let three = kind("majority", 3);
    let all = listed(&[&[1, 2, 3], &[1, 2, 3], &[1, 2, 3]]);
    let two = listed(&[&[4], &[4, 5], &[4, 5], &[4], &[4, 5]]);
    let table = [
        ("E1", Mutation::E1, "a request resets the lock of its own site"),
        ("E2", Mutation::E2, "who gives way need not be outside"),
        ("E3", Mutation::E3, "messages name no request"),
        ("E4", Mutation::E4, "a release may overtake the news of its loan"),
        ("E5", Mutation::E5, "a waiter behind an older holder is not told"),
        ("E6", Mutation::E6, "messages name no loan"),
    ];
    let case = |(name, undone, printed)| {
        let (command, shape, requests): (_, _, &[u32]) = match undone {
            Mutation::E2 | Mutation::E3 => (TWICE, &three, &[2, 2, 2]),
            Mutation::E5 => (ALL, &all, &[1, 1, 1]),
            Mutation::E6 => (TWO, &two, &[1, 1, 1, 0, 0]),
            _ => (THREE, &three, &[1, 1, 1]),
        };
        let space = calm::<Mutant>(shape, (Options::basic(), undone), requests, "");
        let long = matches!(undone, Mutation::E3 | Mutation::E6);
        Case { name, printed, command, space, long }
    };
    table.map(case).into()
}
