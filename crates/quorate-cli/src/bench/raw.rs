//! The limit: a few bytes to other processes and back, with nothing in between but the sockets.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use quorate_net::clock;
use quorate_net::tls::Tls;

/// About as long as a message of the mutex.
const BYTES: usize = 64;

/// Anything that bytes travel on.
trait Wire: Read + Write {}

impl<T: Read + Write> Wire for T {}

/// Sends back whatever arrives, in threads of its own; says where.
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
    let mut stream: Box<dyn Wire> = match tls {
        None => Box::new(stream),
        Some(tls) => Box::new(tls.accept_blocking(stream)?),
    };
    let mut bytes = [0; BYTES];
    loop {
        stream.read_exact(&mut bytes)?;
        stream.write_all(&bytes)?;
    }
}

/// Writes to every echo, then waits for all of them, until it is time; how long each round took.
pub(super) fn rounds(echoes: &[String], tls: Option<&Tls>, until: u64) -> io::Result<Vec<u64>> {
    let mut streams: Vec<Box<dyn Wire>> = Vec::new();
    for echo in echoes {
        let stream = TcpStream::connect(echo)?;
        stream.set_nodelay(true)?;
        streams.push(match tls {
            None => Box::new(stream),
            Some(tls) => Box::new(tls.connect_blocking(stream)?),
        });
    }
    let (mut taken, mut bytes) = (Vec::new(), [0; BYTES]);
    loop {
        let start = clock::now().0;
        if start >= until {
            return Ok(taken);
        }
        for stream in &mut streams {
            stream.write_all(&bytes)?;
        }
        for stream in &mut streams {
            stream.read_exact(&mut bytes)?;
        }
        taken.push(clock::now().0 - start);
    }
}
