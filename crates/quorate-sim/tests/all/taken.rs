//! Clusters of whole sites with one rule, repair or assumption taken away: for each, a kept seed
//! breaks a property.
//!
//! When the behaviour of a site changes, histories change, and a seed may show nothing any more.
//! Then search for new ones:
//! `cargo test --release -p quorate-sim --test all taken:: -- --ignored --nocapture`

use quorate_quorum::{Kind, build};
use quorate_session::session::Rule;
use quorate_sim::cluster::{ClaimKind, Faults, Forgets, Load, Outcome, Plan, run};
use quorate_sim::{Setting, Unwatched, site_settings};

/// What is taken away.
#[derive(Clone, Copy, Debug)]
enum Taken {
    /// A part of the record on disk.
    Disk(Forgets),
    /// A rule of sessions.
    Rule(Rule),
    /// A repair of the mutex.
    Repair(&'static str),
    /// The same, with twice as many callers.
    BusyRepair(&'static str),
    /// A repair of pools.
    PoolRepair(&'static str),
    /// A repair of group locks.
    GroupRepair(&'static str),
    /// A repair of role locks.
    RoleRepair(&'static str),
    /// A repair of group locks by token.
    TokenRepair(&'static str),
    /// A rule of the deadlines in a token's messages.
    TokenRule(Rule),
    /// A rule of delegations, by which followers are inside a group's occupancy.
    DelegationRule(Rule),
    /// A rule of clients and their sessions.
    ClientRule(Rule),
    /// A rule of identities, with disks that are wiped, older, swapped and copied.
    IdentityRule(Rule),
    /// The same, with group locks by token.
    TokenIdentityRule(Rule),
    /// The assumption that clocks differ by less than 1 %: they differ by up to 10 %.
    Clocks,
    /// The same, with broken exclusion tolerated.
    ClocksOverlooked,
}

/// What is taken away, a seed with three sites that shows it, and the property that breaks.
///
/// Missing, because 3000 runs of three sites and 3000 of five did not show them:
/// - of the mutex, `direct-grows`, `floor-kept-at-gone`, `floor-kept-at-asked`, `inquiries-kept`
///   and `overtaken-untold`; of group locks, `old-right` and `finished-unknown`; of role locks,
///   `stage-kept`, `no-refusal` and those that need reordered messages. Runs of the protocol alone,
///   searches or scenarios show them.
/// - of identities, `CeilingsAreRegistered`, because a peer hears of a write before anything else
///   that the site sends after it, and `QuarantineFromBeginning`, because a moved folder is refused
///   while its original has a lease.
/// - `ReopenAfterDeadline`: a caller learns of its loss before the client reopens.
/// - `DeadlinesFirst`: the site keeps this rule too.
/// - `ResumeAtItsSite`: a client resumes a session only at its site, and refuses the welcome of
///   another incarnation.
const TAKEN: &[(Taken, u64, &str)] = &[
    // A restarted site reuses fences.
    (Taken::Disk(Forgets::Ceil), 23, "fences grow"),
    // It lends immediately what it had lent before the crash.
    (Taken::Disk(Forgets::LeaseMax), 88, "exclusion"),
    // It reuses a ticket.
    (Taken::Disk(Forgets::Clock), 20_008, "contract"),
    // It is taken for another site: the others refuse it forever.
    (Taken::Disk(Forgets::All), 2, "progress"),
    (Taken::Rule(Rule::CountFromSending), 91, "exclusion"),
    (Taken::Rule(Rule::IncarnationWaits), 71, "exclusion"),
    (Taken::Rule(Rule::CountFromHandling), 1, "exclusion"),
    (Taken::Rule(Rule::StampOnce), 68, "exclusion"),
    (Taken::Repair("E1"), 1, "exclusion"),
    (Taken::Repair("E2"), 5, "contract"),
    (Taken::Repair("E3"), 0, "contract"),
    (Taken::Repair("E4"), 8, "progress"),
    (Taken::Repair("E5"), 3_243, "progress"),
    (Taken::Repair("E6"), 1, "progress"),
    (Taken::Repair("both-halves"), 16, "exclusion"),
    (Taken::Repair("any-session"), 113, "contract"),
    (Taken::Repair("no-direct"), 22, "progress"),
    (Taken::Repair("no-repeat"), 26, "progress"),
    (Taken::BusyRepair("no-asking"), 4_263, "exclusion"),
    (Taken::Repair("lack-not-binding"), 4, "contract"),
    (Taken::Repair("early-unused"), 22, "contract"),
    (Taken::Repair("floor-kept"), 0, "fences grow"),
    (Taken::Repair("no-quarantine"), 88, "exclusion"),
    (Taken::Repair("no-recheck"), 1, "progress"),
    (Taken::Repair("shared-fence"), 1, "fences grow"),
    // Pools.
    (Taken::PoolRepair("N1"), 10, "progress"),
    (Taken::PoolRepair("N2"), 261, "exclusion"),
    (Taken::PoolRepair("both-halves"), 11, "exclusion"),
    (Taken::PoolRepair("done-kept"), 16, "progress"),
    (Taken::PoolRepair("floor-kept"), 0, "fences grow"),
    (Taken::PoolRepair("no-recheck"), 123, "progress"),
    (Taken::PoolRepair("unnamed"), 4, "exclusion"),
    // Group locks.
    (Taken::GroupRepair("E1"), 0, "progress"),
    (Taken::GroupRepair("E3"), 0, "contract"),
    (Taken::GroupRepair("E4"), 0, "contract"),
    (Taken::GroupRepair("E6"), 0, "exclusion"),
    (Taken::GroupRepair("E10"), 0, "progress"),
    (Taken::GroupRepair("both-halves"), 2, "contract"),
    (Taken::GroupRepair("floor-kept"), 24, "fences grow"),
    (Taken::GroupRepair("no-quarantine"), 1_244, "fences grow"),
    (Taken::GroupRepair("no-closing-set"), 10_843, "exclusion"),
    (Taken::GroupRepair("no-recheck"), 144, "progress"),
    // Role locks.
    (Taken::RoleRepair("A1"), 5, "progress"),
    (Taken::RoleRepair("A2"), 1, "progress"),
    (Taken::RoleRepair("A4"), 158, "exclusion"),
    (Taken::RoleRepair("A5"), 168, "exclusion"),
    (Taken::RoleRepair("A6"), 0, "exclusion"),
    (Taken::RoleRepair("A7"), 5, "exclusion"),
    (Taken::RoleRepair("holder-kept"), 0, "progress"),
    (Taken::RoleRepair("both-halves"), 41, "progress"),
    (Taken::RoleRepair("floor-kept"), 3, "fences grow"),
    (Taken::RoleRepair("shared-fence"), 0, "fences grow"),
    (Taken::RoleRepair("no-quarantine"), 50, "exclusion"),
    (Taken::RoleRepair("no-recheck"), 34, "progress"),
    // Group locks by token. A site repeats a promise that it gave to another.
    (Taken::TokenRepair("forgetful"), 0, "fences grow"),
    // It votes, asks and answers while callers of its previous incarnation are inside.
    (Taken::TokenRepair("no-quarantine"), 35, "exclusion"),
    (Taken::TokenRepair("E1"), 0, "fences grow"),
    (Taken::TokenRepair("E12"), 5, "exclusion"),
    (Taken::TokenRepair("E13"), 6, "progress"),
    // A deadline counts from its arrival.
    (Taken::TokenRule(Rule::DelegationCountsFromRenewal), 48, "exclusion"),
    // A follower, or a site that received the token, does not know when to stop.
    (Taken::TokenRule(Rule::DelegationExpires), 6, "exclusion"),
    // A follower gets an end after that of its session at its captain, and stops before.
    (Taken::TokenRule(Rule::DelegationEndsWithSession), 16, "exclusion"),
    // A follower stays as long as its own site is connected to the manager.
    (Taken::DelegationRule(Rule::DelegationExpires), 0, "exclusion"),
    // Or as long as the pivot, though nobody waits for it any more.
    (Taken::DelegationRule(Rule::DelegationEndsWithSession), 43, "exclusion"),
    (Taken::DelegationRule(Rule::DelegationCountsFromRenewal), 5, "exclusion"),
    // A client extends the validity of a message by its delay.
    (Taken::ClientRule(Rule::ClientCountsFromRenewal), 5, "exclusion"),
    // It trusts its site, though its session there is over.
    (Taken::ClientRule(Rule::ClientBeliefEndsWithSession), 4, "exclusion"),
    // It applies a common deadline to a grant that came after it.
    (Taken::ClientRule(Rule::CommonDeadlineForEarlier), 0, "exclusion"),
    // Its site stops, and gives a grant back before the client stops relying on it.
    (Taken::ClientRule(Rule::DrainKeepsDeadlines), 2_556, "exclusion"),
    // It applies a common deadline to a degraded grant.
    (Taken::ClientRule(Rule::ChangesBeforeCommon), 1, "exclusion"),
    // Its site does not learn that a caller left while it was disconnected.
    (Taken::ClientRule(Rule::LeaveIsKept), 239, "progress"),
    // A caller waits for as long as its site does not answer.
    (Taken::ClientRule(Rule::ClientKeepsDeadlines), 0, "deadlines"),
    // A site with an empty disk is taken for a new one.
    (Taken::IdentityRule(Rule::BirthIsChecked), 276, "exclusion"),
    // Two processes of one site vote.
    (Taken::IdentityRule(Rule::LifeIsUnique), 162, "exclusion"),
    (Taken::IdentityRule(Rule::LineageIsChecked), 4_315, "fences grow"),
    // A site that was set back uses its fences again.
    (Taken::IdentityRule(Rule::WritesAreChecked), 1_788, "fences grow"),
    // Or its promises about a token.
    (Taken::TokenIdentityRule(Rule::WritesAreChecked), 130, "contract"),
    // A copy takes part that only some of the others know.
    (Taken::IdentityRule(Rule::MovedNeedsAll), 481, "exclusion"),
    (Taken::IdentityRule(Rule::LifeBegins), 1_977, "exclusion"),
    // Two grants are valid at the same time.
    (Taken::Clocks, 18, "exclusion"),
    // And then the storage refuses the earlier holder, though its grant seems valid.
    (Taken::ClocksOverlooked, 2_542, "storage"),
];

fn outcome(taken: Taken, seed: u64) -> Outcome {
    let mut plan = Plan::new(build(Kind::Majority, 3).unwrap());
    match taken {
        Taken::Disk(forgets) => plan.forgets = Some(forgets),
        Taken::Rule(rule) | Taken::ClientRule(rule) => plan.undone = Some(rule),
        Taken::Repair(undone) => {
            let setting = Setting { name: "undo".to_owned(), value: undone.to_owned() };
            plan.settings = site_settings("mutex", &[setting]).unwrap().1;
        }
        Taken::BusyRepair(undone) => {
            let setting = Setting { name: "undo".to_owned(), value: undone.to_owned() };
            plan.settings = site_settings("mutex", &[setting]).unwrap().1;
            plan.load = Load::Drawn { callers: 4, names: 3 };
        }
        Taken::PoolRepair(undone) => {
            let setting = Setting { name: "undo".to_owned(), value: undone.to_owned() };
            (plan.claims, plan.settings) = site_settings("pool", &[setting]).unwrap();
        }
        Taken::GroupRepair(undone) => {
            let setting = Setting { name: "undo".to_owned(), value: undone.to_owned() };
            (plan.claims, plan.settings) = site_settings("group", &[setting]).unwrap();
        }
        Taken::RoleRepair(undone) => {
            let setting = Setting { name: "undo".to_owned(), value: undone.to_owned() };
            (plan.claims, plan.settings) = site_settings("role", &[setting]).unwrap();
        }
        Taken::TokenRepair(undone) => {
            let setting = Setting { name: "undo".to_owned(), value: undone.to_owned() };
            (plan.claims, plan.settings) = site_settings("token", &[setting]).unwrap();
        }
        Taken::TokenRule(rule) => (plan.claims, plan.undone) = (ClaimKind::Token, Some(rule)),
        Taken::DelegationRule(rule) => (plan.claims, plan.undone) = (ClaimKind::Group, Some(rule)),
        Taken::IdentityRule(rule) => (plan.faults, plan.undone) = (Faults::Disks, Some(rule)),
        Taken::TokenIdentityRule(rule) => {
            (plan.claims, plan.faults, plan.undone) = (ClaimKind::Token, Faults::Disks, Some(rule));
        }
        Taken::Clocks => plan.skew = 50_000,
        Taken::ClocksOverlooked => (plan.skew, plan.tolerates) = (50_000, Some("exclusion")),
    }
    run(&plan, seed, &mut Unwatched)
}

#[test]
fn what_is_taken_away_is_missed() {
    for &(taken, seed, property) in TAKEN {
        let breach = outcome(taken, seed).breach;
        let found = breach.as_ref().map(|breach| breach.property);
        assert_eq!(found, Some(property), "{taken:?}, seed {seed}: look for another");
    }
}

/// The seeds of client rules break nothing while the rule is kept.
#[test]
fn with_the_rules_of_clients_the_same_seeds_are_clean() {
    let plan = Plan::new(build(Kind::Majority, 3).unwrap());
    let of_clients = |(taken, ..): &&(Taken, u64, &str)| matches!(taken, Taken::ClientRule(_));
    let seeds: Vec<u64> = TAKEN.iter().filter(of_clients).map(|(_, seed, _)| *seed).collect();
    assert_eq!(seeds.len(), 7);
    for seed in seeds {
        assert_eq!(run(&plan, seed, &mut Unwatched).breach, None, "seed {seed}");
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
    let mut missed = Vec::new();
    for &(taken, kept, property) in TAKEN {
        let shows = |seed: &u64| {
            outcome(taken, *seed).breach.is_some_and(|breach| breach.property == property)
        };
        let found = std::iter::once(kept).chain(0..25_000).find(shows);
        println!("{taken:?}: {property}: {found:?}, kept {kept}");
        missed.extend(found.is_none().then_some(taken));
    }
    assert!(missed.is_empty(), "not caught any more: {missed:?}");
}
