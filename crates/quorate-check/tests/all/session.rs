//! Complete searches of sessions between two sites, and what breaks when a rule is undone.

use quorate_check::session::{ALWAYS, SessionSpace, Setup, TICK, Undone, check_sessions};
use quorate_session::session::{Drift, Lease, Rule, Window};

fn lease(ticks: u32) -> Lease {
    Lease::new(TICK * ticks).unwrap()
}

/// One session, of site 1 at site 2, with a lease of three ticks and without faults.
fn one_way(ticks: u8) -> SessionSpace {
    let (drift, window, undone) = (Drift::new(0).unwrap(), Window::DEFAULT, Undone::Nothing);
    SessionSpace {
        setup: Setup { leases: vec![lease(3)], drift, both_ways: false, window, locks: 0, undone },
        ticks,
        under_way: usize::MAX,
        resets: 0,
        restarts: [0, 0],
        messages: 0,
        delegations: 0,
        missed_of_three: 0,
    }
}

/// The same for unlimited time. No tick passes while more packets are in transit to a site.
fn unlimited(under_way: usize) -> SessionSpace {
    SessionSpace { under_way, ..one_way(ALWAYS) }
}

/// A session in each direction.
fn both_ways(ticks: u8) -> SessionSpace {
    let mut space = one_way(ticks);
    space.setup.both_ways = true;
    space
}

/// Site 1's clock may miss one tick of three, and the allowance is a little more than that.
fn drifting(ticks: u8) -> SessionSpace {
    let mut space = SessionSpace { missed_of_three: 1, ..one_way(ticks) };
    space.setup.drift = Drift::new(334).unwrap();
    space
}

fn assert_clean(space: &SessionSpace) {
    let start = std::time::Instant::now();
    let report = check_sessions(space);
    println!("{} states in {:?}: {space:?}", report.states, start.elapsed());
    if let Some((promise, actions)) = report.broken {
        let lines: Vec<_> = actions.iter().map(ToString::to_string).collect();
        panic!("{promise}\n{}", lines.join("\n"));
    }
}

#[test]
fn one_session_is_clean_in_unlimited_time() {
    assert_clean(&unlimited(usize::MAX));
    assert_clean(&SessionSpace { restarts: [1, 0], ..unlimited(1) });
}

#[test]
#[ignore = "four minutes: cargo test --release -p quorate-check --test all session:: -- --ignored"]
fn larger_spaces_are_clean() {
    assert_clean(&SessionSpace { resets: ALWAYS, ..unlimited(2) });
    assert_clean(&SessionSpace { resets: 1, ..unlimited(usize::MAX) });
    assert_clean(&SessionSpace { restarts: [ALWAYS, 0], ..unlimited(2) });
    assert_clean(&SessionSpace { restarts: [0, ALWAYS], ..unlimited(1) });
    assert_clean(&SessionSpace { restarts: [1, 1], ..unlimited(1) });
    assert_clean(&SessionSpace { resets: 1, messages: 1, ..unlimited(1) });
    assert_clean(&SessionSpace { resets: 1, delegations: 1, ..one_way(8) });
    assert_clean(&SessionSpace { resets: 1, ..both_ways(5) });
    assert_clean(&SessionSpace { restarts: [1, 1], ..both_ways(4) });
}

#[test]
fn one_session_through_lost_connections_is_clean() {
    assert_clean(&SessionSpace { resets: 1, ..one_way(7) });
    assert_clean(&SessionSpace { resets: 2, ..one_way(4) });
}

#[test]
fn messages_arrive_once_and_in_order() {
    assert_clean(&SessionSpace { resets: 1, messages: 2, ..one_way(3) });
    assert_clean(&SessionSpace { resets: 2, messages: 1, ..one_way(3) });
}

/// Windows of one or two frames, which a few messages fill in both directions.
fn tiny_window(frames: usize, space: SessionSpace) -> SessionSpace {
    let mut space = space;
    space.setup.window = Window::of_frames(frames);
    space
}

