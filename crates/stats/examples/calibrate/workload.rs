//! The real work that is timed: about 1 to 3 ms a trial, of three kinds that disturb each in their own way.

use std::hint::black_box;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, ExitCode, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::Instant;

use stats::theil_sen;

/// The word that makes this program the compute workload.
pub const COMPUTE: &str = "--compute";

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// A process that only computes.
    Compute,
    /// Requests and answers between two threads over loopback TCP.
    PingPong,
    /// fork and exec of /bin/true.
    Spawn,
}

impl Workload {
    pub const ALL: [Workload; 3] = [Workload::Compute, Workload::PingPong, Workload::Spawn];

    pub fn name(self) -> &'static str {
        match self {
            Workload::Compute => "compute",
            Workload::PingPong => "ping-pong",
            Workload::Spawn => "fork-exec",
        }
    }

    /// How much of it makes a trial.
    fn amount(self) -> u64 {
        match self {
            Workload::Compute => 2_000_000,
            Workload::PingPong => 300,
            Workload::Spawn => 5,
        }
    }

    /// The amounts of both arms: the first is `ratio` times as long, start-up included.
    pub fn amounts(self, ratio: f64) -> io::Result<(u64, u64)> {
        let amount = self.amount();
        if ratio <= 1.0 {
            return Ok((amount, amount));
        }
        let longer = amount as f64 * ratio + (ratio - 1.0) * self.start_up()?;
        Ok((longer.round() as u64, amount))
    }

    /// What a trial of nothing costs, in units of the amount: measured once.
    fn start_up(self) -> io::Result<f64> {
        static MEASURED: OnceLock<f64> = OnceLock::new();
        if self != Workload::Compute {
            return Ok(0.0);
        }
        if let Some(measured) = MEASURED.get() {
            return Ok(*measured);
        }
        let mut points = Vec::new();
        for round in 0..600 {
            let amount = self.amount() * (round % 3) / 2;
            points.push((amount as f64, self.time(amount)?));
        }
        let line = theil_sen(&points, 0.95).ok_or(io::Error::other("no line through the compute workload's times"))?;
        Ok(*MEASURED.get_or_init(|| line.intercept / line.slope))
    }

    /// Does it once; returns seconds.
    pub fn time(self, amount: u64) -> io::Result<f64> {
        let start = Instant::now();
        match self {
            Workload::Compute => {
                run(Command::new(std::env::current_exe()?).arg(COMPUTE).arg(amount.to_string()))?;
            }
            Workload::PingPong => ping_pong(amount)?,
            Workload::Spawn => {
                for _ in 0..amount {
                    run(&mut Command::new("/bin/true"))?;
                }
            }
        }
        Ok(start.elapsed().as_secs_f64())
    }
}

fn run(command: &mut Command) -> io::Result<()> {
    let status = command.stdin(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{command:?}: {status}"))) }
}

/// The compute workload's process: `rounds` of a multiplication that depends on the one before.
pub fn compute(rounds: &str) -> ExitCode {
    let Ok(rounds) = rounds.parse::<u64>() else { return ExitCode::from(2) };
    let mut value = black_box(1_u64);
    for _ in 0..rounds {
        value = black_box(value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
    ExitCode::SUCCESS
}

/// Connects anew, then asks and answers `exchanges` times, 64 bytes each.
fn ping_pong(exchanges: u64) -> io::Result<()> {
    let mut stream = TcpStream::connect(echo_server()?)?;
    stream.set_nodelay(true)?;
    let mut message = [7_u8; 64];
    for _ in 0..exchanges {
        stream.write_all(&message)?;
        stream.read_exact(&mut message)?;
    }
    Ok(())
}

/// The address of a thread that sends back what it reads.
fn echo_server() -> io::Result<std::net::SocketAddr> {
    static LISTENER: OnceLock<std::net::SocketAddr> = OnceLock::new();
    if let Some(address) = LISTENER.get() {
        return Ok(*address);
    }
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that goes away ends its connection, not the server.
            let _ = echo(stream);
        }
    });
    Ok(*LISTENER.get_or_init(|| address))
}

fn echo(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut message = [0_u8; 64];
    loop {
        stream.read_exact(&mut message)?;
        stream.write_all(&message)?;
    }
}
