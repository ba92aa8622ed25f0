//! What the tests of running programs share: a program in Python, a finding, and how it is tried.

// Each test file is a program of its own and uses a part of this.
#![allow(dead_code)]

use case::{Cost, Finding, Status};
use lab::Journal;
use lab::live::{Live, LiveTerms, switch};
use record::{Nodelay, Role, sockets_of};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// While a tracer comes or goes, others can miss what happens.
static ALONE: Mutex<()> = Mutex::new(());

pub fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub struct Ours(pub Child);

impl Ours {
    pub fn python(script: &str, arguments: &[&str]) -> Ours {
        let mut command = Command::new("/usr/bin/python3");
        let command = command.args(["-c", script]).args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
        Ours(command.spawn().expect("python"))
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    pub fn first_line(&mut self) -> String {
        let mut line = String::new();
        let mut said = std::io::BufReader::new(self.0.stdout.as_mut().expect("a pipe"));
        std::io::BufRead::read_line(&mut said, &mut line).expect("read");
        line.trim().to_string()
    }

    pub fn runs(&mut self) -> bool {
        self.0.try_wait().expect("polled").is_none()
    }

    /// How the option is set on its only connection.
    pub fn nodelay(&self) -> Option<Nodelay> {
        let sockets = sockets_of(&[self.pid()]);
        sockets.iter().find(|socket| !socket.is_listener)?.nodelay().expect("read")
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn finding(id: &str) -> Finding {
    Finding {
        id: id.into(),
        name: "a-cause".into(),
        status: Status::Suspected,
        cost: Cost { ns_per_exchange: 40_000_000, share_of_wall: 0.9, ..Cost::default() },
        ..Finding::default()
    }
}

pub const SILENT: &dyn Fn(&str) = &|_| ();

pub fn terms(role: Role) -> LiveTerms<'static> {
    let (window, budget) = (Duration::from_millis(500), Duration::from_secs(30));
    LiveTerms { window, budget, role, origin: None, say: SILENT }
}

pub fn patient(time: Duration) -> bool {
    std::thread::sleep(time);
    false
}

pub fn try_on(id: &str, process: &Ours, role: Role, journal: &Journal) -> Live {
    switch(&finding(id), process.pid(), &terms(role), journal, &mut patient).expect("tried")
}

pub fn rates(live: &Live, on: bool) -> Vec<f64> {
    let windows = live.switched.windows.iter().filter(|window| window.on == on);
    windows.map(|window| window.exchanges as f64 / window.wall_ns as f64 * 1e9).collect()
}
