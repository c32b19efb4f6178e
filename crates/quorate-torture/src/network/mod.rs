//! Hosts of their own for all processes: namespaces of network and time, and a router between them.
//!
//! Each host has a tunnel (VXLAN), and all tunnels end at the router, which is a UDP socket of this
//! process. So packets can be lost, delayed, doubled, reordered, stalled and forged below TCP,
//! without any help of the kernel.

pub(crate) mod launch;
mod packet;
pub(crate) mod router;
pub(crate) mod rules;

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use self::router::{ADDRESS, PORT, host, tunnel_end};
use self::rules::Node;
use crate::clock::own_time;

/// How the processes of a run are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Isolation {
    /// Each has a network of its own, and the router is between them.
    pub(crate) network: bool,
    /// Each has a clock of its own.
    pub(crate) time: bool,
}

/// The address of a node, as others see it.
pub(crate) fn address(node: Node, isolation: Isolation) -> String {
    let host = host(node);
    if isolation.network { format!("10.1.0.{host}") } else { format!("127.77.0.{host}") }
}

/// Makes the hosts of so many nodes. This process must be in namespaces of its own.
pub(crate) fn make_hosts(nodes: usize) -> io::Result<()> {
    run("mount", &["-t", "tmpfs", "none", "/run"])?;
    let mut lines = format!(
        "link set lo up\nlink add br0 type bridge\naddr add {ADDRESS}/24 dev br0\nlink set br0 up\n"
    );
    for node in 0..nodes {
        let name = host(node);
        writeln!(lines, "netns add n{name}").expect("a string takes all");
        writeln!(lines, "link add u{name} type veth peer name under netns n{name}")
            .expect("a string takes all");
        writeln!(lines, "link set u{name} master br0 up").expect("a string takes all");
    }
    batch(&[], &lines)?;
    for node in 0..nodes {
        batch(&["-n", &format!("n{}", host(node))], &inside(node, nodes))?;
    }
    Ok(())
}

/// What is set up inside the network of a node.
fn inside(node: Node, nodes: usize) -> String {
    let (end, own) = (tunnel_end(node), host(node));
    let mut lines = format!(
        "link set lo up\naddr add {end}/24 dev under\nlink set under up\n\
         link add tunnel address 02:00:00:00:00:{own:02x} type vxlan id 1 remote {ADDRESS} \
         dstport {PORT}\n\
         addr add 10.1.0.{own}/24 dev tunnel\nlink set tunnel mtu 1400 up\n"
    );
    for other in (0..nodes).filter(|other| *other != node).map(host) {
        writeln!(
            lines,
            "neigh add 10.1.0.{other} lladdr 02:00:00:00:00:{other:02x} dev tunnel nud permanent"
        )
        .expect("a string takes all");
    }
    lines
}

/// Whether a process can have a clock of its own: tries it.
pub(crate) fn has_time_namespaces() -> bool {
    let offset = Duration::from_secs(100_000);
    let Ok(program) = std::env::current_exe() else { return false };
    let mut command = Command::new(&program);
    command.args(["launch", "--offset", &offset.as_nanos().to_string(), "--"]);
    let output = command.arg(&program).arg("clock").output();
    let shown = output.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    let shown = shown.and_then(|text| text.trim().parse().ok()).map(Duration::from_nanos);
    shown.is_some_and(|shown| shown.abs_diff(own_time() + offset) < Duration::from_secs(100))
}

fn batch(arguments: &[&str], lines: &str) -> io::Result<()> {
    let mut command = Command::new("ip");
    command.args(arguments).args(["-batch", "-"]).stdin(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(lines.as_bytes())?;
    }
    let status = child.wait()?;
    if status.success() { Ok(()) } else { Err(io::Error::other("`ip` cannot make the hosts")) }
}

/// Runs a program to its end.
pub(crate) fn run(program: &str, arguments: &[&str]) -> io::Result<()> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| io::Error::other(format!("`{program}`: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("`{program} {}`: {}", arguments.join(" "), said.trim())))
}
