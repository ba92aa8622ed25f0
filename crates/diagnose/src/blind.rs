//! What an answer cannot say: pathologies that nothing looks for, and those that this recording does not show.

use crate::analysis::Analysis;
use crate::catalogue::catalogue;
use crate::code::base_name;
use crate::connections::End;
use crate::detectors::{ALL, Detector, Needs};
use crate::syscall;
use case::Pathology;
use case::facts::{Blind, NotLookedFor};
use case::tables::{Location, Process, content, kind, transport};
use std::collections::{BTreeMap, BTreeSet};

/// Interpreters by the beginning of their file's name, or of what was recognised in it, and the languages they run.
const INTERPRETERS: [(&str, &str); 13] = [
    ("python", "Python"),
    ("cpython ", "Python"),
    ("node", "JavaScript"),
    ("java", "Java"),
    ("ruby", "Ruby"),
    ("perl", "Perl"),
    ("php", "PHP"),
    ("php-fpm", "PHP"),
    ("lua", "Lua"),
    ("dotnet", "C#"),
    ("beam.smp", "Erlang"),
    ("Rscript", "R"),
    ("guile", "Scheme"),
];

/// `setsockopt` of the option that hands TLS to the kernel: level SOL_TCP, option TCP_ULP (`linux/tcp.h`).
const UPPER_LAYER: (u64, u64) = (6, 31);

/// Sockets of services that look names up for others.
const NAME_SERVICES: [&str; 3] = ["nscd", "systemd/resolve", "avahi"];

/// Everything that was not looked for, what nothing looks for first.
pub fn not_looked_for(analysis: &Analysis) -> Vec<NotLookedFor> {
    let without = catalogue().into_iter().filter(|known| !known.is_looked_for);
    let without = without.map(|known| pathology(known.id, known.name)).collect();
    let mut all = vec![NotLookedFor { why: Blind::NoDetector, pathologies: without }];
    if analysis.is_capture() {
        all.push(hidden(Blind::WireOnly, |detector| !detector.on_the_wire));
        all.extend(protocols(analysis));
        all.extend(lost(analysis));
        return all;
    }
    all.extend(ends(analysis));
    all.extend(protocols(analysis));
    all.extend(lookups_elsewhere(analysis).then(|| lacking(Blind::LookupElsewhere, Needs::Lookups)));
    all.extend(languages(analysis).into_iter().map(|language| by_itself(Blind::NoScriptLines { language })));
    let has_no_samples = analysis.recording.manifest.sampling_hertz == 0 && analysis.recording.samples.is_empty();
    all.extend(has_no_samples.then(|| lacking(Blind::NoSamples, Needs::Samples)));
    all.extend(lost(analysis));
    all
}

/// Tables that lack rows.
fn lost(analysis: &Analysis) -> Vec<NotLookedFor> {
    let mut lost: BTreeMap<&str, u64> = BTreeMap::new();
    for loss in &analysis.recording.losses {
        *lost.entry(&loss.table).or_default() += loss.count;
    }
    let lost = lost.into_iter().filter(|(_, rows)| *rows > 0);
    lost.map(|(table, rows)| by_itself(Blind::Lost { table: table.to_string(), rows })).collect()
}

/// A reason that hides no pathology as a whole.
fn by_itself(why: Blind) -> NotLookedFor {
    NotLookedFor { why, pathologies: Vec::new() }
}

/// A reason, and what needs what is not there.
fn lacking(why: Blind, needs: Needs) -> NotLookedFor {
    hidden(why, |detector| detector.needs.contains(&needs))
}

/// A reason, and the pathologies whose detectors it hides, in the order of their identifiers.
fn hidden(why: Blind, is_hidden: impl Fn(&Detector) -> bool) -> NotLookedFor {
    let hidden = ALL.iter().filter(|detector| is_hidden(detector));
    let mut pathologies: Vec<_> = hidden.map(|one| pathology(one.page.id, one.page.name)).collect();
    pathologies.sort();
    NotLookedFor { why, pathologies }
}

