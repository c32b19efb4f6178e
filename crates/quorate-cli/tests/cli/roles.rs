//! `quorate lock --role`: members of a group, shared and exclusive.

use nix::sys::signal::Signal;
use quorate::Name;
use quorate_protocol::Shared;
use quorate_protocol::group::Group;
use quorate_protocol::role::RoleLock;
use quorate_quorum::{Kind, SiteId, build};

use crate::cluster::TestCluster;
use crate::program::quorate;

const PRINT_ROLE: [&str; 4] =
    ["--", "sh", "-c", "echo $QUORATE_GROUP $QUORATE_ROLE; cat > /dev/null"];
const EXCLUSIVE: &str = "lock table --group v1 --role exclusive --for 1m";
const SHARED: &str = "lock table --group v1 --role shared --for 30s";

#[test]
fn one_exclusive_member_and_shared_members_are_inside() {
    let sites = TestCluster::start(3);
    let mut compactor = sites.spawn(1, EXCLUSIVE, &PRINT_ROLE);
    assert_eq!(compactor.line(), "v1 exclusive\n");
    let mut reader = sites.spawn(2, SHARED, &PRINT_ROLE);
    assert_eq!(reader.line(), "v1 shared\n");
    let refused = sites.run(3, &format!("{EXCLUSIVE} --no-wait -- echo no"), &[]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""));
    assert!(refused.err.contains("table has 2 members of v1"), "{}", refused.err);

    let brief = ["--", "sh", "-c", "echo $QUORATE_GROUP $QUORATE_ROLE"];
    let next = sites.spawn(3, EXCLUSIVE, &brief);
    let other = sites.spawn(1, "lock table --group v2 --role shared --for 5s", &brief);
    sites.wait_for_waiters(2, "table", 2);
    let shown = sites.show(3, "table");
    assert_eq!(
        (&shown["kind"], &shown["holders"][0]["group"]),
        (&"role lock".into(), &"v1".into())
    );
    let eta = |shown: &serde_json::Value| {
        let waiting = shown["waiting"].as_array().unwrap().iter();
        waiting.filter_map(|caller| caller["eta_ms"].as_u64()).max()
    };
    assert!(eta(&shown).is_some_and(|ms| (30_000..=60_000).contains(&ms)), "{shown}");
    let text = sites.run(3, "show table", &[]).out;
    assert!(text.contains("MEMBER") && text.contains("exclusive in v1, for "), "{text}");
    let explained = sites.run(3, "explain table", &[]).out;
    assert!(explained.contains("can enter in "), "{explained}");

    assert_eq!((compactor.finish().code, reader.finish().code), (Some(0), Some(0)));
    assert_eq!(
        (next.finish().out, other.finish().out),
        ("v1 exclusive\n".into(), "v2 shared\n".into())
    );
}

/// The exclusive member is killed: another one enters, in the same stage or the next.
#[test]
fn a_killed_exclusive_member_blocks_nobody() {
    let sites = TestCluster::start(3);
    let mut killed = sites.spawn(1, EXCLUSIVE, &PRINT_ROLE);
    assert_eq!(killed.line(), "v1 exclusive\n");
    let mut next = sites.spawn(2, EXCLUSIVE, &PRINT_ROLE);
    sites.wait_for_waiters(3, "table", 1);
    killed.signal(Signal::SIGKILL);
    assert_eq!(next.line(), "v1 exclusive\n");
}

/// The site that hosts the stages of group v1, by the rule that the sites use.
fn host() -> usize {
    let mut site = Shared::new(SiteId::new(0), build(Kind::Majority, 3).unwrap());
    site.rotate_quorums("table".parse::<Name>().unwrap().hash64());
    RoleLock::host_of(&Group::new("v1"), &site).unwrap().index() + 1
}

/// One site hosts a stage. When it is killed, the members stop, though their own sites run, and a
/// stage at another site admits the waiters.
#[test]
fn members_stop_when_the_host_of_their_stage_is_killed() {
    let mut sites = TestCluster::start(3);
    let file = sites.file("guarded");
    let file = file.to_str().unwrap();
    let script = format!(
        "trap '' TERM; exec 9> '{file}'; flock -n -x 9 || echo overlap; echo in; \
         while :; do sleep 0.02; done"
    );
    let (host, member) = (host(), host() % 3 + 1);
    let mut inside = sites.spawn(member, EXCLUSIVE, &["--", "sh", "-c", &script]);
    assert_eq!(inside.line(), "in\n");
    let script = format!("flock -n -x '{file}' echo alone || echo overlap");
    let next = sites.spawn(member % 3 + 1, EXCLUSIVE, &["--", "sh", "-c", &script]);
    sites.wait_for_waiters(member, "table", 1);
    sites.kill(host);
    let next = next.finish();
    assert_eq!((next.code, next.out.as_str()), (Some(0), "alone\n"), "{}", next.err);
    assert_eq!(inside.finish().code, Some(121));
}

#[test]
fn invalid_roles_are_refused() {
    quorate("lock table --role shared --for 1m -- echo no").refused(&["--group"]);
    quorate("lock table --group v1 --role shared -- echo no").refused(&["--for"]);
    quorate("lock table --group v1 --role writer --for 1m -- echo no")
        .refused(&["expected `shared` or `exclusive`"]);
    let sites = TestCluster::start(1);
    let long = sites.run(1, "lock table --group v1 --role shared --for 2years -- echo no", &[]);
    assert_eq!(long.code, Some(2), "{}", long.err);
    assert!(long.err.contains("longer than a year"), "{}", long.err);
    let (holder, _) = sites.hold(1, "lock table --group v1");
    let other = sites.run(1, &format!("{SHARED} -- echo no"), &[]);
    other.refused(&["table is a group lock, not a role lock, used by "]);
    assert_eq!(holder.finish().code, Some(0));
}
