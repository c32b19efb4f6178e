//! Raw round trips over blocking sockets: the lower limit that locks are compared with.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use quorate_net::clock;
use quorate_net::tls::Tls;

/// About the size of a message of the mutex.
const BYTES: usize = 64;

/// A plain or a TLS stream.
trait Stream: Read + Write {}

impl<T: Read + Write> Stream for T {}

/// Starts an echo server in its own threads. Returns its address.
pub(super) fn start_echo(tls: Option<Tls>) -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    thread::Builder::new().name("echo".into()).spawn(move || {
        for stream in listener.incoming().flatten() {
            let tls = tls.clone();
            thread::spawn(move || drop(echo(stream, tls.as_ref())));
        }
    })?;
    Ok(address)
}

fn echo(stream: TcpStream, tls: Option<&Tls>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream: Box<dyn Stream> = match tls {
        None => Box::new(stream),
        Some(tls) => Box::new(tls.accept_blocking(stream)?),
    };
    let mut bytes = [0; BYTES];
    loop {
        stream.read_exact(&mut bytes)?;
        stream.write_all(&bytes)?;
    }
}

/// Writes to every echo server, then waits for all replies, until `until`. Returns how long each
/// round took, in nanoseconds.
pub(super) fn round_trips(
    echoes: &[String],
    tls: Option<&Tls>,
    until: u64,
) -> io::Result<Vec<u64>> {
    let mut streams: Vec<Box<dyn Stream>> = Vec::new();
    for echo in echoes {
        let stream = TcpStream::connect(echo)?;
        stream.set_nodelay(true)?;
        streams.push(match tls {
            None => Box::new(stream),
            Some(tls) => Box::new(tls.connect_blocking(stream)?),
        });
    }
    let (mut times, mut bytes) = (Vec::new(), [0; BYTES]);
    loop {
        let start = clock::now().0;
        if start >= until {
            return Ok(times);
        }
        for stream in &mut streams {
            stream.write_all(&bytes)?;
        }
        for stream in &mut streams {
            stream.read_exact(&mut bytes)?;
        }
        times.push(clock::now().0 - start);
    }
}