fn pathology(id: &str, name: &str) -> Pathology {
    Pathology { id: id.to_string(), name: name.to_string() }
}

/// Ends and transports that are not there to look at.
fn ends(analysis: &Analysis) -> Vec<NotLookedFor> {
    let rows = || analysis.connections.all().iter().enumerate();
    let moved = |slot: usize| !analysis.connections.transfer_numbers(slot).is_empty();
    let transports = |wanted: u8| {
        rows().filter(move |(slot, _)| analysis.connections.row(*slot).transport == wanted && moved(*slot)).count()
    };
    let asks_alone = |exchange: &crate::exchange::Exchange| {
        exchange.end_seen == End::Client && analysis.connections.all()[exchange.connection].peer.is_none()
    };
    let mut found = Vec::new();
    if analysis.exchanges.iter().any(asks_alone) {
        found.push(lacking(Blind::ServerNotRecorded, Needs::Server));
    }
    if transports(transport::TCP) == 0 {
        found.push(lacking(Blind::NoTcp, Needs::Tcp));
    }
    // Questions to a name server are read as such; anything else over UDP is not.
    let is_dns = |slot: usize| analysis.connections.row(slot).remote_port == 53;
    let is_udp = |slot: usize| analysis.connections.row(slot).transport == transport::UDP;
    let sockets = rows().filter(|(slot, _)| is_udp(*slot) && moved(*slot) && !is_dns(*slot)).count() as u64;
    if sockets > 0 {
        found.push(lacking(Blind::Udp { sockets }, Needs::Requests));
    }
    found
}

/// What is spoken in a way that is not read.
fn protocols(analysis: &Analysis) -> Vec<NotLookedFor> {
    let recording = analysis.recording;
    let mut multiplexed: BTreeSet<u32> = BTreeSet::new();
    // Both ends of one connection are one.
    let one =
        |id: u32| analysis.connections.slot(id).map_or(id, |slot| id.min(analysis.connections.row(slot).peer.max(1)));
    let http2 = |protocols: &str| protocols.split(',').next() == Some("h2");
    multiplexed.extend(recording.handshakes.iter().filter(|row| http2(&row.protocols)).map(|row| one(row.connection)));
    let begins = recording.calls.iter().filter(|call| call.content == content::HTTP2_PREFACE);
    multiplexed.extend(begins.map(|call| one(call.connection)));
    let mut kernel_tls: BTreeSet<u32> = BTreeSet::new();
    for (_, call) in analysis.calls_of(|number| number == syscall::SETSOCKOPT) {
        if call.result == 0 && (call.argument_1, call.argument_2) == UPPER_LAYER {
            kernel_tls.insert(call.connection);
        }
    }
    let asynchronous = syscall::number("io_uring_enter");
    let queued = analysis.calls_of(|number| Some(number) == asynchronous).count() as u64;
    let mut found = Vec::new();
    if !multiplexed.is_empty() {
        found.push(lacking(Blind::Http2Streams { connections: multiplexed.len() as u64 }, Needs::SingleStreams));
    }
    if !kernel_tls.is_empty() {
        found.push(lacking(Blind::KernelTls { sockets: kernel_tls.len() as u64 }, Needs::TlsRecords));
    }
    if queued > 0 {
        found.push(lacking(Blind::AsynchronousIo { calls: queued }, Needs::Calls));
    }
    found
}

/// Whether names were asked of a service on this machine: over its socket, or at an address of the loopback. That one was
/// tried and nobody was there, as glibc does with nscd, is no question.
fn lookups_elsewhere(analysis: &Analysis) -> bool {
    (0..analysis.connections.all().len()).any(|slot| {
        let row = analysis.connections.row(slot);
        let is_service = row.transport == transport::UNIX
            && NAME_SERVICES.iter().any(|name| row.remote_address.contains(name) || row.local_address.contains(name));
        let is_stub = row.remote_port == 53 && row.remote_address.starts_with("127.");
        (is_service || is_stub) && !analysis.connections.transfer_numbers(slot).is_empty()
    })
}

