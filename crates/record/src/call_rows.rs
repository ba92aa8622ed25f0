//! The calls table, and what the calls' bytes tell: TLS records, HTTP heads, commands, handshakes, lookups.

use crate::calls::{self, Flow, Timeout};
use crate::connections::Connections;
use crate::events::{CallEvent, ThreadState};
use case::tables::{Call, Command, Handshake, HttpMessage, Lookup, Path, TlsRecord, direction, transport};
use case::{Nanos, syscall};
use protocol::{Moved, Seen};
use rustc_hash::FxHashMap;
use std::sync::Arc;

const RECVFROM: u16 = 45;
const RECVMSG: u16 = 47;
const CONNECT: u16 = 42;
/// Looks without taking: such a read moves no bytes.
const MSG_PEEK: u64 = 2;
const PORT_DNS: u16 = 53;

/// Different paths that are kept, and the letters of all: 100 MB. A build of a large project names a hundred thousand.
const MOST_PATHS: usize = 500_000;
const MOST_PATH_BYTES: usize = 48 << 20;

/// The longest path that the kernel takes (PATH_MAX).
const LONGEST_PATH: usize = 4096;

/// Rows waiting to be written, and the state that making them needs.
#[derive(Default)]
pub struct CallRows {
    /// Calls.
    pub calls: Vec<Call>,
    /// TLS records.
    pub records: Vec<TlsRecord>,
    /// HTTP heads.
    pub messages: Vec<HttpMessage>,
    /// Commands.
    pub commands: Vec<Command>,
    /// Handshakes that are complete.
    pub handshakes: Vec<Handshake>,
    /// DNS messages.
    pub lookups: Vec<Lookup>,
    /// Paths met for the first time.
    pub paths: Vec<Path>,
    /// Paths that are not kept, there being too many, since last asked.
    pub paths_left_out: u64,
    path_numbers: FxHashMap<Arc<str>, u32>,
    path_names: Vec<Arc<str>>,
    path_bytes: usize,
    /// By process; a child has its parent's until either opens or closes something.
    open_files: FxHashMap<u32, Arc<FxHashMap<i32, u32>>>,
    /// The folder that each process is in, as far as it was seen going there.
    folders: FxHashMap<u32, Arc<str>>,
    seen: Seen,
}

impl CallRows {
    /// Takes one call. `stack` and `script_stack` are the numbers its event's copies turned into.
    pub fn take(
        &mut self,
        event: &CallEvent,
        head: &[u8],
        connections: &mut Connections,
        stack: u32,
        script_stack: u32,
    ) {
        let mut call = row(event, stack, script_stack);
        if event.head_is_path != 0 {
            self.name_path(&mut call, event, head, connections);
        } else if call.connection == 0 {
            call.path = self.open_file(call.pid, call.fd);
            call.content = if head.is_empty() { 0 } else { protocol::content_of(head) };
        }
        if matches!(call.number, syscall::CHDIR | syscall::FCHDIR) && call.result >= 0 && call.path != 0 {
            self.folders.insert(call.pid, Arc::clone(&self.path_names[call.path as usize - 1]));
        }
        if call.number == syscall::CLOSE && self.open_file(call.pid, call.fd) != 0 {
            self.files_of(call.pid).remove(&call.fd);
        }
        if call.connection != 0 {
            self.converse(&mut call, event, head, connections);
        }
        self.calls.push(call);
    }

    /// A process inherits its parent's open files.
    pub fn forked(&mut self, parent: u32, child: u32) {
        if let Some(files) = self.open_files.get(&parent).map(Arc::clone) {
            self.open_files.insert(child, files);
        }
        if let Some(folder) = self.folders.get(&parent).cloned() {
            self.folders.insert(child, folder);
        }
    }

    /// The path under which a process opened a descriptor.
    pub fn open_path(&self, pid: u32, fd: i32) -> Option<String> {
        let number = self.open_file(pid, fd).checked_sub(1)?;
        self.path_names.get(number as usize).map(ToString::to_string)
    }

    /// The number of the path under which a process opened a descriptor; 0 for none.
    fn open_file(&self, pid: u32, fd: i32) -> u32 {
        self.open_files.get(&pid).and_then(|files| files.get(&fd)).copied().unwrap_or(0)
    }

    fn files_of(&mut self, pid: u32) -> &mut FxHashMap<i32, u32> {
        Arc::make_mut(self.open_files.entry(pid).or_default())
    }

    /// A process ended: its open files are no more.
    pub fn exited(&mut self, pid: u32) {
        self.open_files.remove(&pid);
        self.folders.remove(&pid);
    }

