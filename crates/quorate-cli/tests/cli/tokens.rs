//! `quorate lock --group --via token`: group locks whose token moves from site to site, or is lost.

use std::fs;

use crate::cluster::{TestCluster, until};
use crate::program::quorate;

const V2: &str = "lock warehouse --group v2 --via token";
const V3: &str = "lock warehouse --group v3 --via token";
const PRINT_GROUP: [&str; 4] = ["--", "sh", "-c", "echo $QUORATE_GROUP; cat > /dev/null"];

#[test]
fn one_group_shares_the_lock_and_show_names_the_token_holder() {
    let sites = TestCluster::start(3);
    let mut old = sites.spawn(1, V2, &PRINT_GROUP);
    assert_eq!(old.line(), "v2\n");
    let mut either =
        sites.spawn(2, "lock warehouse --group v2 --group v3 --via token", &PRINT_GROUP);
    assert_eq!(either.line(), "v2\n", "it joins the group inside");
    let refused = sites.run(3, "lock warehouse --group v3 --via token --no-wait -- echo no", &[]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""));
    assert!(refused.err.contains("warehouse is held with group v2 by 2"), "{}", refused.err);

    let mut new = sites.spawn(3, V3, &PRINT_GROUP);
    sites.wait_for_waiters(1, "warehouse", 1);
    let shown = sites.show(3, "warehouse");
    assert_eq!(shown["kind"], "group lock by token");
    assert_eq!(shown["holders"][0]["fence"], shown["holders"][1]["fence"]);
    assert_eq!(shown["token"]["site"], 1);
    let (epoch, round) = (&shown["token"]["epoch"], &shown["token"]["round"]);
    let text = sites.run(3, "show warehouse", &[]).out;
    let line = format!("site 1 has the token: epoch {epoch}, round {round}");
    assert!(text.contains(&line), "{line} is not in {text}");
    let listed = sites.run(3, "ls", &[]).out;
    assert!(listed.contains("group lock by token"), "{listed}");
    let explained = sites.run(3, "explain warehouse", &[]).out;
    assert!(explained.contains("blocked by"), "{explained}");

    assert_eq!((old.finish().code, either.finish().code), (Some(0), Some(0)));
    assert_eq!(new.line(), "v3\n");
    assert_eq!(sites.show(1, "warehouse")["token"]["site"], 3);
    assert_eq!(new.finish().code, Some(0));
}

/// Two scripts that use one file and print their fences. The first holds a shared `flock` as long
/// as it lives and ignores SIGTERM; the second prints whether it is alone.
fn scripts(sites: &TestCluster) -> (String, String) {
    let file = sites.file("guarded");
    let file = file.to_str().unwrap();
    let shares = format!(
        "trap '' TERM; exec 9> '{file}'; flock -n -s 9 || echo overlap; echo $QUORATE_FENCE; \
         while :; do sleep 0.02; done"
    );
    let alone = format!("flock -n -x '{file}' echo alone || echo overlap; echo $QUORATE_FENCE");
    (shares, alone)
}

/// All followers are dead or have left before another group enters with a new token.
#[test]
fn groups_do_not_mix_when_the_site_of_the_captain_is_killed() {
    let mut sites = TestCluster::start(3);
    let (shares, alone) = scripts(&sites);
    let mut captain = sites.spawn(1, V2, &["--", "sh", "-c", &shares]);
    let fence: u64 = captain.line().trim().parse().expect("a fence");
    let mut follower = sites.spawn(2, V2, &["--", "sh", "-c", &shares]);
    assert_eq!(follower.line().trim().parse(), Ok(fence));
    let other = sites.spawn(3, V3, &["--", "sh", "-c", &alone]);
    sites.wait_for_waiters(3, "warehouse", 1);
    sites.kill(1);
    let other = other.finish();
    let mut lines = other.out.lines();
    assert_eq!((other.code, lines.next()), (Some(0), Some("alone")), "{}", other.err);
    assert!(lines.next().is_some_and(|next| next.parse::<u64>().is_ok_and(|next| next > fence)));
    assert_eq!((captain.finish().code, follower.finish().code), (Some(121), Some(121)));
    let log = fs::read_to_string(sites.log(3)).expect("site 3 has a log");
    assert!(log.contains("made a new token: the leases of any before are over"), "{log}");
}

#[test]
fn the_next_group_enters_when_the_site_of_a_follower_is_killed() {
    let mut sites = TestCluster::start(3);
    let (shares, alone) = scripts(&sites);
    let (captain, fence) = sites.hold(1, V2);
    let mut follower = sites.spawn(2, V2, &["--", "sh", "-c", &shares]);
    assert_eq!(follower.line().trim().parse(), Ok(fence));
    let other = sites.spawn(3, V3, &["--", "sh", "-c", &alone]);
    sites.wait_for_waiters(3, "warehouse", 1);
    sites.kill(2);
    assert_eq!(captain.finish().code, Some(0));
    let other = other.finish();
    assert_eq!((other.code, other.out.lines().next()), (Some(0), Some("alone")), "{}", other.err);
    assert_eq!(follower.finish().code, Some(121));
}

#[test]
fn an_idle_token_that_dies_with_its_site_is_replaced() {
    let mut sites = TestCluster::start(3);
    let (holder, fence) = sites.hold(1, V2);
    assert_eq!(holder.finish().code, Some(0));
    assert_eq!(sites.show(2, "warehouse")["token"]["site"], 1, "it stays where it was used");
    sites.kill(1);
    let (next, higher) = sites.hold(2, V3);
    assert!(higher > fence, "{higher} follows {fence}");
    sites.restart(1);
    until("site 1 is back", || sites.run(1, "sites", &[]).code == Some(0));
    assert_eq!(next.finish().code, Some(0));
    let (last, highest) = sites.hold(1, V2);
    assert!(highest > higher, "{highest} follows {higher}");
    assert_eq!(last.finish().code, Some(0));
}

#[test]
fn invalid_token_arguments_are_refused() {
    quorate("lock warehouse --group a --via ring -- echo no").refused(&["--via", "token"]);
    quorate("lock warehouse --via token -- echo no").refused(&["--group"]);
    quorate("lock warehouse --group a --via token --role shared --for 1m -- echo no")
        .refused(&["--via"]);
    let sites = TestCluster::start(1);
    let (holder, _) = sites.hold(1, "lock warehouse --group a --via token");
    let other = sites.run(1, "lock warehouse --group a -- echo no", &[]);
    other.refused(&["warehouse is a group lock by token, not a group lock, used by "]);
    assert_eq!(holder.finish().code, Some(0));
}
