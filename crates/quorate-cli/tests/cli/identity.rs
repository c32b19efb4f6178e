//! Sites whose folders are wiped, restored, swapped, copied or damaged: they are refused, and the
//! others go on.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use nix::sys::signal::Signal;

use crate::cluster::{Running, TestCluster, free_port, until};

fn copy(from: &Path, to: &Path) {
    fs::remove_dir_all(to).ok(); // it may not exist
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[track_caller]
fn wait_for_log(path: &Path, words: &str) {
    let what = format!("{} contains `{words}`", path.display());
    until(&what, || fs::read_to_string(path).is_ok_and(|log| log.contains(words)));
}

/// The others serve callers without site 1.
#[track_caller]
fn others_go_on(sites: &TestCluster) {
    let done = sites.run(2, "lock other --wait 20s -- echo inside", &[]);
    assert_eq!(done.out, "inside\n", "{}", done.err);
}

#[test]
fn a_wiped_site_gives_no_second_holder() {
    let mut sites = TestCluster::start(3);
    let (holder, fence) = sites.hold(3, "lock deploy");
    sites.kill(1);
    fs::remove_dir_all(sites.file("data-1")).unwrap();
    sites.signal(3, Signal::SIGSTOP);
    sites.restart(1);
    let second = sites.run(2, "lock deploy --wait 3s -- echo second", &[]);
    assert_eq!((second.code, second.out.as_str()), (Some(125), ""), "{}", second.err);
    for site in [1, 2] {
        wait_for_log(&sites.log(site), "its folder is another one than before");
    }
    let waits = sites.run(1, "lock deploy --wait 1s -- echo second", &[]);
    assert!(waits.err.contains("this site has not joined its cluster"), "{}", waits.err);
    let state = sites.run(1, "sites", &[]);
    assert!(state.out.contains("has not joined its cluster"), "{}", state.out);
    sites.signal(3, Signal::SIGCONT);
    holder.finish();
    let next = sites.run(2, "lock deploy --wait 20s", &["--", "sh", "-c", "echo $QUORATE_FENCE"]);
    assert!(next.out.trim().parse::<u64>().unwrap() > fence, "{} {}", next.out, next.err);
}

#[test]
fn a_site_that_was_set_back_is_refused() {
    let mut sites = TestCluster::start(3);
    sites.signal(1, Signal::SIGTERM);
    assert_eq!(sites.end_of(1), Some(0));
    copy(&sites.file("data-1"), &sites.file("backup"));
    sites.restart(1);
    sites.wait_until_connected();
    sites.kill(1);
    copy(&sites.file("backup"), &sites.file("data-1"));
    sites.restart(1);
    for site in [1, 2, 3] {
        wait_for_log(&sites.log(site), "another process runs, or ran, as this site");
    }
    others_go_on(&sites);
}

#[test]
fn the_folder_of_another_site_is_refused() {
    let mut sites = TestCluster::start(3);
    sites.kill(1);
    sites.signal(2, Signal::SIGTERM);
    sites.end_of(2);
    copy(&sites.file("data-2"), &sites.file("data-1"));
    sites.restart(2);
    sites.restart(1);
    assert_eq!(sites.end_of(1), Some(125));
    let log = fs::read_to_string(sites.log(1)).unwrap();
    assert!(log.contains("it belongs to site 2 of cluster test, and this is site 1"), "{log}");
    others_go_on(&sites);
}

#[test]
fn a_copy_is_refused_while_its_original_runs_and_the_other_way_round() {
    let mut sites = TestCluster::start(3);
    copy(&sites.file("data-1"), &sites.file("data-4"));
    let text = fs::read_to_string(sites.file("site-1.toml")).unwrap();
    let text = text.replace("data-1", "data-4");
    let listen = format!("listen = \"127.0.0.1:{}\"\n{text}", free_port());
    fs::write(sites.file("copy.toml"), listen).unwrap();
    let log = File::create(sites.file("copy.log")).unwrap();
    let mut command = Command::new(crate::PROGRAM);
    command.args(["serve", "--config"]).arg(sites.file("copy.toml")).stderr(log);
    command.stdout(Stdio::null()).stdin(Stdio::null());
    let copied = Running::start(command);

    wait_for_log(&sites.file("copy.log"), "the process that ran with it before still has a lease");
    let done = sites.run(1, "lock deploy --wait 20s -- echo inside", &[]);
    assert_eq!(done.out, "inside\n", "{}", done.err);
    sites.kill(1);
    wait_for_log(&sites.file("copy.log"), "joined the cluster");
    sites.restart(1);
    wait_for_log(&sites.log(1), "another process runs, or ran, as this site");
    others_go_on(&sites);
    drop(copied);
}

#[test]
fn a_folder_has_one_process() {
    let mut sites = TestCluster::start(1);
    let text = fs::read_to_string(sites.file("site-1.toml")).unwrap();
    let other = format!("listen = \"127.0.0.1:{}\"\n{text}", free_port());
    let path = sites.file("second.toml");
    fs::write(&path, other).unwrap();
    let second = crate::program::quorate_with("serve --config", &[path.to_str().unwrap()]);
    assert_eq!(second.code, Some(125));
    assert!(second.err.contains("another process on this machine runs with it"), "{}", second.err);

    sites.kill(1);
    let file = File::options().write(true).open(sites.file("data-1/site.redb")).unwrap();
    file.set_len(file.metadata().unwrap().len() / 3).unwrap();
    let done = crate::program::quorate_with(
        "serve --config",
        &[sites.file("site-1.toml").to_str().unwrap()],
    );
    assert_eq!(done.code, Some(125));
    assert!(done.err.contains("site.redb is damaged, or no file of quorate"), "{}", done.err);
    assert!(!done.err.contains("panicked"), "{}", done.err);
}
