//! Runs a command under the meter, and prints its sums: `meter COMMAND...`. For measuring the meter against known
//! workloads, and what it costs. With METER_READ_MS it reads every so many milliseconds meanwhile, as a trial does.

use record::{Meter, Program, RecordError, Role};
use std::time::Duration;

fn main() -> Result<(), RecordError> {
    let arguments = std::env::args().skip(1).collect::<Vec<_>>();
    let pause = std::env::var("METER_READ_MS").ok().and_then(|text| text.parse().ok()).unwrap_or(5);
    let mut meter = Meter::load()?;
    let held = Program { arguments, ..Program::default() }.hold()?;
    meter.follow(held.pid(), Role::Client)?;
    let mut running = held.release()?;
    while running.poll()?.is_none() {
        meter.read();
        std::thread::sleep(Duration::from_millis(pause));
    }
    eprintln!("{:?}", meter.read());
    Ok(())
}
