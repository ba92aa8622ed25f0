//! P54: a switch in the environment or on the command line that makes the runtime slow.

mod limit;

use super::{Found, common_place, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::code::base_name;
use case::switches::{self, Does, Part, SetIn, Switch};
use case::tables::{Process, Sample};
use case::{Nanos, Share};
use std::collections::BTreeMap;

detector! {
    /// # costly-switch
    ///
    /// ## What it is
    /// A program runs with a variable in its environment, or an option on its command line, that is meant for developers
    /// or for tests and makes whatever it does slow: Python traces every allocation (PYTHONTRACEMALLOC, -X tracemalloc),
    /// Java only interprets (-Xint, also in JAVA_TOOL_OPTIONS), Node.js has no compiler (--jitless, also in NODE_OPTIONS),
    /// OpenSSL does without the processor's instructions (OPENSSL_ia32cap). Or Perl's hashes have a known seed (PERL_HASH_SEED), and
    /// somebody sends keys that all collide. Or it limits how many CPUs a program uses (GOMAXPROCS, -XX:ActiveProcessorCount) to fewer
    /// than there are. It came with an image, a unit file, a script or somebody's shell.
    ///
    /// ## Evidence
    /// The variable in the environment of a program whose runtime reads it, or the option before what belongs to the
    /// program itself, and CPU samples: that program, or the library or function that the switch is about, takes a tenth of the
    /// requests' time or more. How much of that the switch costs cannot be seen, so this is what it costs at most. Of a limit: the
    /// program uses as many CPUs as that allows while requests wait in line for its threads, and CPUs are idle meanwhile.
    ///
    /// ## What proves it
    /// The same program without the variable, or with an option in its place that asks for what the runtime does anyway;
    /// everything else as it was. The control takes the switch out and puts it back: an environment that lies elsewhere in
    /// memory can change a program's speed by itself.
    ///
    /// ## Remedy
    /// Take it out where it is set: look at /proc/PID/environ and /proc/PID/cmdline, the image (ENV, CMD), the unit
    /// (Environment=, ExecStart=), the shell.
    ///
    /// ## Not to be confused with
    /// debug-build (the program itself was built to check or to count); allocator-pressure (a heap that is too small, by a
    /// variable as well).
    "P54" "costly-switch",
    needs: &[Server, Samples]
}

/// Below this share of the requests' time the program cannot gain much, whatever switch is taken out.
const LEAST: f64 = 0.1;

/// Fewer samples than this say little about a share: 20 ms at the usual rate.
const SAMPLES: usize = 20;

/// What samples of switched programs come to.
#[derive(Default)]
struct Switched<'r> {
    rows: Vec<usize>,
    samples: Vec<&'r Sample>,
    within: u64,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let switched: Vec<(&Process, Vec<(&Switch, &str)>)> = analysis
        .recording
        .processes
        .iter()
        .map(|process| (process, switches::of(process)))
        .filter(|(_, found)| !found.is_empty())
        .collect();
    if switched.is_empty() || analysis.exchanges.is_empty() {
        return None;
    }
    let mut kinds: BTreeMap<(&str, &str), Switched> = BTreeMap::new();
    for (row, sample) in analysis.recording.samples.iter().enumerate() {
        let image =
            |process: &Process| process.pid == sample.pid && process.start <= sample.time && sample.time <= process.end;
        let Some((process, found)) = switched.iter().find(|(process, _)| image(process)) else { continue };
        for (_, written) in found.iter().filter(|(switch, _)| slows(analysis, switch, sample)) {
            let kind = kinds.entry((written, &process.executable)).or_default();
            kind.rows.push(row);
            kind.samples.push(sample);
            kind.within += u64::from(analysis.is_for_requests(sample));
        }
    }
    let switch_of = |written: &str| {
        switched.iter().flat_map(|(_, found)| found).find(|(_, known)| *known == written).map(|one| one.0)
    };
    let costs = kinds.into_iter().filter_map(|((written, executable), kind)| {
        let switch = switch_of(written)?;
        let wall = match switch.does {
            Does::LimitsCpus => limit::costs(analysis, written, kind.within)?,
            _ => kind.within * analysis.sample_period(),
        };
        Some((wall.min(analysis.exchange_wall()), (switch, written, executable), kind))
    });
    let (wall, of, most) = costs.max_by_key(|(wall, (_, written, _), _)| (*wall, std::cmp::Reverse(*written)))?;
    let share = Nanos(wall).share_of(Nanos(analysis.exchange_wall()));
    (most.samples.len() >= SAMPLES && share.0 >= LEAST).then(|| found(analysis, of, &most, (wall, share)))
}

/// Whether a sample is of what the switch slows down.
fn slows(analysis: &Analysis, switch: &Switch, sample: &Sample) -> bool {
    match switch.slows {
        Part::All => true,
        Part::Library(name) => analysis.code.module_name(analysis.code.module_of(sample)).starts_with(name),
        // It compares keys by a function of the C library's.
        Part::Function(name) => analysis.code.frames(sample.stack).take(2).any(|frame| frame.function == name),
    }
}

