//! `quorate elect`: one leader at a time, with a value that others can read.

use nix::sys::signal::Signal;

use crate::cluster::TestCluster;

#[test]
fn a_leader_is_shown_and_followed() {
    let sites = TestCluster::start(3);
    let nobody = sites.run(1, "elect leader scheduler", &[]);
    assert_eq!((nobody.code, nobody.out.as_str()), (Some(1), "nobody leads scheduler\n"));
    let command = ["--", "sh", "-c", "echo $QUORATE_FENCE; cat > /dev/null"];
    let mut first = sites.spawn(1, "elect campaign scheduler one:9000", &command);
    let fence: u64 = first.line().trim().parse().unwrap();
    let leader = sites.run(2, "elect leader scheduler", &[]);
    assert!(leader.out.starts_with("one:9000 leads scheduler: "), "{}", leader.out);
    assert_eq!(leader.code, Some(0));
    let leader = sites.run(3, "elect leader scheduler --json", &[]).out;
    let leader: serde_json::Value = serde_json::from_str(&leader).unwrap();
    assert_eq!(leader["leader"]["value"], "one:9000");
    assert_eq!((&leader["leader"]["fence"], &leader["leader"]["site"]), (&fence.into(), &1.into()));

    let mut observer = sites.spawn(3, "elect observe scheduler", &[]);
    assert!(observer.line().starts_with("one:9000 leads"));
    let mut second = sites.spawn(2, "elect campaign scheduler two:9000", &command);
    sites.wait_for_waiters(3, "scheduler", 1);
    first.signal(Signal::SIGKILL);
    let next: u64 = second.line().trim().parse().unwrap();
    assert!(next > fence);
    while !observer.line().starts_with("two:9000 leads") {}
    let late = sites.run(1, "elect campaign scheduler three --wait 50ms -- echo no", &[]);
    assert_eq!((late.code, late.out.as_str()), (Some(1), ""));
    assert_eq!(second.finish().code, Some(0));
}