#[test]
fn full_windows_delay_messages_and_end_nothing() {
    for frames in [1, 2] {
        assert_clean(&tiny_window(frames, SessionSpace { messages: 5, ..one_way(1) }));
        assert_clean(&tiny_window(frames, SessionSpace { messages: 3, resets: 1, ..one_way(2) }));
    }
    assert_clean(&tiny_window(1, SessionSpace { messages: 4, ..both_ways(0) }));
}

#[test]
#[ignore = "minutes: cargo test --release -p quorate-check --test all session:: -- --ignored"]
fn full_windows_delay_messages_and_end_nothing_in_larger_spaces() {
    for frames in [1, 2] {
        let window = |space| assert_clean(&tiny_window(frames, space));
        window(SessionSpace { messages: 4, resets: 1, ..one_way(4) });
        window(SessionSpace { messages: 4, resets: 2, ..one_way(2) });
        window(SessionSpace { messages: 3, resets: 1, restarts: [1, 1], ..one_way(2) });
        window(SessionSpace { messages: 4, ..both_ways(2) });
        window(SessionSpace { messages: 3, resets: 1, ..both_ways(1) });
    }
}

/// Each site has two locks, which are told one after the other, at any time and in any order.
fn two_locks(space: SessionSpace) -> SessionSpace {
    let mut space = space;
    space.setup.locks = 2;
    space
}

#[test]
fn locks_are_told_one_after_the_other() {
    assert_clean(&two_locks(SessionSpace { resets: 1, ..one_way(3) }));
    assert_clean(&two_locks(SessionSpace { restarts: [1, 0], ..one_way(3) }));
    assert_clean(&two_locks(SessionSpace { messages: 2, ..one_way(3) }));
    assert_clean(&two_locks(both_ways(1)));
}

#[test]
#[ignore = "minutes: cargo test --release -p quorate-check --test all session:: -- --ignored"]
fn locks_are_told_one_after_the_other_in_larger_spaces() {
    assert_clean(&two_locks(one_way(7)));
    assert_clean(&two_locks(unlimited(1)));
    assert_clean(&two_locks(SessionSpace { resets: 1, messages: 2, ..one_way(3) }));
    assert_clean(&two_locks(SessionSpace { restarts: [1, 1], ..one_way(4) }));
    assert_clean(&two_locks(both_ways(3)));
}

#[test]
fn restarts_of_either_end_are_clean() {
    assert_clean(&SessionSpace { restarts: [1, 0], resets: 1, ..one_way(4) });
    assert_clean(&SessionSpace { restarts: [1, 1], ..one_way(5) });
    assert_clean(&SessionSpace { restarts: [2, 0], ..one_way(6) });
}

#[test]
fn a_shorter_lease_after_a_restart_is_clean() {
    let mut space = SessionSpace { restarts: [0, 2], ..one_way(6) };
    space.setup.leases = vec![lease(5), lease(2)];
    assert_clean(&space);
}

#[test]
fn delegated_validities_are_clean() {
    assert_clean(&SessionSpace { delegations: 1, resets: 1, ..one_way(5) });
    assert_clean(&SessionSpace { delegations: 2, ..one_way(5) });
}

#[test]
fn clocks_within_the_allowance_are_clean() {
    assert_clean(&SessionSpace { resets: 1, ..drifting(6) });
    assert_clean(&SessionSpace { restarts: [1, 0], ..drifting(6) });
}

#[test]
fn sessions_in_both_directions_are_clean() {
    assert_clean(&both_ways(5));
    assert_clean(&SessionSpace { resets: 1, ..both_ways(3) });
    assert_clean(&SessionSpace { restarts: [1, 0], ..both_ways(4) });
}

