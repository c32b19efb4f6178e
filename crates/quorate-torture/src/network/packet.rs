//! Frames as tunnels carry them: VXLAN, Ethernet, IPv4, TCP.

/// Lengths of the headers before that of IPv4.
const VXLAN: usize = 8;
const ETHERNET: usize = 14;
const IP: usize = VXLAN + ETHERNET;
/// Numbers of protocols.
const ETHERTYPE_IPV4: [u8; 2] = [8, 0];
const TCP: u8 = 6;
/// Flags of TCP.
const RST: u8 = 4;
const ACK: u8 = 16;

/// A frame with a TCP segment that is whole. Kernels leave checksums to the hardware, which a
/// tunnel does not have: so they are computed here.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    bytes: Vec<u8>,
    /// Where the segment begins.
    tcp: usize,
}

impl Packet {
    /// Parses what came out of a tunnel; nothing if it carries no TCP.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let ethertype = bytes.get(VXLAN + 12..IP)?;
        let ip = bytes.get(IP..)?;
        if ethertype != ETHERTYPE_IPV4 || ip.first()? >> 4 != 4 || *ip.get(9)? != TCP {
            return None;
        }
        let (header, total) = (usize::from(ip[0] & 15) * 4, usize::from(u16_at(ip, 2)?));
        if header < 20 || total < header + 20 || total > ip.len() {
            return None;
        }
        let bytes = bytes[..IP + total].to_vec();
        let mut packet = Self { bytes, tcp: IP + header };
        packet.sum();
        Some(packet)
    }

    /// The last byte of the address it goes to: the number of a node.
    pub(crate) fn destination(&self) -> u8 {
        self.bytes[IP + 19]
    }

    /// Whether it carries data, and is neither the beginning nor the end of a connection.
    pub(crate) fn has_data(&self) -> bool {
        let header = usize::from(self.bytes[self.tcp + 12] >> 4) * 4;
        self.bytes.len() > self.tcp + header
    }

    /// The packet that resets the connection in its place, at the end that it goes to.
    pub(crate) fn reset(mut self) -> Self {
        self.bytes.truncate(self.tcp + 20);
        self.bytes[self.tcp + 12] = 5 << 4;
        self.bytes[self.tcp + 13] = RST | ACK;
        let total = u16::try_from(self.bytes.len() - IP).expect("it was cut to two headers");
        self.bytes[IP + 2..IP + 4].copy_from_slice(&total.to_be_bytes());
        self.bytes[IP + 10..IP + 12].fill(0);
        let sum = checksum(&self.bytes[IP..self.tcp], 0);
        self.bytes[IP + 10..IP + 12].copy_from_slice(&sum.to_be_bytes());
        self.sum();
        self
    }

    /// Its bytes, for another tunnel.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Computes the checksum of the segment.
    fn sum(&mut self) {
        let field = self.tcp + 16;
        self.bytes[field..field + 2].fill(0);
        let length = u32::try_from(self.bytes.len() - self.tcp).unwrap_or_default();
        let addresses = &self.bytes[IP + 12..IP + 20];
        let pseudo = partial(addresses, 0) + u32::from(TCP) + length;
        let sum = checksum(&self.bytes[self.tcp..], pseudo);
        self.bytes[field..field + 2].copy_from_slice(&sum.to_be_bytes());
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// The sum of RFC 1071, not folded yet.
fn partial(bytes: &[u8], start: u32) -> u32 {
    bytes.chunks(2).fold(start, |sum, pair| {
        sum + u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]))
    })
}

fn checksum(bytes: &[u8], start: u32) -> u16 {
    let mut sum = partial(bytes, start);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !u16::try_from(sum).expect("it was folded to 16 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A segment with five bytes of data, from 10.1.0.1 to 10.1.0.2.
    fn frame() -> Vec<u8> {
        let mut bytes = vec![0; IP];
        bytes[VXLAN + 12..IP].copy_from_slice(&ETHERTYPE_IPV4);
        bytes.extend([0x45, 0, 0, 45, 0, 0, 0, 0, 64, TCP, 0, 0, 10, 1, 0, 1, 10, 1, 0, 2]);
        bytes.extend([0; 12]);
        bytes.extend([5 << 4, ACK, 0, 0, 0, 0, 0, 0]);
        bytes.extend(*b"hello");
        bytes
    }

    fn is_summed(packet: &Packet) -> bool {
        let bytes = packet.bytes();
        let length = u32::try_from(bytes.len() - packet.tcp).unwrap();
        let pseudo = partial(&bytes[IP + 12..IP + 20], u32::from(TCP) + length);
        checksum(&bytes[packet.tcp..], pseudo) == 0
    }

    #[test]
    fn a_segment_gets_its_checksum() {
        let packet = Packet::parse(&frame()).unwrap();
        assert!(is_summed(&packet));
        assert!(packet.has_data());
        assert_eq!(packet.destination(), 2);
    }

    #[test]
    fn a_reset_has_no_data_and_right_sums() {
        let packet = Packet::parse(&frame()).unwrap().reset();
        assert!(is_summed(&packet) && !packet.has_data());
        assert_eq!(checksum(&packet.bytes()[IP..packet.tcp], 0), 0);
        assert_eq!(packet.bytes()[packet.tcp + 13], RST | ACK);
    }

    #[test]
    fn nothing_else_is_taken_for_a_segment() {
        let frame = frame();
        for length in 0..IP + 40 {
            assert!(Packet::parse(&frame[..length]).is_none(), "{length}");
        }
        for at in [VXLAN + 12, IP, IP + 9] {
            let mut bytes = frame.clone();
            bytes[at] = 0xff;
            assert!(Packet::parse(&bytes).is_none(), "{at}");
        }
    }
}
