//! Clusters of whole sites with one rule, repair or assumption taken away: for each, a kept seed
//! breaks a property.
//!
//! When the behaviour of a site changes, histories change, and a seed may show nothing any more.
//! Then search for new ones:
//! `cargo test --release -p quorate-sim --test all taken:: -- --ignored --nocapture`

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use quorate_quorum::{Kind, SiteId, build};
use quorate_session::session::Rule;
use quorate_sim::cluster::{ClaimKind, Fault, Faults, Forgets, Load, Outcome, Plan, run};
use quorate_sim::{Setting, Unwatched, site_settings};

/// What is taken away.
#[derive(Clone, Copy, Debug)]
enum Taken {
    /// A part of the record on disk.
    Disk(Forgets),
    /// The same, of group locks by token.
    TokenDisk(Forgets),
    /// A rule of sessions.
    Rule(Rule),
    /// A repair of the mutex.
    Repair(&'static str),
    /// The same, with twice as many callers.
    BusyRepair(&'static str),
    /// A repair of this kind of lock, with crashes of a minority and holders that stay for long.
    SurvivalRepair(&'static str, &'static str),
    /// A repair of pools by arbiters.
    PoolRepair(&'static str),
    /// A rule of ledger pools.
    LedgerRule(&'static str),
    /// A repair of group locks.
    GroupRepair(&'static str),
    /// A repair of role locks.
    RoleRepair(&'static str),
    /// A repair of group locks by token.
    TokenRepair(&'static str),
    /// The same with five sites, and disks that are wiped, older, swapped and copied.
    TokenDiskRepair(&'static str),
    /// A rule of the deadlines in a token's messages.
    TokenRule(Rule),
    /// A rule of delegations, by which followers are inside a group's occupancy.
    DelegationRule(Rule),
    /// A rule of clients and their sessions.
    ClientRule(Rule),
    /// The same, with a holder whose connections break, as [`breaks`] lists.
    ConnectionRule(Rule),
    /// A rule of how locks are told what happens to all of them, one in each step.
    TellingRule(Rule),
    /// The same of group locks.
    GroupTellingRule(Rule),
    /// A rule of streams, with pools by arbiters, windows of one to four frames, and no faults.
    StreamRule(Rule),
    /// A rule of identities, with disks that are wiped, older, swapped and copied.
    IdentityRule(Rule),
    /// The same, with group locks by token.
    TokenIdentityRule(Rule),
    /// A rule of identities, with a copy that is refused at first, as [`late_copy`] lists.
    LateCopyRule(Rule),
    /// The assumption that clocks differ by less than 1 %: they differ by up to 10 %.
    Clocks,
    /// The same, with broken exclusion tolerated.
    ClocksOverlooked,
}

/// What is taken away, a seed that shows it, with three sites unless said otherwise, and the
/// property that breaks.
///
/// Missing, because 3000 runs of three sites and 3000 of five did not show them:
/// - of the mutex, `direct-grows`, `floor-kept-at-gone`, `floor-kept-at-asked`, `inquiries-kept`
///   and `overtaken-untold`; of group locks, `old-right` and `finished-unknown`; of role locks,
///   `stage-kept`, `no-refusal` and those that need reordered messages. Runs of the protocol alone,
///   searches or scenarios show them.
/// - of ledger pools, `ack-unnamed`, `quarantine-acks`, `no-try`, `inquiries-cleared` and
///   `clock-untold`, in 500 runs of three sites. Searches and scenarios show most of them.
/// - of identities, `CeilingsAreRegistered`, because a peer hears of a write before anything else
///   that the site sends after it.
/// - `ReopenAfterDeadline`: a caller learns of its loss before the client reopens.
/// - `DeadlinesFirst`: the site keeps this rule too.
/// - `ResumeAtItsSite`: a client resumes a session only at its site, and refuses the welcome of
///   another incarnation.
const TAKEN: &[(Taken, u64, &str)] = &[
    // A restarted site reuses fences.
    (Taken::Disk(Forgets::Ceil), 3, "fences grow"),
    // It lends immediately what it had lent before the crash.
    (Taken::Disk(Forgets::LeaseMax), 449, "exclusion"),
    // It reuses a ticket.
    (Taken::Disk(Forgets::Clock), 2_958, "contract"),
    // It is taken for another site: the others refuse it forever.
    (Taken::Disk(Forgets::All), 2, "progress"),
    (Taken::Rule(Rule::CountFromSending), 113, "exclusion"),
    (Taken::Rule(Rule::IncarnationWaits), 5, "exclusion"),
    (Taken::Rule(Rule::CountFromHandling), 0, "exclusion"),
    (Taken::Rule(Rule::StampOnce), 1_561, "exclusion"),
    (Taken::Repair("E1"), 1, "exclusion"),
    (Taken::Repair("E2"), 19, "fences grow"),
    (Taken::Repair("E3"), 2, "contract"),
    (Taken::Repair("E4"), 5, "progress"),
    (Taken::Repair("E5"), 1_199, "progress"),
    (Taken::Repair("E6"), 0, "progress"),
    (Taken::Repair("both-halves"), 18, "exclusion"),
    (Taken::Repair("any-session"), 28, "contract"),
    (Taken::Repair("no-direct"), 105, "progress"),
    (Taken::Repair("no-repeat"), 248, "progress"),
    (Taken::BusyRepair("no-asking"), 2_525, "exclusion"),
    (Taken::Repair("lack-not-binding"), 22_673, "fences grow"),
    (Taken::Repair("early-unused"), 26, "contract"),
    (Taken::Repair("floor-kept"), 3, "fences grow"),
    (Taken::Repair("no-quarantine"), 95, "exclusion"),
    (Taken::Repair("no-recheck"), 144, "progress"),
    (Taken::Repair("shared-fence"), 1, "fences grow"),
    // A holder loses its grant with a site that others wait at.
    (Taken::SurvivalRepair("mutex", "no-spares"), 33, "survival"),
    (Taken::SurvivalRepair("group", "no-spares"), 186, "survival"),
    (Taken::SurvivalRepair("pool", "no-spares"), 6, "survival"),
    (Taken::SurvivalRepair("ledger", "no-spares"), 7, "survival"),
    (Taken::SurvivalRepair("role", "no-spares"), 22, "survival"),
    // Pools by arbiters.
    (Taken::PoolRepair("N1"), 130, "progress"),
    (Taken::PoolRepair("N2"), 7, "exclusion"),
    (Taken::PoolRepair("both-halves"), 63, "exclusion"),
    (Taken::PoolRepair("done-kept"), 6, "progress"),
    (Taken::PoolRepair("floor-kept"), 5, "fences grow"),
    (Taken::PoolRepair("no-recheck"), 386, "progress"),
    (Taken::PoolRepair("unnamed"), 4, "exclusion"),
    // A site stays down, and claims that it could serve keep others waiting.
    (Taken::PoolRepair("no-withdrawal"), 4, "progress"),
    // Ledger pools.
    (Taken::LedgerRule("no-ledger"), 0, "exclusion"),
    (Taken::LedgerRule("merged-ledgers"), 48, "exclusion"),
    (Taken::LedgerRule("knowledge-kept"), 5, "progress"),
    (Taken::LedgerRule("left-untold"), 0, "progress"),
    (Taken::LedgerRule("split-enter"), 1, "exclusion"),
    (Taken::LedgerRule("loss-unnoticed"), 5, "contract"),
    (Taken::LedgerRule("early-counted"), 83, "exclusion"),
    (Taken::LedgerRule("ack-untold"), 48, "exclusion"),
    (Taken::LedgerRule("ack-at-once"), 247, "exclusion"),
    (Taken::LedgerRule("left-acked"), 0, "progress"),
    (Taken::LedgerRule("door-deaf"), 97, "progress"),
    (Taken::LedgerRule("ledger-kept"), 0, "progress"),
    (Taken::LedgerRule("ledger-forgotten"), 2, "progress"),
    (Taken::LedgerRule("floor-kept"), 72, "fences grow"),
    (Taken::LedgerRule("no-quarantine"), 214, "exclusion"),
    (Taken::LedgerRule("local-turn"), 0, "contract"),
    (Taken::LedgerRule("ceil-volatile"), 0, "contract"),
    // A site stays down, and a claim that it could serve keeps others waiting.
    (Taken::SurvivalRepair("ledger", "no-withdrawal"), 208, "progress"),
    // Group locks.
    (Taken::GroupRepair("E1"), 0, "progress"),
    (Taken::GroupRepair("E3"), 0, "exclusion"),
    (Taken::GroupRepair("E4"), 0, "contract"),
    (Taken::GroupRepair("E6"), 1, "exclusion"),
    (Taken::GroupRepair("E10"), 0, "progress"),
    (Taken::GroupRepair("both-halves"), 0, "contract"),
    (Taken::GroupRepair("floor-kept"), 13, "fences grow"),
    (Taken::GroupRepair("no-quarantine"), 321, "fences grow"),
    (Taken::GroupRepair("no-closing-set"), 536, "exclusion"),
    (Taken::GroupRepair("no-recheck"), 101, "progress"),
    // Role locks.
    (Taken::RoleRepair("A1"), 3, "progress"),
    (Taken::RoleRepair("A2"), 4, "progress"),
    (Taken::RoleRepair("A4"), 5, "exclusion"),
    (Taken::RoleRepair("A5"), 9, "exclusion"),
    (Taken::RoleRepair("A6"), 0, "exclusion"),
    (Taken::RoleRepair("A7"), 5, "exclusion"),
    (Taken::RoleRepair("holder-kept"), 0, "progress"),
    (Taken::RoleRepair("both-halves"), 192, "progress"),
    (Taken::RoleRepair("floor-kept"), 0, "fences grow"),
    (Taken::RoleRepair("shared-fence"), 0, "fences grow"),
    (Taken::RoleRepair("no-quarantine"), 375, "exclusion"),
    (Taken::RoleRepair("no-recheck"), 43, "progress"),
    // Group locks by token. A site repeats a promise that it gave to another.
    (Taken::TokenRepair("forgetful"), 0, "fences grow"),
    // It votes, asks and answers while callers of its previous incarnation are inside.
    (Taken::TokenRepair("no-quarantine"), 261, "exclusion"),
    (Taken::TokenRepair("E1"), 0, "fences grow"),
    (Taken::TokenRepair("E12"), 9, "exclusion"),
    (Taken::TokenRepair("E13"), 24, "progress"),
    // A name whose record was folded begins anew.
    (Taken::TokenDisk(Forgets::Folded), 7, "fences grow"),
    // A deadline counts from its arrival.
    (Taken::TokenRule(Rule::DelegationCountsFromRenewal), 9, "exclusion"),
    // A follower, or a site that received the token, does not know when to stop.
    (Taken::TokenRule(Rule::DelegationExpires), 6, "exclusion"),
    // A follower gets an end after that of its session at its captain, and stops before.
    (Taken::TokenRule(Rule::DelegationEndsWithSession), 231, "exclusion"),
    // A follower stays as long as its own site is connected to the manager.
    (Taken::DelegationRule(Rule::DelegationExpires), 11, "exclusion"),
    // Or as long as the pivot, though nobody waits for it any more.
    (Taken::DelegationRule(Rule::DelegationEndsWithSession), 223, "exclusion"),
    (Taken::DelegationRule(Rule::DelegationCountsFromRenewal), 5, "exclusion"),
    // A client extends the validity of a message by its delay.
    (Taken::ClientRule(Rule::ClientCountsFromRenewal), 3, "exclusion"),
    // It trusts its site, though its session there is over.
    (Taken::ClientRule(Rule::ClientBeliefEndsWithSession), 60, "exclusion"),
    // It applies a common deadline to a grant that came after it.
    (Taken::ClientRule(Rule::CommonDeadlineForEarlier), 80, "exclusion"),
    // Its site stops, and gives a grant back before the client stops relying on it.
    (Taken::ClientRule(Rule::DrainKeepsDeadlines), 3_416, "exclusion"),
    // It applies a common deadline to a degraded grant.
    (Taken::ClientRule(Rule::ChangesBeforeCommon), 3, "exclusion"),
    // Its site does not learn that a caller left while it was disconnected.
    (Taken::ClientRule(Rule::LeaveIsKept), 493, "progress"),
    // A caller waits for as long as its site does not answer.
    (Taken::ClientRule(Rule::ClientKeepsDeadlines), 0, "deadlines"),
    // A client that holds nothing stays with a site that does not answer, or has no quorum.
    (Taken::ClientRule(Rule::SilentSiteIsLeft), 1, "failover"),
    (Taken::ClientRule(Rule::SiteWithoutQuorumIsLeft), 72, "failover"),
    // It tries the site that failed again and again.
    (Taken::ClientRule(Rule::FailedSiteIsPassed), 1, "failover"),
    // It has forgotten that its site has no quorum, because the connection broke.
    (Taken::ConnectionRule(Rule::QuorumStatusIsKept), 2, "failover"),
    // A site that accepts connections, and does not answer before they break, is never left.
    (Taken::ConnectionRule(Rule::BrokenOnceIsReopened), 4, "failover"),
    // A lock acts before it was told that a session is over.
    (Taken::TellingRule(Rule::ToldBeforeActing), 9, "contract"),
    (Taken::GroupTellingRule(Rule::ToldBeforeActing), 24, "contract"),
    // The next session opens while some lock believes in the one before.
    (Taken::TellingRule(Rule::ReopenAfterTold), 57, "exclusion"),
    // Grants are extended though the site that they depend on is silent.
    (Taken::TellingRule(Rule::SilentCountsUntilTold), 11, "exclusion"),
    // A message that does not fit the window ends the session, again and again.
    (Taken::StreamRule(Rule::FullWindowWaits), 6, "progress"),
    // A site with an empty disk is taken for a new one.
    (Taken::IdentityRule(Rule::BirthIsChecked), 524, "exclusion"),
    // Two processes of one site vote.
    (Taken::IdentityRule(Rule::LifeIsUnique), 101, "exclusion"),
    (Taken::IdentityRule(Rule::LineageIsChecked), 23_674, "fences grow"),
    // A site that was set back uses its fences again.
    (Taken::IdentityRule(Rule::WritesAreChecked), 137, "fences grow"),
    // Or its promises about a token.
    (Taken::TokenIdentityRule(Rule::WritesAreChecked), 12, "contract"),
    // A copy takes part that only some of the others know.
    (Taken::IdentityRule(Rule::MovedNeedsAll), 212, "exclusion"),
    (Taken::IdentityRule(Rule::LifeBegins), 212, "exclusion"),
    // A copy lends as soon as it begins, because it has waited long enough before.
    (Taken::LateCopyRule(Rule::QuarantineFromBeginning), 1, "exclusion"),
    // Two grants are valid at the same time.
    (Taken::Clocks, 29, "exclusion"),
    // And then the storage refuses the earlier holder, though its grant seems valid.
    (Taken::ClocksOverlooked, 1_446, "storage"),
];

/// A copy of site 1 starts, and only site 3 can register it, which does not reach the original.
/// Long after that site 2 restarts, forgets the original, and registers the copy too. A caller of
/// the original may rely on what site 2 has lent it before.
fn late_copy() -> Vec<(u64, Fault)> {
    let [one, two, three, copy] = [0, 1, 2, 3].map(SiteId::new);
    let second = 1_000_000_000;
    vec![
        (2 * second, Fault::CutLink(one, three, 20 * second)),
        (4 * second, Fault::CutLink(copy, two, 4 * second)),
        (4 * second, Fault::Copy { site: one, older: false, lasts: 20 * second }),
        (8 * second, Fault::Crash { site: two, reboot: false, lasts: second / 20 }),
    ]
}

/// The site of a holder is isolated, and the connection breaks once when the site knows; or the
/// site is paused, and each connection breaks soon.
fn breaks(rule: Rule) -> Vec<(u64, Fault)> {
    let (site, ms) = (SiteId::new(0), 1_000_000);
    let (fault, times) = match rule {
        Rule::QuorumStatusIsKept => {
            let lasts = 15_000 * ms;
            (Fault::Partition { from: vec![site], both_ways: true, lasts }, 1)
        }
        _ => (Fault::Pause(site, 15_000 * ms), 40_u64),
    };
    let reset = |nth| ((4_700 + 250 * nth) * ms, Fault::ClientReset(0));
    std::iter::once((4_000 * ms, fault)).chain((0..times).map(reset)).collect()
}

/// Undoes a repair of this kind of lock.
fn undo(plan: &mut Plan, kind: &str, undone: &str) {
    let setting = Setting { name: "undo".to_owned(), value: undone.to_owned() };
    (plan.claims, plan.settings) = site_settings(kind, &[setting]).unwrap();
}

fn outcome(taken: Taken, seed: u64) -> Outcome {
    let mut plan = Plan::new(build(Kind::Majority, 3).unwrap());
    plan.locks_per_step = Some(usize::MAX); // all in one step
    match taken {
        Taken::Disk(forgets) => plan.forgets = Some(forgets),
        Taken::Rule(rule) | Taken::ClientRule(rule) => plan.undone = Some(rule),
        Taken::Repair(undone) => undo(&mut plan, "mutex", undone),
        Taken::BusyRepair(undone) => {
            undo(&mut plan, "mutex", undone);
            plan.load = Load::Drawn { callers: 4, names: 3 };
        }
        Taken::SurvivalRepair(kind, undone) => {
            undo(&mut plan, kind, undone);
            plan.faults = Faults::Minority;
        }
        Taken::PoolRepair(undone) => undo(&mut plan, "pool", undone),
        Taken::LedgerRule(undone) => undo(&mut plan, "ledger", undone),
        Taken::GroupRepair(undone) => undo(&mut plan, "group", undone),
        Taken::RoleRepair(undone) => undo(&mut plan, "role", undone),
        Taken::TokenRepair(undone) => undo(&mut plan, "token", undone),
        Taken::TokenDiskRepair(undone) => {
            undo(&mut plan, "token", undone);
            (plan.quorums, plan.faults) = (build(Kind::Majority, 5).unwrap(), Faults::Disks);
        }
        Taken::TokenDisk(forgets) => {
            (plan.claims, plan.forgets) = (ClaimKind::Token, Some(forgets));
        }
        Taken::TokenRule(rule) => (plan.claims, plan.undone) = (ClaimKind::Token, Some(rule)),
        Taken::DelegationRule(rule) => (plan.claims, plan.undone) = (ClaimKind::Group, Some(rule)),
        Taken::ConnectionRule(rule) => {
            (plan.load, plan.faults, plan.undone) = (Load::OneHolder, Faults::None, Some(rule));
            plan.listed = breaks(rule);
        }
        Taken::TellingRule(rule) => {
            (plan.locks_per_step, plan.undone) = (Some(1), Some(rule));
            plan.load = Load::Drawn { callers: 4, names: 6 };
        }
        Taken::GroupTellingRule(rule) => {
            (plan.locks_per_step, plan.undone) = (Some(1), Some(rule));
            (plan.load, plan.claims) = (Load::Drawn { callers: 4, names: 6 }, ClaimKind::Group);
        }
        Taken::StreamRule(rule) => {
            (plan.claims, plan.settings) = site_settings("pool", &[]).unwrap();
            (plan.faults, plan.undone) = (Faults::None, Some(rule));
            plan.window = Some(4);
        }
        Taken::IdentityRule(rule) => (plan.faults, plan.undone) = (Faults::Disks, Some(rule)),
        Taken::TokenIdentityRule(rule) => {
            (plan.claims, plan.faults, plan.undone) = (ClaimKind::Token, Faults::Disks, Some(rule));
        }
        Taken::LateCopyRule(rule) => {
            (plan.faults, plan.listed, plan.undone) = (Faults::None, late_copy(), Some(rule));
        }
        Taken::Clocks => plan.skew = 50_000,
        Taken::ClocksOverlooked => (plan.skew, plan.tolerates) = (50_000, Some("exclusion")),
    }
    run(&plan, seed, &mut Unwatched)
}

#[test]
fn what_is_taken_away_is_missed() {
    let other = |&(taken, seed, property): &(Taken, u64, &'static str)| {
        let found = outcome(taken, seed).breach.map(|breach| breach.property);
        (found != Some(property)).then(|| format!("{taken:?}, seed {seed}: {found:?}"))
    };
    let others: Vec<String> = TAKEN.iter().filter_map(other).collect();
    assert!(others.is_empty(), "look for other seeds: {others:#?}");
}

/// Two of five sites are refused, and the other three spoil each other's attempts (O19). Some
/// leases of this seed are too short to be judged, but with the rule its callers are served.
#[test]
fn without_deferred_promises_sites_spoil_each_others_attempts() {
    assert_eq!(outcome(Taken::TokenDiskRepair("final-refusal"), 1_150).tally.unjudged, 1);
    let mut plan = Plan::new(build(Kind::Majority, 5).unwrap());
    (plan.claims, plan.faults) = (ClaimKind::Token, Faults::Disks);
    plan.locks_per_step = Some(usize::MAX);
    let with = run(&plan, 1_150, &mut Unwatched);
    assert_eq!((with.breach, with.tally.unjudged), (None, 0));
}

/// The seeds of client rules break nothing while the rule is kept.
#[test]
fn with_the_rules_of_clients_the_same_seeds_are_clean() {
    let plan = Plan::new(build(Kind::Majority, 3).unwrap());
    let of_clients = |(taken, ..): &&(Taken, u64, &str)| matches!(taken, Taken::ClientRule(_));
    let seeds: Vec<u64> = TAKEN.iter().filter(of_clients).map(|(_, seed, _)| *seed).collect();
    assert_eq!(seeds.len(), 10);
    for seed in seeds {
        assert_eq!(run(&plan, seed, &mut Unwatched).breach, None, "seed {seed}");
    }
}

/// A client whose connections break is served elsewhere with the rules kept.
#[test]
fn with_the_rules_of_connections_a_client_is_served_elsewhere() {
    for rule in [Rule::QuorumStatusIsKept, Rule::BrokenOnceIsReopened] {
        let quorums = build(Kind::Majority, 3).unwrap();
        let plan = Plan { load: Load::OneHolder, faults: Faults::None, ..Plan::new(quorums) };
        let plan = Plan { listed: breaks(rule), ..plan };
        for seed in 0..100 {
            assert_eq!(run(&plan, seed, &mut Unwatched).breach, None, "{rule:?}, seed {seed}");
        }
    }
}

/// A copy that begins late breaks nothing while it waits for its quarantine.
#[test]
fn with_the_quarantine_from_the_beginning_a_late_copy_is_harmless() {
    let mut plan = Plan::new(build(Kind::Majority, 3).unwrap());
    (plan.faults, plan.listed) = (Faults::None, late_copy());
    for seed in 0..100 {
        assert_eq!(run(&plan, seed, &mut Unwatched).breach, None, "seed {seed}");
    }
}

/// A full window delays messages. If it ended the session instead, callers would lose their grants
/// though nothing goes wrong.
#[test]
fn a_full_window_must_not_end_a_session() {
    for protocol in ["mutex", "ledger", "pool", "group", "role"] {
        let (claims, settings) = site_settings(protocol, &[]).unwrap();
        let quorums = build(Kind::Majority, 3).unwrap();
        let plan = Plan { faults: Faults::None, window: Some(4), ..Plan::new(quorums) };
        let plan = Plan { claims, settings, ..plan };
        let undone = Plan { undone: Some(Rule::FullWindowWaits), ..plan.clone() };
        // With five thousand seeds, one or two callers of groups lose a grant to a slow packet.
        for seed in 20..40 {
            let Outcome { tally, breach } = run(&plan, seed, &mut Unwatched);
            assert_eq!((tally.lost, breach), (0, None), "{protocol}, seed {seed}");
        }
        let mut harmed = (20..40).map(|seed| run(&undone, seed, &mut Unwatched));
        let is_harmed = |outcome: Outcome| outcome.tally.lost > 0 || outcome.breach.is_some();
        assert!(harmed.any(is_harmed), "{protocol}: nobody lost a grant");
    }
}

/// However far clocks drift apart, a storage never accepts an earlier holder again. The storage
/// checks the fences; the service gives the later holder the higher one.
#[test]
fn fences_protect_a_storage_from_clocks_that_drift_too_far() {
    let (mut broken, mut refused) = (0, 0);
    for seed in 0..200 {
        broken += u32::from(outcome(Taken::Clocks, seed).breach.is_some());
        let outcome = outcome(Taken::ClocksOverlooked, seed);
        refused += outcome.tally.late_refused;
        let what = outcome.breach.map_or("", |breach| breach.property);
        assert!(["", "storage", "fences grow"].contains(&what), "seed {seed}: {what}");
    }
    assert!(broken > 0, "no run had two valid grants");
    assert!(refused > 0, "no earlier holder was refused");
}

#[test]
#[ignore = "looks for seeds when histories have moved; takes minutes"]
fn look_for_seeds() {
    let next = AtomicUsize::new(0);
    let search = || {
        let mut missed = Vec::new();
        while let Some(&(taken, kept, property)) = TAKEN.get(next.fetch_add(1, Ordering::Relaxed)) {
            let shows = |seed: &u64| {
                outcome(taken, *seed).breach.is_some_and(|breach| breach.property == property)
            };
            let found = std::iter::once(kept).chain(0..25_000).find(shows);
            println!("{taken:?}: {property}: {found:?}, kept {kept}");
            missed.extend(found.is_none().then_some(taken));
        }
        missed
    };
    let missed = thread::scope(|scope| {
        let searches = [scope.spawn(search), scope.spawn(search)];
        searches.map(|one| one.join().unwrap()).concat()
    });
    assert!(missed.is_empty(), "not caught any more: {missed:?}");
}