/// Languages of which a program ran and no line was read.
fn languages(analysis: &Analysis) -> BTreeSet<String> {
    let recording = analysis.recording;
    // Of code compiled in memory a runtime may have written down the lines.
    let has_line = |row: &&Location| row.kind == kind::SCRIPT || (row.kind == kind::GENERATED && row.line > 0);
    let script: BTreeSet<u32> = recording.locations.iter().filter(has_line).map(|row| row.id).collect();
    let read: BTreeSet<u32> =
        recording.stacks.iter().filter(|row| script.contains(&row.location)).map(|row| row.stack).collect();
    let has_lines = |pid: u32| {
        let is_read = |script: u32, native: u32| read.contains(&script) || read.contains(&native);
        recording.calls.iter().any(|call| call.pid == pid && is_read(call.script_stack, call.stack))
            || recording.samples.iter().any(|one| one.pid == pid && is_read(one.script_stack, one.stack))
    };
    let mut languages = BTreeSet::new();
    for process in &recording.processes {
        if let Some(language) = language(process).filter(|_| !has_lines(process.pid)) {
            languages.insert(language.to_string());
        }
    }
    // Where lines of a language were read in one process, the others are its short-lived children.
    let reads = |wanted: &str| {
        let mut processes = recording.processes.iter();
        processes.any(|process| language(process).is_some_and(|language| language == wanted) && has_lines(process.pid))
    };
    languages.retain(|language| !reads(language));
    languages
}

