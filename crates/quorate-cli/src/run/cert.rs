//! `quorate cert`: certificates for a cluster.

use std::path::PathBuf;

use clap::Args;
use quorate_server::certificates::make_certificates;
use quorate_terminal::answer::{Answer, Failure, Verdict, print_lines};

/// Create certificates for a cluster that uses TLS
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate cert certs --sites 3")]
pub(crate) struct Cert {
    /// The directory to write them to; existing files are not overwritten
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The number of sites of the cluster
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    sites: u16,
}

impl Cert {
    /// Writes the certificates, and prints which process needs which.
    pub(crate) fn run(&self) -> Answer {
        let files =
            make_certificates(&self.folder, usize::from(self.sites)).map_err(Failure::of)?;
        let folder = self.folder.display();
        let mut lines = vec![format!("wrote {} files to {folder}:", files.len())];
        lines.extend(files.iter().map(|file| format!("  {file}")));
        lines.extend([
            String::new(),
            "Each site needs ca.pem and its own two files, named in its site.toml:".into(),
            "  [tls]".into(),
            "  ca = \"ca.pem\"".into(),
            "  cert = \"site-1.pem\"".into(),
            "  key = \"site-1.key\"".into(),
            "Each client needs ca.pem and the two files of the client:".into(),
            "  quorate sites --ca ca.pem --cert client.pem --key client.key --connect HOST:7420"
                .into(),
            "The authority's private key was not kept: to add a site, create all of them again."
                .into(),
        ]);
        print_lines(&lines)?;
        Ok(Verdict::Clean)
    }
}
