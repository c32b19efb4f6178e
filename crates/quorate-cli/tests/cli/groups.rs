//! `quorate lock --group`, `--read` and `--write`: shared locks.

use nix::sys::signal::Signal;

use crate::cluster::TestCluster;
use crate::program::quorate;

const PRINT_GROUP: [&str; 4] = ["--", "sh", "-c", "echo $QUORATE_GROUP; cat > /dev/null"];

#[test]
fn one_group_shares_the_lock() {
    let sites = TestCluster::start(3);
    let mut old = sites.spawn(1, "lock warehouse --group v2", &PRINT_GROUP);
    assert_eq!(old.line(), "v2\n");
    let mut either = sites.spawn(2, "lock warehouse --group v2 --group v3", &PRINT_GROUP);
    assert_eq!(either.line(), "v2\n", "it joins the group inside");

    let refused = sites.run(3, "lock warehouse --group v3 --no-wait -- echo no", &[]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""));
    assert!(refused.err.contains("warehouse is held with group v2 by 2"), "{}", refused.err);
    let mut new = sites.spawn(3, "lock warehouse --group v3", &PRINT_GROUP);
    sites.wait_for_waiters(1, "warehouse", 1);
    let shown = sites.show(3, "warehouse");
    assert_eq!(
        (&shown["kind"], &shown["holders"][0]["group"]),
        (&"group lock".into(), &"v2".into())
    );
    assert_eq!(shown["holders"][0]["fence"], shown["holders"][1]["fence"]);
    assert_eq!(shown["waiting"][0]["groups"][0], "v3");
    let text = sites.run(3, "show warehouse", &[]).out;
    assert!(text.contains("GROUP") && text.contains("v3"), "{text}");
    let listed = sites.run(3, "ls", &[]).out;
    assert!(
        listed.contains("group lock") && listed.contains("2 holders with group v2"),
        "{listed}"
    );

    assert_eq!((old.finish().code, either.finish().code), (Some(0), Some(0)));
    assert_eq!(new.line(), "v3\n");
    assert_eq!(new.finish().code, Some(0));
}

#[test]
fn readers_share_and_a_writer_excludes_all() {
    let sites = TestCluster::start(3);
    let script = ["--", "sh", "-c", "echo in; cat > /dev/null"];
    let mut readers: Vec<_> =
        (1..=3).map(|site| sites.spawn(site, "lock index --read", &script)).collect();
    for reader in &mut readers {
        assert_eq!(reader.line(), "in\n");
    }
    let text = sites.run(1, "show index", &[]).out;
    assert!(text.contains("index is held to read by 3") && text.contains("ACCESS"), "{text}");
    assert_eq!(sites.run(2, "lock index --write --no-wait -- echo no", &[]).code, Some(1));
    let mut writer = sites.spawn(2, "lock index --write", &script);
    sites.wait_for_waiters(1, "index", 1);
    for reader in readers {
        assert_eq!(reader.finish().code, Some(0));
    }
    assert_eq!(writer.line(), "in\n");
    assert_eq!(sites.run(3, "lock index --read --no-wait -- echo no", &[]).code, Some(1));
    assert_eq!(writer.finish().code, Some(0));
}

/// A command that holds a shared `flock` as long as it lives, and ignores SIGTERM.
fn shares(file: &str) -> [String; 4] {
    let script = format!(
        "trap '' TERM; exec 9> '{file}'; flock -n -s 9 || echo overlap; echo in; \
         while :; do sleep 0.02; done"
    );
    ["--".into(), "sh".into(), "-c".into(), script]
}

/// The pivot dies with its site. Its followers at other sites are dead or have left before another
/// group enters.
#[test]
fn groups_do_not_mix_when_the_site_of_the_pivot_is_killed() {
    let mut sites = TestCluster::start(3);
    let file = sites.file("guarded");
    let file = file.to_str().unwrap();
    let shares = shares(file);
    let shares: Vec<&str> = shares.iter().map(String::as_str).collect();
    let mut pivot = sites.spawn(1, "lock warehouse --group v2", &shares);
    assert_eq!(pivot.line(), "in\n");
    let mut follower = sites.spawn(2, "lock warehouse --group v2", &shares);
    assert_eq!(follower.line(), "in\n");
    let script = format!("flock -n -x '{file}' echo alone || echo overlap");
    let other = sites.spawn(3, "lock warehouse --group v3", &["--", "sh", "-c", &script]);
    sites.wait_for_waiters(3, "warehouse", 1);
    sites.kill(1);
    let other = other.finish();
    assert_eq!((other.code, other.out.as_str()), (Some(0), "alone\n"), "{}", other.err);
    assert_eq!((pivot.finish().code, follower.finish().code), (Some(121), Some(121)));
}

/// The pivot's process is killed: its site closes the occupancy, and the followers stay until they
/// leave.
#[test]
fn followers_keep_the_lock_when_the_pivot_process_is_killed() {
    let sites = TestCluster::start(3);
    let mut pivot = sites.spawn(1, "lock warehouse --group v2", &PRINT_GROUP);
    assert_eq!(pivot.line(), "v2\n");
    let mut follower = sites.spawn(2, "lock warehouse --group v2", &PRINT_GROUP);
    assert_eq!(follower.line(), "v2\n");
    let mut other = sites.spawn(3, "lock warehouse --group v3", &PRINT_GROUP);
    sites.wait_for_waiters(3, "warehouse", 1);
    pivot.signal(Signal::SIGKILL);
    crate::cluster::until("the pivot is gone", || {
        sites.show(3, "warehouse")["holders"].as_array().is_some_and(|all| all.len() == 1)
    });
    assert_eq!(sites.show(3, "warehouse")["holders"][0]["group"], "v2");
    assert_eq!(follower.finish().code, Some(0));
    assert_eq!(other.line(), "v3\n");
}

#[test]
fn a_killed_follower_blocks_nobody() {
    let mut sites = TestCluster::start(3);
    let mut pivot = sites.spawn(1, "lock warehouse --group v2", &PRINT_GROUP);
    assert_eq!(pivot.line(), "v2\n");
    let mut killed = sites.spawn(2, "lock warehouse --group v2", &PRINT_GROUP);
    assert_eq!(killed.line(), "v2\n");
    let mut with_site = sites.spawn(3, "lock warehouse --group v2", &PRINT_GROUP);
    assert_eq!(with_site.line(), "v2\n");
    killed.signal(Signal::SIGKILL);
    sites.kill(3);
    let mut other = sites.spawn(2, "lock warehouse --group v3", &PRINT_GROUP);
    sites.wait_for_waiters(1, "warehouse", 1);
    assert_eq!(pivot.finish().code, Some(0));
    assert_eq!(other.line(), "v3\n");
}

#[test]
fn invalid_groups_are_refused() {
    let sites = TestCluster::start(1);
    let refused = sites.run(1, "lock warehouse --group", &["", "--", "echo", "no"]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{}", refused.err);
    assert!(
        refused.err.contains("invalid groups: of one, invalid name: it is empty"),
        "{}",
        refused.err
    );
    quorate("lock warehouse --group a --read -- echo no").refused(&["--read"]);
    quorate("lock warehouse --read --write -- echo no").refused(&["--write"]);
    let (holder, _) = sites.hold(1, "lock warehouse --group a");
    let other = sites.run(1, "lock warehouse --read -- echo no", &[]);
    other.refused(&["warehouse is a group lock, not a read-write lock, used by "]);
    assert_eq!(holder.finish().code, Some(0));
}
