//! Faults of processes and disks.

use std::time::Duration;

use super::{Action, Fault, Setting, length, names};
use crate::chance::Chance;

/// Some sites, in order.
fn some(setting: &Setting, count: usize, chance: &mut Chance) -> Vec<usize> {
    let all: Vec<usize> = (0..setting.sites).collect();
    let mut sites = chance.shuffled(&all);
    sites.truncate(count.clamp(1, setting.sites));
    sites.sort_unstable();
    sites
}

fn one(setting: &Setting, chance: &mut Chance) -> usize {
    chance.below(setting.sites)
}

/// A fault that begins with one action for each site and ends with another.
fn during(
    text: String,
    length: Duration,
    sites: &[usize],
    begin: fn(usize) -> Action,
    end: fn(usize) -> Action,
) -> Fault {
    let begins = sites.iter().map(|site| (Duration::ZERO, begin(*site)));
    let ends = sites.iter().map(|site| (length, end(*site)));
    Fault { text, actions: begins.chain(ends).collect(), length }
}

fn kill_some(setting: &Setting, count: usize, chance: &mut Chance) -> Fault {
    let sites = some(setting, count, chance);
    // Sometimes they are back before anybody's lease is over.
    let length = if chance.permille(300) {
        setting.leases(20 + chance.below(60))
    } else {
        length(setting, chance)
    };
    during(format!("{} killed", names(&sites)), length, &sites, Action::Kill, Action::Start)
}

pub(super) fn kill(setting: &Setting, chance: &mut Chance) -> Fault {
    kill_some(setting, 1, chance)
}

pub(super) fn kill_minority(setting: &Setting, chance: &mut Chance) -> Fault {
    kill_some(setting, setting.minority(), chance)
}

pub(super) fn kill_all(setting: &Setting, chance: &mut Chance) -> Fault {
    kill_some(setting, setting.sites, chance)
}

pub(super) fn restart(setting: &Setting, chance: &mut Chance) -> Fault {
    let site = [one(setting, chance)];
    let text = format!("{} restarted", names(&site));
    during(text, length(setting, chance), &site, Action::Terminate, Action::Start)
}

pub(super) fn rolling(setting: &Setting, chance: &mut Chance) -> Fault {
    let gently = chance.permille(500);
    let how = if gently { Action::Terminate } else { Action::Kill };
    let mut actions = Vec::new();
    let mut at = Duration::ZERO;
    for site in 0..setting.sites {
        actions.push((at, how(site)));
        at += setting.leases(100);
        actions.push((at, Action::Start(site)));
        at += setting.leases(150);
    }
    let how = if gently { "SIGTERM" } else { "SIGKILL" };
    Fault { text: format!("all sites restarted in turn with {how}"), actions, length: at }
}

pub(super) fn flapping(setting: &Setting, chance: &mut Chance) -> Fault {
    let site = one(setting, chance);
    let mut actions = Vec::new();
    let mut at = Duration::ZERO;
    for _ in 0..6 {
        actions.push((at, Action::Kill(site)));
        at += setting.leases(10 + chance.below(40));
        actions.push((at, Action::Start(site)));
        at += setting.leases(20 + chance.below(80));
    }
    Fault { text: format!("{} flapping", names(&[site])), actions, length: at }
}

pub(super) fn pause(setting: &Setting, chance: &mut Chance) -> Fault {
    let site = [one(setting, chance)];
    let length = setting.leases(30 + chance.below(270));
    let text = format!("{} paused", names(&site));
    during(text, length, &site, Action::Pause, Action::Resume)
}

pub(super) fn stutter(setting: &Setting, chance: &mut Chance) -> Fault {
    let site = one(setting, chance);
    let length = length(setting, chance);
    let mut actions = Vec::new();
    let mut at = Duration::ZERO;
    while at + setting.leases(40) < length {
        actions.push((at, Action::Pause(site)));
        at += setting.leases(5 + chance.below(15));
        actions.push((at, Action::Resume(site)));
        at += setting.leases(5 + chance.below(15));
    }
    Fault { text: format!("{} stuttering", names(&[site])), actions, length }
}

/// Half of the thin clients.
fn half(setting: &Setting, chance: &mut Chance) -> Vec<usize> {
    let all: Vec<usize> = (0..setting.clients).collect();
    let mut clients = chance.shuffled(&all);
    clients.truncate(setting.clients.div_ceil(2));
    clients
}

pub(super) fn client_kill(setting: &Setting, chance: &mut Chance) -> Fault {
    let (length, clients) = (setting.leases(50 + chance.below(200)), half(setting, chance));
    let text = format!("{} clients killed", clients.len());
    during(text, length, &clients, Action::KillClient, Action::StartClient)
}

pub(super) fn client_pause(setting: &Setting, chance: &mut Chance) -> Fault {
    let (length, clients) = (setting.leases(50 + chance.below(300)), half(setting, chance));
    let text = format!("{} clients paused", clients.len());
    during(text, length, &clients, Action::PauseClient, Action::ResumeClient)
}

pub(super) fn command_kill(setting: &Setting, chance: &mut Chance) -> Fault {
    let length = length(setting, chance);
    let times = 10;
    let at = |time: u32| length * time / times;
    let actions = (0..times).map(|time| (at(time), Action::KillCommand)).collect();
    Fault { text: "`quorate lock` killed".into(), actions, length }
}

pub(super) fn slow_disk(setting: &Setting, chance: &mut Chance) -> Fault {
    let sites = some(setting, setting.sites - setting.minority(), chance);
    let length = length(setting, chance);
    let text = format!("{} with slow disks", names(&sites));
    during(text, length, &sites, Action::SlowDisk, Action::FastDisk)
}

pub(super) fn full_disk(setting: &Setting, chance: &mut Chance) -> Fault {
    let site = [one(setting, chance)];
    let text = format!("{} with a full disk", names(&site));
    during(text, length(setting, chance), &site, Action::FillDisk, Action::EmptyDisk)
}

pub(super) fn descriptors(setting: &Setting, chance: &mut Chance) -> Fault {
    let site = [one(setting, chance)];
    let text = format!("{} without descriptors", names(&site));
    let length = length(setting, chance);
    during(text, length, &site, Action::FewDescriptors, Action::ManyDescriptors)
}

pub(super) fn wipe(setting: &Setting, chance: &mut Chance) -> Fault {
    let site = [one(setting, chance)];
    let text = format!("{} wiped", names(&site));
    during(text, length(setting, chance), &site, Action::Wipe, Action::Unwipe)
}
