//! How fast this machine is now. What a test waits for, allows or grants in time is stretched accordingly, so that the
//! same tests hold on a slow machine and beside busy neighbours.

use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A fixed piece of work of the kind that subjects do: a program is started, two processes pass a byte to and fro, and a
/// loop computes.
const WORK: &str = r#"
import os, ssl
end, begin = os.pipe(), os.pipe()
if os.fork() == 0:
    while os.read(begin[0], 1) == b"x":
        os.write(end[1], b"x")
    os._exit(0)
for _ in range(20_000):
    os.write(begin[1], b"x")
    os.read(end[0], 1)
os.write(begin[1], b".")
sum(number * number for number in range(1_000_000))
"#;
/// What the work takes on the machine that the tests' figures are from, when nothing else runs there.
const USUAL: Duration = Duration::from_millis(400);
/// How often it is measured; the median counts, because a single one may meet a pause.
const MEASUREMENTS: usize = 3;
/// A machine slower than this by its own is not one for these tests.
const MOST: f64 = 15.0;

/// How many times slower this machine is than the one that the tests' figures are from, at least 1. Measured once.
pub fn slowness() -> f64 {
    static SLOWNESS: OnceLock<f64> = OnceLock::new();
    *SLOWNESS.get_or_init(|| {
        let python = python();
        let mut took = [(); MEASUREMENTS].map(|()| work(&python));
        took.sort_unstable();
        (took[MEASUREMENTS / 2].as_secs_f64() / USUAL.as_secs_f64()).clamp(1.0, MOST)
    })
}

/// The path of the interpreter that `python3` starts: where that is a version manager's shim, the shim takes longer than most
/// scripts.
pub fn python() -> String {
    let printed = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().expect("python3");
    String::from_utf8(printed.stdout).expect("a path").trim_end().to_string()
}

fn work(python: &str) -> Duration {
    let begun = Instant::now();
    let status = Command::new(python).args(["-c", WORK]).stdin(Stdio::null()).status();
    assert!(status.expect("python3").success());
    begun.elapsed()
}

/// A time stretched to this machine's speed.
pub fn stretched(time: Duration) -> Duration {
    time.mul_f64(slowness())
}

/// A budget for `--budget`, stretched to this machine's speed.
pub fn budget(seconds: u32) -> String {
    format!("{:.0}s", (f64::from(seconds) * slowness()).ceil())
}
