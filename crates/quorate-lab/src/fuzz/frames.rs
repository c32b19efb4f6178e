//! Changed frames for the decoder.

use quorate_quorum::SiteId;
use quorate_session::client::ClientId;
use quorate_site::SitePacket;
use quorate_wire::{ClientPacket, Decoder, Handshake, HandshakeReply, Who};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::chance::Chance;
use super::cluster::{Arrival, Cluster, Locks};
use super::judge::caught;
use super::mutator::{Dictionary, mutated_bytes};
use super::spans::Encoded;

/// What became of changed frames.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frames {
    /// How many were decoded as something.
    pub accepted: u64,
    /// How many were refused.
    pub refused: u64,
}

/// True packets of a run, to be changed.
struct Corpus {
    dictionary: Dictionary,
    sites: Vec<SitePacket>,
    clients: Vec<ClientPacket>,
    handshakes: [Handshake; 2],
}

/// How many things happen in the run that the packets come from.
const STEPS: u32 = 4_000;

/// Decodes `count` changed frames: of sites, of clients, and of handshakes.
///
/// # Errors
///
/// A panic of the decoder.
pub fn frames(seed: u64, count: u64) -> Result<Frames, String> {
    let mut chance = Chance::new(seed);
    let corpus = corpus(&mut chance)?;
    let mut done = Frames::default();
    for _ in 0..count {
        let accepted = caught(|| Ok(attempt(&corpus, &mut chance)))?;
        done.accepted += u64::from(accepted);
        done.refused += u64::from(!accepted);
    }
    Ok(done)
}

/// Decodes one changed frame; true if it is accepted.
fn attempt(corpus: &Corpus, chance: &mut Chance) -> bool {
    let handshake = &corpus.handshakes[chance.index(2)];
    match chance.below(20) {
        0 => decoded::<_, Handshake>(handshake, corpus, chance)
            .is_some_and(|found| found.version().is_ok() && found.who().is_ok()),
        1 => decoded::<_, HandshakeReply>(handshake, corpus, chance).is_some(),
        2..8 => {
            let packet = &corpus.clients[chance.index(corpus.clients.len())];
            decoded::<_, ClientPacket>(packet, corpus, chance).is_some()
        }
        _ => {
            let packet = &corpus.sites[chance.index(corpus.sites.len())];
            decoded::<_, SitePacket>(packet, corpus, chance).is_some()
        }
    }
}

/// A changed frame, decoded; its length may be wrong too.
fn decoded<T: Serialize, D: DeserializeOwned>(
    value: &T,
    corpus: &Corpus,
    chance: &mut Chance,
) -> Option<D> {
    let bytes = mutated_bytes(value, &corpus.dictionary, chance)?;
    let mut length = u32::try_from(bytes.len()).ok()?.to_le_bytes();
    if chance.below(50) == 0 {
        length[chance.index(4)] ^= 1 << chance.index(8);
    }
    let mut decoder = Decoder::default();
    decoder.extend(&length);
    decoder.extend(&bytes);
    decoder.next().ok().flatten()
}

fn corpus(chance: &mut Chance) -> Result<Corpus, String> {
    let configuration = [("cluster", "prod"), ("lease_ms", "3000")].into_iter().collect();
    let site = Who::Site { from: SiteId::new(0), to: SiteId::new(1), configuration };
    let handshakes = [Handshake::new(&site), Handshake::new(&Who::Client(ClientId(77)))];
    let (mut sites, mut clients) = (Vec::new(), Vec::new());
    let mut dictionary = Dictionary::default();
    let mut cluster = Cluster::new(Locks::Mixed, None);
    cluster.connect()?;
    for _ in 0..STEPS {
        let Some(arrival) = cluster.step(chance)? else { continue };
        let encoded = match &arrival {
            Arrival::Site { packet, .. } => {
                sites.push(packet.clone());
                Encoded::of(packet)
            }
            Arrival::Client { packet, .. } => {
                clients.push(packet.clone());
                Encoded::of(packet)
            }
        };
        if let Some(encoded) = encoded {
            dictionary.learn(&encoded, chance);
        }
        cluster.deliver(arrival)?;
    }
    Ok(Corpus { dictionary, sites, clients, handshakes })
}
