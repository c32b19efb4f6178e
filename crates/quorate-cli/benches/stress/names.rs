//! Many names held through site 1, while each other site restarts, pauses or is cut off.

use std::sync::mpsc;
use std::thread;

use quorate::Guard;

use crate::Arguments;
use crate::bystander::Bystander;
use crate::client::{hold_names, run as run_client};
use crate::sites::Sites;

/// Prints for each disturbance how many grants were lost, and the longest stall of a bystander.
pub(crate) fn run(arguments: &Arguments) {
    let mut sites = Sites::start(arguments);
    let holder = Holder::start(sites.address(1), arguments.count);
    println!("{} names held through site 1 of {}", arguments.count, arguments.sites);
    let last = arguments.sites;
    for site in 2..=last {
        observe(&mut sites, &holder, &format!("site {site} restarts"), |it| it.restart(site));
    }
    for site in 2..=last {
        observe(&mut sites, &holder, &format!("site {site} pauses"), |it| it.pause(site));
    }
    observe(&mut sites, &holder, &format!("site {last} is cut off"), |it| it.cut());
    for site in 1..=last {
        println!("peak memory of site {site}: {} MiB", sites.cluster.peak_memory(site));
    }
}

fn observe(sites: &mut Sites, holder: &Holder, what: &str, disturb: impl FnOnce(&mut Sites)) {
    let bystander = Bystander::start(sites.address(1));
    disturb(sites);
    println!("{what}: {} lost; bystander: {}", holder.lost(), bystander.finish());
}

/// A thread whose client holds many names.
struct Holder {
    questions: tokio::sync::mpsc::UnboundedSender<mpsc::Sender<usize>>,
}

impl Holder {
    fn start(address: String, count: usize) -> Self {
        let (questions, mut asked) = tokio::sync::mpsc::unbounded_channel::<mpsc::Sender<usize>>();
        let (ready, is_ready) = mpsc::channel();
        thread::spawn(move || {
            run_client(async move {
                let guards = hold_names(address, count).await;
                ready.send(()).expect("somebody waits");
                while let Some(answer) = asked.recv().await {
                    let lost = |guard: &&Guard| !guard.is_valid();
                    answer.send(guards.iter().filter(lost).count()).expect("somebody waits");
                }
            });
        });
        is_ready.recv().expect("all names were granted");
        Self { questions }
    }

    /// How many grants are lost.
    fn lost(&self) -> usize {
        let (answer, answered) = mpsc::channel();
        self.questions.send(answer).expect("the holder runs");
        answered.recv().expect("the holder runs")
    }
}
