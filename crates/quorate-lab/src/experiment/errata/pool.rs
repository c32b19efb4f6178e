//! Manabe & Tajima, figure 1, and two errors that a reader of it might make.

use quorate_check::{Order, Space};
use quorate_protocol::pool::Options;
use quorate_protocol::pool::mutations::{Mutant, Mutation};
use quorate_sim::Shape;

use super::{Case, calm, faults, kind, listed};

pub(super) fn cases() -> Vec<Case> {
    let space = |undone, shape: &Shape, requests: &[u32], claims| {
        calm::<Mutant>(shape, (Options::default(), undone), requests, claims)
    };
    let two_ask_one = listed(&[&[3], &[3], &[]]);
    let three_ask_one = listed(&[&[4], &[4], &[4], &[]]);
    let two_ask_two = listed(&[&[3, 4], &[3, 4], &[], &[]]);
    let three_ask_two = listed(&[&[4, 5], &[4, 5], &[4, 5], &[], &[]]);
    let unordered = Options { unordered: true, ..Options::default() };
    let any = Order::Any { duplicates: 0 };
    let mixed = "1 of 2; 2 of 2; 1 of 2";
    vec![
        Case {
            name: "E1",
            printed: "who leaves answers a cancel that crosses its release",
            command: "--requests 1,2,0 --claims '1 of 1', site 3 is the arbiter of all",
            space: space(Mutation::E1, &two_ask_one, &[1, 2, 0], "1 of 1"),
            long: false,
        },
        Case {
            name: "E3",
            printed: "the clock does not move with a request",
            command: "--requests 2,1,0 --claims '1 of 1' --gives-up 1, \
                      site 3 is the arbiter of all",
            space: Space { gives_up: 1, ..space(Mutation::E3, &two_ask_one, &[2, 1, 0], "1 of 1") },
            long: false,
        },
        Case {
            name: "E4",
            printed: "a cancel without its ok is dropped",
            command: "--requests 1,1,0,0 --claims '1 of 1' --order any --option unordered=on, \
                      sites 3 and 4 are the arbiters of all",
            space: Space {
                order: any,
                ..space(Mutation::E4, &two_ask_two, &[1, 1, 0, 0], "1 of 1")
                    .of::<Mutant>((unordered, Mutation::E4))
            },
            long: false,
        },
        Case {
            name: "E5",
            printed: "a release returns units whatever the status",
            command: "--requests 1,1,1,0 --claims '1 of 1' --gives-up 1, \
                      site 4 is the arbiter of all",
            space: Space {
                gives_up: 1,
                ..space(Mutation::E5, &three_ask_one, &[1, 1, 1, 0], "1 of 1")
            },
            long: false,
        },
        Case {
            name: "N1",
            printed: "(not printed) what comes back goes past who does not fit",
            command: "--requests 1,1,1,0,0 --claims '1 of 2; 2 of 2; 1 of 2', \
                      sites 4 and 5 are the arbiters of all",
            space: space(Mutation::N1, &three_ask_two, &[1, 1, 1, 0, 0], mixed),
            long: false,
        },
        Case {
            name: "N2",
            printed: "(not printed) a restarted arbiter lends at once",
            command: "--site --sites 3 --requests 1,1,0 --claims '2 of 2' --budget crash=1",
            space: Space {
                faults: Some(faults(0, 1)),
                ..space(Mutation::N2, &kind("uniform", 3), &[1, 1, 0], "2 of 2")
            },
            long: true,
        },
    ]
}