/// Undoes one rule, and expects a shortest schedule of this length that breaks this promise.
fn assert_breaks(undone: Undone, space: &SessionSpace, (promise, steps): (&str, usize)) {
    assert_clean(space);
    let mut mutated = space.clone();
    mutated.setup.undone = undone;
    let report = check_sessions(&mutated);
    let (broken, actions) = report.broken.expect("the rule is needed");
    let lines: Vec<_> = actions.iter().map(ToString::to_string).collect();
    assert!(broken.starts_with(promise), "{broken}");
    assert_eq!(actions.len(), steps, "{}", lines.join("\n"));
}

fn assert_rule_needed(rule: Rule, space: &SessionSpace, expected: (&str, usize)) {
    assert_breaks(Undone::Rule(rule), space, expected);
}

#[test]
fn a_new_incarnation_must_not_free_at_once() {
    let space = SessionSpace { restarts: [1, 0], ..one_way(6) };
    assert_rule_needed(Rule::IncarnationWaits, &space, ("S1", 5));
}

#[test]
fn a_client_must_not_reopen_before_its_deadline() {
    let space = SessionSpace { resets: 1, ..one_way(6) };
    assert_rule_needed(Rule::ReopenAfterDeadline, &space, ("S1", 5));
}

#[test]
fn a_lease_must_not_count_from_the_answer() {
    assert_rule_needed(Rule::CountFromSending, &one_way(6), ("S1", 6));
}

#[test]
fn a_server_must_not_guess_when_a_renewal_was_made() {
    assert_rule_needed(Rule::CountFromHandling, &one_way(6), ("S1", 8));
}

#[test]
fn a_renewal_must_not_be_stamped_again() {
    assert_rule_needed(Rule::StampOnce, &one_way(6), ("S1", 9));
}

#[test]
fn an_input_must_not_come_before_what_is_due() {
    let space = SessionSpace { messages: 1, ..one_way(6) };
    assert_rule_needed(Rule::DeadlinesFirst, &space, ("S2", 7));
}

#[test]
fn a_full_window_must_not_end_the_stream() {
    let space = tiny_window(1, SessionSpace { messages: 2, ..one_way(1) });
    assert_rule_needed(Rule::FullWindowWaits, &space, ("S7: the stream goes on", 4));
}

/// Nobody has a frame to send that could carry it.
#[test]
fn an_acknowledgement_must_not_wait_for_a_frame() {
    let space = tiny_window(1, SessionSpace { messages: 4, ..one_way(1) });
    assert_rule_needed(Rule::AcknowledgeAlone, &space, ("S7: no message waits", 4));
}

#[test]
fn a_session_must_not_open_before_all_locks_know_of_the_end_of_the_last() {
    let space = two_locks(one_way(6));
    assert_rule_needed(Rule::ReopenAfterTold, &space, ("S5: a session opens", 7));
}

#[test]
fn a_lock_must_not_act_before_it_is_told() {
    let space = two_locks(SessionSpace { messages: 1, ..one_way(2) });
    assert_rule_needed(Rule::ToldBeforeActing, &space, ("S5: a lock is told before", 4));
}

#[test]
fn a_delegated_validity_must_not_count_from_receipt() {
    let space = SessionSpace { delegations: 1, ..one_way(6) };
    assert_breaks(Undone::HandedFromSending, &space, ("I8", 6));
}

#[test]
fn the_longest_lease_must_be_stored() {
    let mut space = SessionSpace { restarts: [0, 1], ..one_way(6) };
    space.setup.leases = vec![lease(5), lease(2)];
    assert_breaks(Undone::LeaseMaxStored, &space, ("quarantine", 5));
}

#[test]
fn one_loss_must_not_count_for_both_halves() {
    assert_breaks(Undone::TwoLossEvents, &both_ways(4), ("S1", 11));
}

/// The assumption is needed: if a clock misses more ticks than allowed, S1 breaks.
#[test]
fn clocks_beyond_the_allowance_break_s1() {
    let report = check_sessions(&SessionSpace { missed_of_three: 2, ..drifting(6) });
    let (promise, actions) = report.broken.expect("the allowance is needed");
    assert!(promise.starts_with("S1"), "{promise}");
    assert_eq!(actions.len(), 6);
}
