//! `quorate cert`: certificates for a cluster.

use std::path::PathBuf;

use clap::Args;
use quorate_server::certificates::make_certificates;
use quorate_terminal::answer::{Answer, Failure, Verdict, say_lines};

/// Makes certificates for a cluster that speaks TLS
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate cert certs --sites 3")]
pub(crate) struct Cert {
    /// The folder they are written to; files that are there are left alone
    folder: PathBuf,
    /// How many sites the cluster has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    sites: u16,
}

impl Cert {
    /// Makes them, and says what goes where.
    pub(crate) fn run(&self) -> Answer {
        let files =
            make_certificates(&self.folder, usize::from(self.sites)).map_err(Failure::of)?;
        let folder = self.folder.display();
        let mut lines = vec![format!("wrote {} files to {folder}:", files.len())];
        lines.extend(files.iter().map(|file| format!("  {file}")));
        lines.extend([
            String::new(),
            "Each site gets ca.pem and its own two files, named in its site.toml:".into(),
            "  [tls]".into(),
            "  ca = \"ca.pem\"".into(),
            "  cert = \"site-1.pem\"".into(),
            "  key = \"site-1.key\"".into(),
            "Each client gets ca.pem and the two of the client:".into(),
            "  quorate sites --ca ca.pem --cert client.pem --key client.key --connect HOST:7420"
                .into(),
            "The key of the authority was not kept: for another site, make all of them anew."
                .into(),
        ]);
        say_lines(&lines)?;
        Ok(Verdict::Clean)
    }
}