fn found(
    analysis: &Analysis,
    (switch, written, executable): (&Switch, &str, &str),
    most: &Switched,
    (wall, share): (u64, Share),
) -> Found {
    let count = analysis.exchanges.len() as u64;
    let place = common_place(analysis, &most.samples);
    let program = base_name(executable);
    let (set_in, has) = match switch.set_in {
        SetIn::Variable(_) => ("environment", format!("has {written} in its environment")),
        SetIn::Option { .. } => ("command line", format!("was started with {written}")),
    };
    let does = switch.does.in_words();
    let all_of = |slowed: String| {
        format!(
            "{slowed}: {share} of the requests' time, {} samples. The switch costs a part of that; which part, only a run without \
             it tells.",
            most.samples.len()
        )
    };
    let slowed = match switch.slows {
        _ if switch.does == Does::LimitsCpus => limit::in_words(analysis, program, written),
        Part::All => all_of(format!("All of {program}'s CPU time is under it")),
        Part::Library(part) | Part::Function(part) => all_of(format!("What is slowed by it is {part}")),
    };
    let cpu = match switch.does {
        Does::LimitsCpus => 0,
        does if does.spares_a_compiler() => 0,
        _ => most.samples.len() as u64 * analysis.sample_period(),
    };
    Found {
        title: format!(
            "{written} {}: up to {} of every {} request{}",
            does,
            Nanos(wall / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words(),
        ),
        what: format!("{written} {does}"),
        mechanism: vec![format!("{program} {has}."), slowed],
        saving: PotentialSaving { wall, outside: 0, cpu, affected: count },
        place,
        remedy: format!("Take {written} out of the {set_in} of {program}."),
        rows: rows("samples", most.rows.iter().copied()),
        explains: analysis.stretches(&most.samples),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, MS, US, WRITE, keep_alive};
    use crate::tests::{answer, names};
    use case::Recording;

    /// Twenty requests whose answers the client works so long on, with these switches in its environment.
    fn working(runtime: &str, switches: &str, length: u64) -> Recording {
        let mut fixture = keep_alive(1, 50 * US);
        fixture.stack(7, &["libcrypto.so.3!aes_encrypt", "client!work", "client!main"]);
        for _ in 0..20 {
            fixture.moves(CLIENT, 1, WRITE, 20);
            fixture.waits_for(CLIENT, 1, 5 * MS, 100);
            fixture.computes(CLIENT, length, 7);
            fixture.waits_for(CLIENT, 1, 10 * US, 100);
        }
        let mut recording = fixture.end();
        for process in recording.processes.iter_mut().filter(|process| process.pid == CLIENT) {
            process.executable = "/usr/bin/client".into();
            process.runtime = runtime.into();
            process.switches = switches.into();
        }
        recording
    }

    fn is_found(recording: &Recording) -> bool {
        names(recording).contains(&"costly-switch".to_string())
    }

    #[test]
    fn a_switch_of_a_program_that_computes_is_found_with_what_it_costs_at_most() {
        let answer = answer(&working("cpython 3.11", "PYTHONTRACEMALLOC", 5 * MS));
        let finding = answer.findings.iter().find(|finding| finding.name == "costly-switch").expect("found");
        let expected = "PYTHONTRACEMALLOC traces every allocation: up to 4.76 ms of every 9.54 ms request";
        assert!(finding.title.starts_with(expected), "{}", finding.title);
        assert!(finding.mechanism[0].starts_with("client has PYTHONTRACEMALLOC"), "{:?}", finding.mechanism);
    }

    #[test]
    fn an_option_is_said_as_one() {
        let answer = answer(&working("java", "-Xint", 5 * MS));
        let finding = answer.findings.iter().find(|finding| finding.name == "costly-switch").expect("found");
        assert!(finding.title.starts_with("-Xint turns the just-in-time compiler off: up to"), "{}", finding.title);
        assert_eq!(finding.mechanism[0], "client was started with -Xint.");
        assert_eq!(finding.remedy, "Take -Xint out of the command line of client.");
    }

    #[test]
    fn a_program_without_it_or_that_hardly_computes_or_does_not_read_it_is_left_alone() {
        assert!(!is_found(&working("cpython 3.11", "", 5 * MS)));
        assert!(!is_found(&working("cpython 3.11", "PYTHONTRACEMALLOC", 100 * US)));
        assert!(!is_found(&working("ruby 3.1", "PYTHONTRACEMALLOC", 5 * MS)));
    }

    #[test]
    fn what_slows_a_function_is_charged_with_that_function() {
        let hashing = |function: &str| {
            let mut recording = working("perl", "PERL_HASH_SEED", 5 * MS);
            for location in &mut recording.locations {
                location.function = location.function.replace("aes_encrypt", function);
            }
            recording
        };
        assert!(is_found(&hashing("Perl_hv_common")));
        assert!(!is_found(&hashing("Perl_regexec_flags")));
    }

    #[test]
    fn what_slows_a_library_is_charged_with_that_library() {
        assert!(is_found(&working("", "OPENSSL_ia32cap", 5 * MS)));
        let mut recording = working("", "OPENSSL_ia32cap", 5 * MS);
        for location in &mut recording.locations {
            location.module = location.module.replace("libcrypto", "libother");
        }
        assert!(!is_found(&recording));
    }
}
