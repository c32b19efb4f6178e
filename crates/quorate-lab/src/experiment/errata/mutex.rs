//! Cao & Singhal 2001, section 3.3, without what sections 5.2.1 and 5.3 add.

use quorate_protocol::mutex::Options;
use quorate_protocol::mutex::errata::{Erratum, Unrepaired};

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
        ("E1", Erratum::E1, "a request resets the lock of its own site"),
        ("E2", Erratum::E2, "who gives way need not be outside"),
        ("E3", Erratum::E3, "messages name no request"),
        ("E4", Erratum::E4, "a release may overtake the news of its loan"),
        ("E5", Erratum::E5, "who waits behind an elder holder is not told"),
        ("E6", Erratum::E6, "messages name no loan"),
    ];
    let case = |(name, undone, printed)| {
        let (command, shape, requests): (_, _, &[u32]) = match undone {
            Erratum::E2 | Erratum::E3 => (TWICE, &three, &[2, 2, 2]),
            Erratum::E5 => (ALL, &all, &[1, 1, 1]),
            Erratum::E6 => (TWO, &two, &[1, 1, 1, 0, 0]),
            _ => (THREE, &three, &[1, 1, 1]),
        };
        let space = calm::<Unrepaired>(shape, (Options::basic(), undone), requests, "");
        let long = matches!(undone, Erratum::E3 | Erratum::E6);
        Case { name, printed, command, space, long }
    };
    table.map(case).into()
}
