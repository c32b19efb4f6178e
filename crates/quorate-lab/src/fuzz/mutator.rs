//! Changes packets in one to four places. Most results are still packets.

use std::collections::BTreeMap;

use quorate_wire::Decoder;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::chance::Chance;
use super::spans::{Encoded, Sort, Span, read_varint, varint};

/// The most values of each type that are kept.
const KEPT: usize = 48;

/// Values that true packets have contained, by the name of their type: they take the place of
/// others of that type.
#[derive(Clone, Debug, Default)]
pub(super) struct Dictionary(BTreeMap<&'static str, Vec<Vec<u8>>>);

/// The dictionary's name for numbers and texts.
fn name(span: &Span) -> &'static str {
    match span.sort {
        Sort::Named(name) => name,
        Sort::Number(_) => "a number",
        Sort::Byte => "a byte",
        Sort::Text => "a text",
        Sort::List(_) => "a list",
    }
}

impl Dictionary {
    /// Keeps the values in a packet, each in the place of an older one.
    pub(super) fn learn(&mut self, packet: &Encoded, chance: &mut Chance) {
        for span in &packet.spans {
            let bytes = packet.bytes[span.start..span.end].to_vec();
            let values = self.0.entry(name(span)).or_default();
            if values.len() < KEPT {
                values.push(bytes);
            } else {
                let place = chance.index(KEPT);
                values[place] = bytes;
            }
        }
    }

    fn draw(&self, name: &str, chance: &mut Chance) -> Option<&[u8]> {
        let values = self.0.get(name)?;
        Some(&values[chance.index(values.len())])
    }
}

/// A changed copy of a packet; `None` if the decoder refuses it.
pub(super) fn mutate<T: Serialize + DeserializeOwned>(
    packet: &T,
    dictionary: &Dictionary,
    chance: &mut Chance,
) -> Option<T> {
    decode(&mutated_bytes(packet, dictionary, chance)?)
}

/// The bytes of a changed packet, without the header of a frame.
pub(super) fn mutated_bytes<T: Serialize>(
    packet: &T,
    dictionary: &Dictionary,
    chance: &mut Chance,
) -> Option<Vec<u8>> {
    let Encoded { mut bytes, spans, .. } = Encoded::of(packet)?;
    let changes = 1 + chance.index(10) / 6 + chance.index(10) / 8 + chance.index(10) / 9;
    let mut places: Vec<&Span> =
        (0..changes).filter_map(|_| spans.get(chance.index(spans.len().max(1)))).collect();
    // From the back, so that the places before stay where they are.
    places.sort_by_key(|span| (span.start, span.end));
    let mut before = bytes.len();
    for span in places.into_iter().rev() {
        if span.end <= before {
            let new = change(&bytes[span.start..span.end], span, dictionary, chance);
            bytes.splice(span.start..span.end, new);
            before = span.start;
        }
    }
    if chance.below(64) == 0 {
        let place = chance.index(bytes.len());
        bytes[place] ^= 1 << chance.index(8);
    }
    Some(bytes)
}

/// A value, if the decoder of the wire accepts these bytes as one frame.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let mut decoder = Decoder::default();
    decoder.extend(&u32::try_from(bytes.len()).ok()?.to_le_bytes());
    decoder.extend(bytes);
    decoder.next().ok().flatten()
}

/// Other bytes in the place of a field.
fn change(old: &[u8], span: &Span, dictionary: &Dictionary, chance: &mut Chance) -> Vec<u8> {
    let drawn = dictionary.draw(name(span), chance).map(<[u8]>::to_vec);
    match &span.sort {
        Sort::Number(bits) => {
            if let Some(drawn) = drawn.filter(|_| chance.below(4) == 0) {
                return drawn;
            }
            let mut bytes = Vec::new();
            varint(number(read_varint(old), *bits, chance), &mut bytes);
            bytes
        }
        Sort::Byte => vec![u8::try_from(chance.below(3)).expect("it is small")],
        Sort::List(items) if chance.below(2) == 0 => change_list(old, span, items, chance),
        Sort::Named("Option") if chance.below(3) == 0 => vec![0],
        _ => drawn.unwrap_or_else(|| old.to_vec()),
    }
}

/// Another number: near the old one, near a power of two, or any.
fn number(old: u128, bits: u32, chance: &mut Chance) -> u128 {
    let near = u128::from(chance.below(4));
    let value = match chance.below(8) {
        0 => 0,
        1 => old.wrapping_add(1 + near),
        2 => old.wrapping_sub(1 + near),
        3 => u128::MAX - near,
        4 => (1 << chance.below(u64::from(bits))) + near,
        5 => (1_u128 << chance.below(u64::from(bits))).wrapping_sub(1 + near),
        6 => old.wrapping_add(1 << chance.below(u64::from(bits))),
        _ => near,
    };
    if bits == 128 { value } else { value & ((1 << bits) - 1) }
}

/// Repeats or removes an item, or empties the list.
fn change_list(old: &[u8], span: &Span, items: &[usize], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = Vec::new();
    let starts: Vec<usize> = items.iter().map(|item| item - span.start).collect();
    let ends = starts.iter().skip(1).copied().chain([old.len()]);
    let mut all: Vec<&[u8]> =
        starts.iter().zip(ends).map(|(start, end)| &old[*start..end]).collect();
    if !all.is_empty() {
        let place = chance.index(all.len());
        match chance.below(3) {
            0 => drop(all.remove(place)),
            1 => all.clear(),
            _ => all.insert(chance.index(all.len()), all[place]),
        }
    }
    varint(all.len() as u128, &mut bytes);
    for item in all {
        bytes.extend_from_slice(item);
    }
    bytes
}
