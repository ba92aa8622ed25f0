//! The function that holds most of what is left: what is said of it, should the program do without.

use case::tables::{Call, Process};
use case::{Answer, Cost, Evidence, Finding, Nanos, Place, Recording, Share, Status};
use diagnose::Hottest;
use std::collections::BTreeSet;

/// System calls that write: write, pwrite64, writev, sendfile, sendto, sendmsg, splice, pwritev, sendmmsg,
/// copy_file_range, pwritev2.
const WRITES: [u16; 11] = [1, 18, 20, 40, 44, 46, 275, 296, 307, 326, 328];

/// System calls that change what a folder holds: rename, unlink.
const NAMES: [u16; 2] = [82, 87];

/// So many samples are named as evidence.
const MOST_ROWS: usize = 8;

/// Whether the program may leave counters that a comparison of its standard output does not show: it wrote elsewhere, or
/// calls were lost.
pub fn could_go_unseen(recording: &Recording) -> bool {
    let clients = clients(recording);
    // What goes to its standard error is a comment on its work.
    let is_elsewhere = |call: &Call| WRITES.contains(&call.number) && call.result > 0 && !matches!(call.fd, 1 | 2);
    let lost = recording.losses.iter().any(|loss| loss.table == "calls");
    let renames = |call: &Call| NAMES.contains(&call.number) && call.result == 0;
    lost || recording.calls.iter().any(|call| clients.contains(&call.pid) && (is_elsewhere(call) || renames(call)))
}

/// Whether the client wrote to its standard output: what writes nothing writes the same without any of its functions.
pub fn has_output(recording: &Recording) -> bool {
    let clients = clients(recording);
    let is_output = |call: &Call| WRITES.contains(&call.number) && call.result > 0 && call.fd == 1;
    recording.calls.iter().any(|call| clients.contains(&call.pid) && is_output(call))
}

fn clients(recording: &Recording) -> BTreeSet<u32> {
    let is_client = |row: &&Process| row.role == "client";
    recording.processes.iter().filter(is_client).map(|row| row.pid).collect()
}

/// What is to be said of it once it is proved, upon what is switched off already, if anything is.
pub fn finding(hottest: &Hottest, recording: &Recording, left: &Answer, upon: Option<&str>) -> Finding {
    let (function, share) = (brief(&hottest.function), &hottest.share);
    let cpu = crate::second_pass::processor_ns(recording);
    let own = (cpu as f64 * share) as u64;
    let share_of_wall = (own as f64 / left.wall_ns.max(1) as f64).min(1.0);
    let exchanges = left.exchanges.max(1);
    let (wall, each) = ((left.wall_ns as f64 * share_of_wall) as u64, |nanos: u64| nanos / exchanges);
    let cost = Cost {
        ns_per_exchange: each(wall),
        share_of_wall,
        cpu_ns_per_exchange: each(own),
        share_of_cpu: *share,
        ..Cost::default()
    };
    // Where something is switched off already, it is what stands behind a scan; by itself it is a hot function and no more.
    let (id, name) = if upon.is_some() { ("P36", "superlinear-work") } else { ("P51", "hot-library") };
    let which = upon.map_or_else(|| "the CPU time".to_string(), |upon| format!("the CPU time left with {upon}"));
    let spent = match upon {
        Some(upon) => {
            format!("With {upon} in place, {} of the remaining {} of CPU time is spent in", Nanos(own), Nanos(cpu))
        }
        None => format!("{} of {} of CPU time is spent in", Nanos(own), Nanos(cpu)),
    };
    let seen = upon.map(|upon| format!("Seen only once {upon} is in place."));
    let other = format!("With other input {function} may matter: only the output of these runs was compared.");
    Finding {
        id: id.into(),
        name: name.into(),
        status: Status::Suspected,
        title: format!("{function} takes {} of {which}, and the output is the same without it", Share(*share)),
        what: format!("The output does not need {function}"),
        mechanism: vec![
            format!("{spent} {function}."),
            format!(
                "With {function} returning immediately, the program exits with the same status and writes the same \
                 output."
            ),
        ],
        cost,
        place: vec![place(hottest, recording)],
        remedy: format!(
            "Find out what {function} is called for: with this input, none of the program's output depends on it. Do its \
             work only where it is needed, or with a data structure that does not scan everything each time."
        ),
        evidence: Evidence { table: "samples".into(), rows: rows(hottest, recording) },
        caveats: seen.into_iter().chain([other]).collect(),
        ..Finding::default()
    }
}

/// A function's name in a sentence: without the types of its arguments.
pub fn brief(function: &str) -> &str {
    match function.split_once('(') {
        Some((name, _)) if !name.is_empty() && !name.ends_with("operator") => name,
        _ => function,
    }
}

/// Where it is: the first of its lines that was seen.
fn place(hottest: &Hottest, recording: &Recording) -> Place {
    let own = recording.locations.iter().filter(|row| row.function == hottest.function && row.module == hottest.module);
    let first = own.filter(|row| row.line > 0).min_by_key(|row| row.line);
    Place {
        function: hottest.function.clone(),
        module: hottest.module.clone(),
        file: first.map(|row| row.file.clone()).unwrap_or_default(),
        line: first.map_or(0, |row| row.line),
    }
}

/// Some samples that were taken in it. The case that holds them is that of the run with the cure.
fn rows(hottest: &Hottest, recording: &Recording) -> Vec<u64> {
    let own = recording.locations.iter().filter(|row| row.function == hottest.function && row.module == hottest.module);
    let own = own.map(|row| row.id).collect::<BTreeSet<_>>();
    let stacks = recording.stacks.iter().filter(|frame| own.contains(&frame.location));
    let stacks = stacks.map(|frame| frame.stack).collect::<BTreeSet<_>>();
    let samples = recording.samples.iter().zip(0..).filter(|(sample, _)| stacks.contains(&sample.stack));
    samples.map(|(_, row)| row).take(MOST_ROWS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrote(number: u16, fd: i32, role: &str) -> bool {
        could_go_unseen(&Recording {
            processes: vec![Process { pid: 7, role: role.into(), ..Process::default() }],
            calls: vec![Call { pid: 7, number, fd, result: 12, ..Call::default() }],
            ..Recording::default()
        })
    }

    #[test]
    fn what_is_written_to_standard_output_is_seen_and_what_goes_elsewhere_is_not() {
        assert!(!wrote(1, 1, "client") && !wrote(20, 2, "client"));
        assert!(wrote(1, 3, "client") && wrote(44, 5, "client"));
        assert!(!wrote(87, 3, "client"), "nothing was there to remove");
        assert!(!wrote(0, 3, "client"), "a read leaves no trace");
        assert!(!wrote(1, 3, "other"));
    }

    #[test]
    fn a_sentence_names_a_function_without_its_arguments() {
        assert_eq!(brief("list::search(item const&, int)"), "list::search");
        assert_eq!(brief("find_dup"), "find_dup");
        assert_eq!(brief("item::operator()(int)"), "item::operator()(int)");
        assert_eq!(brief("(anonymous namespace)::search(int)"), "(anonymous namespace)::search(int)");
    }
}
