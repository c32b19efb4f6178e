//! Swaroop & Singh 2008, the appendix.

use quorate_check::{SessionlessFaults, Space};
use quorate_protocol::token::Options;
use quorate_protocol::token::mutations::{Mutant, Mutation};

use super::{Case, calm, kind};

pub(super) fn cases() -> Vec<Case> {
    let three = kind("majority", 3);
    let nothing = SessionlessFaults::default();
    let (early, crash) =
        (SessionlessFaults { early: 1, ..nothing }, SessionlessFaults { crash: 1, ..nothing });
    let table: [(_, _, _, _, &[u32], _, _); 5] = [
        (
            "E1",
            Mutation::E1,
            "sessions are numbered by idle holders only",
            "--sites 3 --requests 2,1,1 --claims 'a; b'",
            &[2, 1, 1],
            "a; b",
            nothing,
        ),
        (
            "E4",
            Mutation::E4,
            "who does not have the token keeps no request",
            "--sites 3 --requests 2,1,1 --claims 'a; b'",
            &[2, 1, 1],
            "a; b",
            nothing,
        ),
        (
            "E5",
            Mutation::E5,
            "no site says which one has the token",
            "--sites 3 --requests 1,2,2 --claims 'a; b'",
            &[1, 2, 2],
            "a; b",
            nothing,
        ),
        (
            "E14",
            Mutation::E14,
            "a holder takes a copy of its own token",
            "--sites 3 --claims 'a; b; b' --budget early=1",
            &[1, 1, 1],
            "a; b; b",
            early,
        ),
        (
            "E16",
            Mutation::E16,
            "a token is made from a copy only",
            "--sites 3 --requests 0,1,0 --claims a --budget crash=1",
            &[0, 1, 0],
            "a",
            crash,
        ),
    ];
    let case = |(name, undone, printed, command, requests, claims, sessionless)| {
        let space = calm::<Mutant>(&three, (Options::default(), undone), requests, claims);
        Case { name, printed, command, space: Space { sessionless, ..space }, long: false }
    };
    table.map(case).into()
}