    /// A call that was still blocked when recording ended.
    pub fn unfinished(&mut self, tid: u32, state: &ThreadState, end: Nanos) {
        let off = if state.off_since > 0 && state.runnable == 0 { end.0.saturating_sub(state.off_since) } else { 0 };
        let number = state.number as u16;
        let fd = if calls::has_descriptor(number) { state.arguments[0] as i32 } else { -1 };
        self.calls.push(Call {
            start: Nanos(state.entered),
            duration: end - Nanos(state.entered),
            blocked: Nanos(state.blocked + off),
            tid,
            pid: state.pid,
            number,
            fd,
            path: self.open_file(state.pid, fd),
            ..Call::default()
        });
    }

    /// A process held these files open before it was watched.
    pub fn held_open(&mut self, pid: u32, files: Vec<(i32, String)>) {
        for (fd, path) in files {
            let path = self.path_number(path);
            self.files_of(pid).insert(fd, path);
        }
    }

    fn name_path(&mut self, call: &mut Call, event: &CallEvent, head: &[u8], connections: &mut Connections) {
        let path = String::from_utf8_lossy(head).into_owned();
        if call.number == CONNECT {
            if call.connection != 0 && !path.is_empty() {
                connections.socket(call.connection, call.start).row.remote_address = path;
            }
            return;
        }
        let path = self.rooted(call, event, path);
        // The name of a file that is not there can be what somebody asked a server for.
        call.path = self.path_number(if call.result < 0 { case::redact_target(&path) } else { path });
        if syscall::is_open(call.number) && call.result >= 0 {
            let path = call.path;
            self.files_of(call.pid).insert(call.result as i32, path);
        }
    }

    /// A path from the root, as far as the folder is known that it starts from.
    fn rooted(&self, call: &Call, event: &CallEvent, path: String) -> String {
        if path.is_empty() || path.starts_with('/') {
            return path;
        }
        let descriptor = if calls::has_folder(call.number) { event.arguments[2] as i32 } else { libc::AT_FDCWD };
        let folder = match descriptor {
            libc::AT_FDCWD => self.folders.get(&call.pid).map(ToString::to_string),
            descriptor => self.open_path(call.pid, descriptor),
        };
        let is_usable = |folder: &String| folder.starts_with('/') && folder.len() + path.len() < LONGEST_PATH;
        match folder.filter(is_usable) {
            Some(folder) => format!("{}/{path}", folder.trim_end_matches('/')),
            None => path,
        }
    }

    /// The number of a path; 0 where there are too many to keep it.
    fn path_number(&mut self, path: String) -> u32 {
        if let Some(&number) = self.path_numbers.get(path.as_str()) {
            return number;
        }
        if self.path_bytes + path.len() > MOST_PATH_BYTES || self.path_names.len() >= MOST_PATHS {
            self.paths_left_out += 1;
            return 0;
        }
        let id = self.path_names.len() as u32 + 1;
        self.path_bytes += path.len();
        let name = Arc::<str>::from(path.as_str());
        self.paths.push(Path { id, path });
        self.path_names.push(Arc::clone(&name));
        self.path_numbers.insert(name, id);
        id
    }

    /// Feeds the bytes that a call moved to its connection's conversation.
    fn converse(&mut self, call: &mut Call, event: &CallEvent, head: &[u8], connections: &mut Connections) {
        let Some(moved) = moved(call, head) else { return };
        let socket = connections.socket(call.connection, call.start);
        if socket.row.remote_port == PORT_DNS {
            for head in messages(call, event, head) {
                let one = Moved { bytes: head.len().max(1) as u64, head, ..moved };
                self.lookups.extend(protocol::dns(call.connection, socket.row.transport, &one));
            }
            call.content = case::tables::content::DNS;
        } else if matches!(socket.row.transport, transport::TCP | transport::UNIX) {
            if let Some(conversation) = &mut socket.conversation {
                conversation.feed(&moved, &mut self.seen);
            }
            call.content = self.seen.content;
            self.records.append(&mut self.seen.records);
            self.messages.append(&mut self.seen.messages);
            self.commands.append(&mut self.seen.commands);
            self.handshakes.extend(self.seen.handshake.take());
        }
    }
}

/// Where the second of several messages begins in the captured bytes (`HEAD_PATH` in `bpf/events.h`).
const SECOND_MESSAGE: usize = 256;

/// The messages that a call's captured bytes hold: two at most where it moved several, else one.
fn messages<'a>(call: &Call, event: &CallEvent, head: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let several = calls::moves_several(call.number) && call.result > 1 && head.len() > SECOND_MESSAGE;
    let first = if several { (event.arguments[2] as usize).min(SECOND_MESSAGE) } else { head.len() };
    [&head[..first], head.get(SECOND_MESSAGE..).filter(|_| several).unwrap_or_default()]
        .into_iter()
        .filter(|message| !message.is_empty())
}