/// What language a process runs: by its executable's name, or by what was recognised in what it loaded, as a server loads PHP.
fn language(process: &Process) -> Option<&'static str> {
    let name = base_name(&process.executable);
    let is_of = |interpreter: &str| {
        // `node20`, `python3.11`, `ruby`; not `nodemon-helper`.
        let of = |word: &str| {
            let rest = word.strip_prefix(interpreter);
            rest.is_some_and(|rest| rest.trim_start().chars().all(|letter| letter.is_ascii_digit() || letter == '.'))
        };
        of(name) || of(&process.runtime)
    };
    INTERPRETERS.iter().find(|(interpreter, _)| is_of(interpreter)).map(|(_, language)| *language)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{US, keep_alive};
    use crate::tests::answer;
    use case::facts::Blind;
    use case::tables::{Call, Location, Loss, Process, StackFrame, kind, transport};

    fn reasons(edit: impl FnOnce(&mut case::Recording)) -> Vec<Blind> {
        let mut recording = keep_alive(20, 300 * US).end();
        edit(&mut recording);
        answer(&recording).not_looked_for.into_iter().map(|one| one.why).collect()
    }

    #[test]
    fn what_nothing_looks_for_is_listed_and_what_a_detector_looks_for_is_not() {
        let answer = answer(&keep_alive(20, 300 * US).end());
        let first = &answer.not_looked_for[0];
        assert_eq!(first.why, Blind::NoDetector);
        let has = |id: &str| first.pathologies.iter().any(|one| one.id == id);
        assert!(has("P43") && !has("P01") && !has("P51"), "{first:?}");
    }

    #[test]
    fn a_run_that_shows_everything_gives_no_reason_of_its_own() {
        assert_eq!(reasons(|_| {}), [Blind::NoDetector]);
    }

    #[test]
    fn a_server_that_was_not_recorded_hides_what_happens_in_it() {
        let found = reasons(|recording| {
            recording.connections.retain(|row| row.id < 1000);
            recording.connections.iter_mut().for_each(|row| row.peer = 0);
        });
        assert!(found.contains(&Blind::ServerNotRecorded), "{found:?}");
    }

    #[test]
    fn transports_languages_and_losses_have_their_reasons() {
        let found = reasons(|recording| {
            recording.connections.iter_mut().for_each(|row| row.transport = transport::UDP);
            recording.processes.push(Process { pid: 7, executable: "/usr/bin/node20".into(), ..Process::default() });
            recording.losses.push(Loss { table: "calls".into(), count: 9, ..Loss::default() });
        });
        let node = Blind::NoScriptLines { language: "JavaScript".into() };
        let lost = Blind::Lost { table: "calls".into(), rows: 9 };
        let udp = |one: &Blind| matches!(one, Blind::Udp { .. });
        assert!(found.contains(&Blind::NoTcp) && found.iter().any(udp), "{found:?}");
        assert!(found.contains(&node) && found.contains(&lost), "{found:?}");
    }

    #[test]
    fn a_server_that_loads_php_of_a_version_that_is_not_read_hides_its_lines_and_one_that_is_read_does_not() {
        let server = |executable: &str, runtime: &str| {
            let (executable, runtime) = (executable.into(), runtime.into());
            Process { pid: 7, executable, runtime, ..Process::default() }
        };
        let php = Blind::NoScriptLines { language: "PHP".into() };
        for (executable, runtime) in [("/usr/sbin/apache2", "php 7.4"), ("/usr/sbin/php-fpm8.2", ""), ("/bin/php", "")]
        {
            let found = reasons(|recording| recording.processes.push(server(executable, runtime)));
            assert!(found.contains(&php), "{executable}: {found:?}");
        }
        assert!(!reasons(|recording| recording.processes.push(server("/usr/sbin/apache2", ""))).contains(&php));
        let found = reasons(|recording| {
            recording.processes.push(server("/usr/sbin/php-fpm8.2", "php 8.2"));
            let id = recording.locations.iter().map(|row| row.id).max().unwrap_or(0) + 1;
            recording.locations.push(Location { id, kind: kind::SCRIPT, line: 4, ..Location::default() });
            recording.stacks.push(StackFrame { stack: 9_000, location: id, complete: true, ..StackFrame::default() });
            let call = Call { pid: 7, script_stack: 9_000, ..recording.calls[0].clone() };
            recording.calls.push(call);
            recording.sort();
        });
        assert!(!found.contains(&php), "{found:?}");
    }

    #[test]
    fn a_name_service_that_was_asked_hides_its_work_and_one_that_was_only_tried_does_not() {
        let service = |id: u32, recording: &mut case::Recording| {
            let row = recording.connections.iter_mut().find(|row| row.id == id).expect("a connection");
            (row.transport, row.remote_port, row.remote_address) = (transport::UNIX, 0, "/var/run/nscd/socket".into());
        };
        assert!(reasons(|recording| service(1, recording)).contains(&Blind::LookupElsewhere));
        let tried = reasons(|recording| {
            recording.calls.iter_mut().filter(|call| call.connection == 1).for_each(|call| call.result = -111);
            service(1, recording);
        });
        assert!(!tried.contains(&Blind::LookupElsewhere), "{tried:?}");
    }

    #[test]
    fn multiplexed_connections_and_the_kernels_tls_are_said() {
        let found = reasons(|recording| {
            let row = recording.calls.iter().position(|call| call.connection == 1).expect("a call");
            recording.calls[row].content = case::tables::content::HTTP2_PREFACE;
            let mut option = recording.calls[row].clone();
            (option.number, option.result) = (crate::syscall::SETSOCKOPT, 0);
            (option.argument_1, option.argument_2) = super::UPPER_LAYER;
            recording.calls.push(option);
            recording.sort();
        });
        assert!(found.contains(&Blind::Http2Streams { connections: 1 }), "{found:?}");
        assert!(found.contains(&Blind::KernelTls { sockets: 1 }), "{found:?}");
    }
}
