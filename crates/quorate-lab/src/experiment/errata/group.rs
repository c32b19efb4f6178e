//! Manabe & Park 2004, figure 1.

use quorate_check::Space;
use quorate_protocol::group::Options;
use quorate_protocol::group::mutations::{Mutant, Mutation};
use quorate_sim::Shape;

use super::{Case, calm, faults, kind, listed};

pub(super) fn cases() -> Vec<Case> {
    let one = || listed(&[&[], &[1], &[1], &[1]]);
    let two_of_three = || listed(&[&[], &[], &[], &[1, 2], &[2, 3], &[1, 3]]);
    let space = |undone, shape: &Shape, requests: &[u32], claims| {
        calm::<Mutant>(shape, (Options::default(), undone), requests, claims)
    };
    vec![
        Case {
            name: "E1",
            printed: "leaving and asking again share their variables",
            command: "--quorum quorums/one-manager-4.txt --requests 0,2,0,0 --claims a",
            space: space(Mutation::E1, &one(), &[0, 2, 0, 0], "a"),
            long: false,
        },
        Case {
            name: "E3",
            printed: "managers compare processes, not requests",
            command: "--quorum quorums/one-manager-4.txt --requests 0,2,1,1 \
                      --claims 'a; a; a; b' --gives-up 1",
            space: Space {
                gives_up: 1,
                ..space(Mutation::E3, &one(), &[0, 2, 1, 1], "a; a; a; b")
            },
            long: false,
        },
        Case {
            name: "E4",
            printed: "answers name no request",
            command: "--quorum quorums/two-of-three-6.txt --requests 0,0,0,2,1,1 \
                      --claims 'a; a; a; a; a; b'",
            space: space(Mutation::E4, &two_of_three(), &[0, 0, 0, 2, 1, 1], "a; a; a; a; a; b"),
            long: true,
        },
        Case {
            name: "E6",
            printed: "one round to release would do",
            command: "--quorum quorums/two-of-three-6.txt --requests 0,0,0,1,1,1 \
                      --claims 'a; a; a; a; b; a'",
            space: space(Mutation::E6, &two_of_three(), &[0, 0, 0, 1, 1, 1], "a; a; a; a; b; a"),
            long: true,
        },
        Case {
            name: "E10",
            printed: "no rule for a holder that dies",
            command: "--site --sites 3 --requests 1,1,0 --claims 'a; b' --budget lose=1",
            space: Space {
                faults: Some(faults(1, 0)),
                ..space(Mutation::E10, &kind("majority", 3), &[1, 1, 0], "a; b")
            },
            long: false,
        },
    ]
}
