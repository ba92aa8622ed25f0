//! Processor time, of the user's and of the kernel's code.

use super::*;

/// Compiled, so that its user time is its own.
const BUSY: &str = "
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
int main(int count, char **arguments) {
    long most = atol(arguments[1]) * 1000, calls = count > 2;
    struct rusage usage;
    volatile long turns = 0;
    do {
        if (calls)
            for (int call = 0; call < 20000; call++) getppid();
        else
            for (long turn = 0; turn < 2000000; turn++) turns++;
        getrusage(RUSAGE_SELF, &usage);
    } while (usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec
             + usage.ru_stime.tv_sec * 1000000 + usage.ru_stime.tv_usec < most);
    return 0;
}
";

pub(super) fn compile(folder: &Path) -> PathBuf {
    std::fs::write(folder.join("busy.c"), BUSY).expect("written");
    let made = std::process::Command::new("cc").args(["-O1", "busy.c", "-o", "busy"]).current_dir(folder).status();
    assert!(made.expect("a compiler").success());
    folder.join("busy")
}

#[test]
fn a_loop_of_300_ms_is_300_ms_of_user_time_also_after_its_end() {
    let Some(mut bench) = Bench::new() else { return };
    let busy = compile(bench.folder.path());
    let program = Program { arguments: vec![busy.display().to_string(), "300".into()], ..bench.python("", &[]) };
    let mut client = bench.run(&program, Some(Role::Client));
    std::thread::sleep(Duration::from_millis(100));
    let early = bench.meter.read();
    assert!(early.client_user.0 > 0, "a running thread's time counts at once");
    wait_for(&mut client);
    let reading = bench.meter.read();
    let used = milliseconds(reading.client_user);
    assert!((270.0..330.0).contains(&used), "{used} ms of user time");
    assert!(milliseconds(reading.client_system) < 30.0, "{reading:?}");
    assert_eq!(reading.server_user, Nanos(0));
    assert_eq!(reading.exchanges, 0);
    bench.meter.clear();
    let cleared = bench.meter.read();
    assert_eq!(cleared, Reading { time: cleared.time, ..Reading::default() });
}

#[test]
fn a_program_that_sleeps_takes_no_time_however_idle_the_processors_are() {
    let Some(mut bench) = Bench::new() else { return };
    for _ in 0..5 {
        bench.meter.clear();
        let sleep = Program { arguments: vec!["sleep".into(), "0.2".into()], ..Program::default() };
        let mut running = bench.run(&sleep, Some(Role::Client));
        wait_for(&mut running);
        let reading = bench.meter.read();
        let used = milliseconds(reading.client_user) + milliseconds(reading.client_system);
        assert!(used < 50.0, "{reading:?}");
        assert_eq!(reading.server_user + reading.server_system, Nanos(0));
    }
}

#[test]
fn time_in_calls_is_system_time() {
    let Some(mut bench) = Bench::new() else { return };
    let shell = "dd if=/dev/zero of=/dev/null bs=4M count=400 2>/dev/null";
    let program = Program { arguments: ["sh", "-c", shell].map(ToString::to_string).to_vec(), ..bench.python("", &[]) };
    let mut server = bench.run(&program, Some(Role::Server));
    wait_for(&mut server);
    let reading = bench.meter.read();
    assert!(reading.server_system.0 > 4 * reading.server_user.0, "{reading:?}");
    assert_eq!(reading.client_system, Nanos(0));
}

#[test]
fn readings_do_not_fall() {
    let Some(mut bench) = Bench::new() else { return };
    let busy = compile(bench.folder.path());
    let program =
        Program { arguments: vec![busy.display().to_string(), "200".into(), "calls".into()], ..bench.python("", &[]) };
    let mut client = bench.run(&program, Some(Role::Client));
    let mut before = bench.meter.read();
    while client.poll().expect("a status").is_none() {
        let reading = bench.meter.read();
        // Where another tracer comes or goes meanwhile, a switch can be missed: less than a time slice is moved then.
        let fall = |before: Nanos, after: Nanos| before.0.saturating_sub(after.0);
        let most = fall(before.client_user, reading.client_user).max(fall(before.client_system, reading.client_system));
        assert!(most < 100_000, "{before:?} {reading:?}");
        before = reading;
    }
    // Whoever reads may have had no turn before the end.
    let last = bench.meter.read();
    assert!(milliseconds(last.client_system + last.client_user) > 150.0, "{before:?} {last:?}");
}
