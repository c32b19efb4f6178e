//! The limit: a few bytes to other processes and back, with nothing in between but the sockets.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use quorate_server::clock;

/// About as long as a message of the mutex.
const BYTES: usize = 64;

/// Sends back whatever arrives, in threads of its own; says where.
pub(super) fn start_echo() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    thread::Builder::new().name("echo".into()).spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || drop(echo(stream)));
        }
    })?;
    Ok(address)
}

fn echo(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut bytes = [0; BYTES];
    loop {
        stream.read_exact(&mut bytes)?;
        stream.write_all(&bytes)?;
    }
}

/// Writes to every echo, then waits for all of them, until it is time; how long each round took.
pub(super) fn rounds(echoes: &[String], until: u64) -> io::Result<Vec<u64>> {
    let mut streams = Vec::new();
    for echo in echoes {
        let stream = TcpStream::connect(echo)?;
        stream.set_nodelay(true)?;
        streams.push(stream);
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