/// What a call moved on its connection; none where it moved nothing.
fn moved<'a>(call: &Call, head: &'a [u8]) -> Option<Moved<'a>> {
    let recorded = calls::recorded(call.number)?;
    let peeked = match call.number {
        RECVFROM => call.argument_3 & MSG_PEEK != 0,
        RECVMSG => call.argument_2 & MSG_PEEK != 0,
        _ => false,
    };
    if call.result <= 0 || peeked {
        return None;
    }
    let direction = match recorded.flow() {
        Flow::In => direction::IN,
        Flow::Out => direction::OUT,
        Flow::Nothing => return None,
    };
    // The calls that move several messages return how many, not how many bytes.
    let bytes = if calls::moves_several(call.number) { head.len() as u64 } else { call.result as u64 };
    Some(Moved { start: call.start, end: call.start + call.duration, tid: call.tid, direction, bytes, head })
}

fn row(event: &CallEvent, stack: u32, script_stack: u32) -> Call {
    let [argument_1, argument_2, argument_3] = event.arguments;
    let mut call = Call {
        start: Nanos(event.start),
        duration: Nanos(event.duration),
        blocked: Nanos(event.blocked),
        tid: event.tid,
        pid: event.pid,
        number: event.number,
        fd: event.fd,
        result: event.result,
        argument_1,
        argument_2,
        argument_3,
        connection: event.socket,
        stack,
        script_stack,
        finished: true,
        ..Call::default()
    };
    // What is behind a descriptor is looked up as the call returns: by then a closed one is nobody's, or has been given to another
    // thread, for a connection that is just being opened. That a connection is over is told by its state.
    if call.number == syscall::CLOSE && call.result >= 0 {
        call.connection = 0;
    }
    let Some(recorded) = calls::recorded(event.number) else { return call };
    call.argument_3 = recorded.third_value(argument_3);
    match recorded.timeout {
        Timeout::AsRead => {}
        Timeout::TimeValue => call.argument_2 = microseconds_to_nanoseconds(argument_2),
        Timeout::Milliseconds => call.argument_2 = milliseconds(recorded.timeout_argument(&event.arguments) as i32),
    }
    call
}

/// A timeval was read as if it were a timespec: its second word counts microseconds.
fn microseconds_to_nanoseconds(read: u64) -> u64 {
    if read == u64::MAX { read } else { read / 1_000_000_000 * 1_000_000_000 + read % 1_000_000_000 * 1_000 }
}

/// A timeout in milliseconds, negative for none, as nanoseconds.
fn milliseconds(given: i32) -> u64 {
    u64::try_from(given).map_or(u64::MAX, |given| given * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_has_its_parents_files_until_either_changes_them() {
        let mut rows = CallRows::default();
        rows.held_open(1, (0..200).map(|fd| (fd, format!("/file/{fd}"))).collect());
        for child in 2..10_000 {
            rows.forked(1, child);
        }
        assert!(Arc::ptr_eq(&rows.open_files[&1], &rows.open_files[&9_999]), "nothing is copied for each");
        rows.held_open(2, vec![(7, "/other".to_string())]);
        assert_eq!(rows.open_path(2, 7).as_deref(), Some("/other"));
        assert_eq!(rows.open_path(1, 7).as_deref(), Some("/file/7"));
        rows.exited(1);
        assert_eq!((rows.open_path(1, 7), rows.open_path(3, 7).as_deref()), (None, Some("/file/7")));
    }

    #[test]
    fn so_many_paths_are_kept_and_the_others_counted() {
        let mut rows = CallRows::default();
        let long = "x".repeat(4000);
        let numbers = (0..20_000).map(|number| rows.path_number(format!("/{number}/{long}"))).collect::<Vec<_>>();
        let kept = numbers.iter().filter(|number| **number != 0).count();
        assert!(rows.path_bytes <= MOST_PATH_BYTES && kept > 10_000, "{kept}");
        assert_eq!(rows.paths_left_out, 20_000 - kept as u64);
        assert_eq!(rows.path_number(format!("/0/{long}")), 1, "what is known stays known");
    }

    #[test]
    fn a_close_belongs_to_no_connection_since_its_descriptor_may_be_anothers_by_then() {
        let event = |number, result| CallEvent {
            kind: 1,
            number,
            tid: 1,
            pid: 1,
            fd: 9,
            start: 5,
            duration: 100,
            blocked: 0,
            result,
            arguments: [0; 3],
            socket: 4,
            stack: 0,
            script: 0,
            head_length: 0,
            head_is_path: 0,
        };
        assert_eq!(row(&event(syscall::CLOSE, 0), 0, 0).connection, 0);
        assert_eq!(row(&event(syscall::CHDIR, 0), 0, 0).connection, 4);
    }

    #[test]
    fn timeouts_come_out_in_nanoseconds_whatever_the_call_counts_in() {
        assert_eq!(milliseconds(-1), u64::MAX);
        assert_eq!(milliseconds(5), 5_000_000);
        assert_eq!(microseconds_to_nanoseconds(2_000_000_250), 2_000_250_000);
        assert_eq!(microseconds_to_nanoseconds(u64::MAX), u64::MAX);
    }
}
