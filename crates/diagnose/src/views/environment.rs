//! The machine, the programs, and what was recorded.

mod calendar;
mod libraries;

use case::Recording;
use case::tables::Process;
use case::views::Fact;
use std::collections::BTreeMap;

/// Programs and kernel counters shown, each.
const SHOWN: usize = 100;

/// A longer command line is cut.
const LONGEST_COMMAND: usize = 300;

/// Facts of the environment, group by group.
pub fn facts(recording: &Recording) -> Vec<Fact> {
    let groups = [
        ("Machine", machine(recording)),
        ("Programs", programs(recording)),
        ("Libraries", libraries::libraries(recording)),
        ("Recording", run(recording)),
        ("Kernel counters", counters(recording)),
    ];
    let facts = groups.into_iter().flat_map(|(group, facts)| {
        let fact = move |(name, value)| Fact { group: group.to_string(), name, value };
        facts.into_iter().map(fact)
    });
    facts.filter(|fact| !fact.value.is_empty()).collect()
}

/// A name and a value; an empty value is not shown.
type NameValue = (String, String);

fn named(name: &str, value: impl Into<String>) -> NameValue {
    (name.to_string(), value.into())
}

/// A number that is known only where it is not nought.
fn known(number: u64, text: impl FnOnce() -> String) -> String {
    if number == 0 { String::new() } else { text() }
}

fn machine(recording: &Recording) -> Vec<NameValue> {
    let host = &recording.manifest.host;
    let gibibytes = host.memory_bytes as f64 / f64::from(1u32 << 30);
    vec![
        named("kernel", &host.kernel),
        named("distribution", &host.distribution),
        named("processor", &host.processor),
        named("processors", known(host.processors.into(), || host.processors.to_string())),
        named("memory", known(host.memory_bytes, || format!("{gibibytes:.1} GiB"))),
    ]
}

/// Each program by its command, with its part and what runs it, and how many processes it was.
fn programs(recording: &Recording) -> Vec<NameValue> {
    let mut kinds: BTreeMap<(&str, &str, &str), (usize, Vec<&Process>)> = BTreeMap::new();
    for (place, row) in recording.processes.iter().enumerate().filter(|(_, row)| !is_gate(recording, row)) {
        let kind = kinds.entry((&row.executable, &row.role, &row.runtime)).or_insert((place, Vec::new()));
        kind.1.push(row);
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    // In the order in which they were first started, the subject's before the others'.
    let rank = |role: &str| ["client", "server"].iter().position(|known| *known == role).unwrap_or(2);
    kinds.sort_by_key(|((_, role, _), (place, _))| (rank(role), *place));
    let left_out = kinds.len().saturating_sub(SHOWN);
    let mut facts: Vec<NameValue> =
        kinds.into_iter().take(SHOWN).map(|(kind, (_, rows))| program(kind, &rows)).collect();
    facts.push(named("further programs", known(left_out as u64, || left_out.to_string())));
    facts
}

/// Whether this is our own program, which a process was before it was let through the gate to become the subject.
fn is_gate(recording: &Recording, row: &Process) -> bool {
    let manifest = &recording.manifest;
    let ours = row.pid > 0 && [manifest.subject.pid, manifest.server_pid].contains(&row.pid);
    let mut same = recording.processes.iter().filter(|other| other.pid == row.pid);
    ours && same.next() == Some(row) && same.next().is_some()
}

fn program((executable, role, runtime): (&str, &str, &str), rows: &[&Process]) -> NameValue {
    let commands: std::collections::BTreeSet<&str> = rows.iter().map(|row| row.command.as_str()).collect();
    let first = rows.first().map_or("", |row| row.command.as_str());
    let command = match (first.is_empty(), commands.len()) {
        (true, _) => String::new(),
        (false, 1) => shortened(first),
        (false, count) => format!("{} (and {} other command lines)", shortened(first), count - 1),
    };
    let processes = if rows.len() == 1 { "1 process".to_string() } else { format!("{} processes", rows.len()) };
    let parts = [role.to_string(), runtime.to_string(), processes, command];
    let value = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
    (if executable.is_empty() { "not known".to_string() } else { executable.to_string() }, value)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_COMMAND) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}

/// How it was recorded, and how it ended.
fn run(recording: &Recording) -> Vec<NameValue> {
    let manifest = &recording.manifest;
    let hertz = manifest.sampling_hertz;
    let sampling = if hertz == 0 { "none".to_string() } else { format!("{hertz} per second on each CPU") };
    let exit = match (manifest.subject.exit, manifest.subject.signal) {
        (Some(status), _) => format!("exit status {status}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) if !manifest.closed => "not known".to_string(),
        (None, None) => "still running".to_string(),
    };
    let lasted = manifest.end - manifest.start;
    vec![
        named("whyslow", &manifest.whyslow),
        named("command", shortened(&manifest.command.join(" "))),
        named("server", shortened(&manifest.server.join(" "))),
        named("began", known(manifest.started_unix_seconds, || calendar::utc(manifest.started_unix_seconds))),
        named("lasted", known(lasted.0, || lasted.to_string())),
        named("CPU samples", sampling),
        named("link", &manifest.link),
        named("the client", exit),
        named("recording", if manifest.closed { "complete" } else { "cut short: the last rows may be missing" }),
    ]
}

/// Kernel counters that moved, as `before -> after (+difference)`, those that moved most in their scope first.
fn counters(recording: &Recording) -> Vec<NameValue> {
    let mut moved: Vec<_> = recording.counters.iter().filter(|row| row.before != row.after).collect();
    moved.sort_by_key(|row| (row.scope.as_str(), std::cmp::Reverse(row.after.abs_diff(row.before)), row.name.as_str()));
    let left_out = moved.len().saturating_sub(SHOWN);
    let text = |row: &&case::tables::Counter| {
        let sign = if row.after >= row.before { "+" } else { "-" };
        let difference = row.after.abs_diff(row.before);
        (format!("{} ({})", row.name, row.scope), format!("{} -> {} ({sign}{difference})", row.before, row.after))
    };
    let mut facts: Vec<NameValue> = moved.iter().take(SHOWN).map(text).collect();
    facts.push(named("further counters", known(left_out as u64, || left_out.to_string())));
    facts
}

#[cfg(test)]
mod tests;
