//! P47: clocks and random numbers that cost a system call each time.

use super::{Found, common_place, costly_call, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::kernel_work::{InKernel, passing_through};
use crate::syscall;
use crate::threads::call_end;
use case::Nanos;
use case::tables::Call;

detector! {
    /// # slow-clock-or-entropy
    ///
    /// ## What it is
    /// A request asks for a few random bytes, or for the time, hundreds of times, and each goes to the kernel. Random
    /// bytes do so unless a library keeps some in stock; clocks do where the kernel's time source cannot be read by
    /// programs (HPET, ACPI, some virtual machines), and always where the CPU time of a thread or a process is asked
    /// for.
    ///
    /// ## Evidence
    /// Fifty calls or more per request of `getrandom`, or reads of /dev/urandom and /dev/random, for 64 bytes or fewer;
    /// the time of these calls, and of opening and closing the device in between. Or CPU samples in the kernel's
    /// `clock_gettime` and `gettimeofday`, a twentieth of the requests' time or more: a clock that programs can read
    /// shows no such samples.
    ///
    /// ## What proves it
    /// Handing out random bytes from a stock that is filled 4 kB at a time. A clock cannot be made readable from
    /// outside.
    ///
    /// ## Remedy
    /// Ask for many random bytes at once and use them up, or seed a generator of the program's own; ask for the time
    /// once a request. On machines with another time source: clocksource=tsc, if the kernel calls it stable.
    ///
    /// ## Not to be confused with
    /// A start-up that waits until the kernel has entropy (a single long call); tiny-reads (from files and
    /// connections).
    "P47" "slow-clock-or-entropy",
    needs: &[Server]
}

/// A handshake asks for a few; per request.
const MANY: u64 = 50;

/// A key has 32 bytes, a nonce fewer. What asks for more at a time keeps a stock.
const FEW_BYTES: u64 = 64;

/// Where random bytes are read, if not by `getrandom`.
const DEVICES: [&str; 2] = ["/dev/urandom", "/dev/random"];

/// What the kernel's side of a clock's reading is called.
const CLOCKS: [&str; 4] =
    ["__x64_sys_clock_gettime", "__x64_sys_gettimeofday", "__x64_sys_time", "__ia32_sys_clock_gettime"];

/// From this share of the requests' time clocks count.
const FELT: f64 = 0.05;

/// Fewer samples than this say little about a share: 20 ms at the usual rate.
const SAMPLES: usize = 20;

fn detect(analysis: &Analysis) -> Option<Found> {
    if analysis.exchanges.is_empty() {
        return None;
    }
    let found = [entropy(analysis), clocks(analysis)];
    found.into_iter().flatten().max_by_key(|found| found.saving.wall)
}

fn entropy(analysis: &Analysis) -> Option<Found> {
    let count = analysis.exchanges.len() as u64;
    let devices: Vec<u32> = analysis
        .recording
        .paths
        .iter()
        .filter(|path| DEVICES.contains(&path.path.as_str()))
        .map(|path| path.id)
        .collect();
    let is_small = |call: &Call| {
        let of_device = || syscall::is_read(call.number) && devices.contains(&call.path);
        (call.number == syscall::GETRANDOM || of_device()) && (1..=FEW_BYTES as i64).contains(&call.result)
    };
    // A device that is opened and closed for each read costs more by that than by the read.
    let is_of_it = |call: &Call| is_small(call) || devices.contains(&call.path) && !syscall::is_read(call.number);
    let (mut asked, mut wall, mut cpu) = (Vec::new(), 0, 0);
    for (row, call) in analysis.recording.calls.iter().enumerate().filter(|(_, call)| is_of_it(call)) {
        let (inside, _) = analysis.split(call.tid, call.start.0, call_end(call));
        if inside > 0 {
            asked.extend(is_small(call).then_some(row));
            wall += inside;
            cpu += call.duration.0.saturating_sub(call.blocked.0);
        }
    }
    if (asked.len() as u64) < MANY * count {
        return None;
    }
    let each = asked.len() as u64 / count;
    let place = costly_call(analysis, asked.iter().map(|&row| (row, analysis.call(row).duration.0)));
    let what = format!("Each request asks the kernel for random bytes {each} times");
    let bytes = asked.iter().map(|&row| analysis.call(row).result as u64).sum::<u64>() / asked.len() as u64;
    Some(Found {
        title: format!(
            "{what}: {} of every {} request{}",
            Nanos(wall / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words()
        ),
        what,
        mechanism: vec![format!(
            "{} calls, for {bytes} bytes each; one takes {}.",
            asked.len(),
            Nanos(wall / asked.len() as u64)
        )],
        saving: PotentialSaving { wall, outside: 0, cpu, affected: count },
        place,
        remedy: "Ask for many random bytes at once and use them up, or seed a generator of the program's own."
            .to_string(),
        rows: rows("calls", asked),
        ..Found::default()
    })
}

fn clocks(analysis: &Analysis) -> Option<Found> {
    let count = analysis.exchanges.len() as u64;
    let InKernel { rows: found_rows, samples, wall, cpu } = passing_through(analysis, |name| CLOCKS.contains(&name));
    let share = Nanos(wall).share_of(Nanos(analysis.exchange_wall()));
    if samples.len() < SAMPLES || share.0 < FELT {
        return None;
    }
    let place = common_place(analysis, &samples);
    let what = "Requests ask the kernel for the time, again and again";
    Some(Found {
        title: format!(
            "{what}: {} of every {} request{}",
            Nanos(wall / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words()
        ),
        what: what.to_string(),
        mechanism: vec![format!(
            "{share} of the requests' time is spent in the kernel's clock: {} samples. A clock that programs can read has \
             none.",
            samples.len()
        )],
        saving: PotentialSaving { wall, outside: 0, cpu, affected: count },
        place,
        remedy: "Ask for the time once a request; on machines without a readable clock: clocksource=tsc.".to_string(),
        rows: rows("samples", found_rows),
        ..Found::default()
    })
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, MS, READ, US, WRITE, keep_alive, requests_in_kernel};
    use crate::syscall::GETRANDOM;
    use crate::tests::{answer, names};
    use case::Recording;

    /// Twenty requests, between whose parts the client asks so many times for so many bytes.
    fn asking(times: u32, number: u16, path: u32, bytes: i64) -> Recording {
        let mut fixture = keep_alive(1, 50 * US);
        fixture.path(1, "/dev/urandom");
        for _ in 0..20 {
            fixture.moves(CLIENT, 1, WRITE, 20);
            for _ in 0..times {
                fixture.does(CLIENT, 2 * US, number, |call| (call.fd, call.path, call.result) = (5, path, bytes));
            }
            fixture.waits_for(CLIENT, 1, MS, 100);
        }
        fixture.end()
    }

    fn is_found(recording: &Recording) -> bool {
        names(recording).contains(&"slow-clock-or-entropy".to_string())
    }

    #[test]
    fn a_device_that_is_opened_for_each_read_costs_its_opening_as_well() {
        const OPENAT: u16 = 257;
        let cost = |opens: bool| {
            let mut fixture = keep_alive(1, 50 * US);
            fixture.path(1, "/dev/urandom");
            for _ in 0..20 {
                fixture.moves(CLIENT, 1, WRITE, 20);
                for _ in 0..100 {
                    let path = u32::from(opens);
                    fixture.does(CLIENT, 6 * US, OPENAT, |call| (call.path, call.result) = (path, 5));
                    fixture.does(CLIENT, 2 * US, READ, |call| (call.fd, call.path, call.result) = (5, 1, 8));
                }
                fixture.waits_for(CLIENT, 1, MS, 100);
            }
            let answer = answer(&fixture.end());
            let finding = answer.findings.iter().find(|one| one.name == "slow-clock-or-entropy").expect("found");
            (finding.cost.ns_per_exchange, finding.evidence.rows.len())
        };
        let ((with, reads), (without, as_many)) = (cost(true), cost(false));
        assert!(with > 3 * without && reads == as_many, "{with} and {without}");
    }

    #[test]
    fn hundreds_of_random_numbers_for_each_request_are_found() {
        let answer = answer(&asking(300, GETRANDOM, 0, 8));
        let finding = answer.findings.iter().find(|finding| finding.name == "slow-clock-or-entropy").expect("found");
        assert!(
            finding.title.starts_with("Each request asks the kernel for random bytes 285 times"),
            "{}",
            finding.title
        );
        assert!(is_found(&asking(300, READ, 1, 8)));
    }

    #[test]
    fn a_few_and_many_bytes_at_a_time_are_left_alone() {
        assert!(!is_found(&asking(10, GETRANDOM, 0, 8)));
        assert!(!is_found(&asking(300, GETRANDOM, 0, 4_096)));
    }

    #[test]
    fn a_clock_that_is_read_in_the_kernel_is_found_and_other_work_there_is_not() {
        assert!(is_found(&requests_in_kernel("__x64_sys_clock_gettime", 8)));
        assert!(!is_found(&requests_in_kernel("__x64_sys_clock_gettime", 0)));
        assert!(!is_found(&requests_in_kernel("__x64_sys_write", 8)));
    }
}
