//! One process's executable mappings.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::maps::{self, Backing, MapLine};
use super::modules::{Module, Modules, UNKNOWN};

/// After maps turned out to have changed they may soon do so again (a program is starting): they are read again for an
/// address in no mapping after this. Reading those of a large program takes 0.1 ms.
const PAUSE_AFTER_CHANGE: Duration = Duration::from_millis(1);
/// The same, after nothing had changed: an address that is wrong stays wrong.
const PAUSE_AFTER_NONE: Duration = Duration::from_millis(10);

/// Executable memory with one module behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub start: u64,
    pub end: u64,
    pub module: u32,
    /// What to take off an address to get the module's.
    pub bias: u64,
}

/// What is known of one process.
#[derive(Clone, Default)]
pub(super) struct Process {
    text: Arc<[u8]>,
    spans: Arc<[Span]>,
    files: Arc<[(String, u64, u64)]>,
    generated: Option<u32>,
    /// Not before this for an address in no mapping.
    next_reading: Option<Instant>,
}

impl Process {
    /// Reads the maps, unless nothing changed. Returns whether the process was there.
    pub fn learn(&mut self, pid: u32, modules: &mut Modules) -> bool {
        let text = crate::peer::mappings(pid);
        let changed = *text != *self.text;
        self.next_reading = Some(Instant::now() + if changed { PAUSE_AFTER_CHANGE } else { PAUSE_AFTER_NONE });
        // A process that has ended, but was not waited for, has empty maps.
        if text.is_empty() {
            return false;
        }
        if let Some(generated) = self.generated.and_then(|number| modules.generated(number)) {
            generated.open_names(pid);
        }
        if changed {
            let lines = maps::parse(&text);
            modules.open(pid, &lines);
            self.spans =
                lines.iter().filter(|line| line.executable).map(|line| self.span(pid, line, modules)).collect();
            self.files = lines
                .into_iter()
                .filter(|line| line.backing() == Backing::File)
                .map(|line| (line.path, line.start, line.file_offset))
                .collect();
            self.text = text.into();
        }
        true
    }

    /// Reads the maps again where an address is in none that are known, but not again and again.
    pub fn learn_of_unknown(&mut self, pid: u32, modules: &mut Modules) {
        if self.next_reading.is_none_or(|time| Instant::now() >= time) {
            self.learn(pid, modules);
        }
    }

    /// Takes a mapping that the kernel reported; it replaces those that it covers. Reading the maps replaces it.
    pub fn mapped(&mut self, span: Span, path: &str, file_offset: u64) {
        let mut spans: Vec<Span> =
            self.spans.iter().filter(|other| other.end <= span.start || other.start >= span.end).copied().collect();
        spans.push(span);
        spans.sort_unstable_by_key(|span| span.start);
        self.spans = spans.into();
        let mut files = self.files.to_vec();
        files.push((path.to_string(), span.start, file_offset));
        self.files = files.into();
    }

    fn span(&mut self, pid: u32, line: &MapLine, modules: &mut Modules) -> Span {
        let module = modules.of_mapping(pid, line).unwrap_or_else(|| self.generated_module(pid, modules));
        let bias = match modules.get(module) {
            Module::Image(_) if line.backing() == Backing::Vdso => Some(line.start),
            Module::Image(image) => image.facts.segments.bias(line.start, line.file_offset),
            Module::Unreadable(_) => Some(line.start.wrapping_sub(line.file_offset)),
            Module::Unknown | Module::Generated(_) | Module::Java => Some(0),
        };
        match bias {
            Some(bias) => Span { start: line.start, end: line.end, module, bias },
            // The mapping is of no part of the file that has code.
            None => Span { start: line.start, end: line.end, module: UNKNOWN, bias: 0 },
        }
    }

    fn generated_module(&mut self, pid: u32, modules: &mut Modules) -> u32 {
        *self.generated.get_or_insert_with(|| {
            let number = modules.add_generated();
            if let Some(generated) = modules.generated(number) {
                generated.open_names(pid);
            }
            number
        })
    }

    /// Executable memory, by address.
    pub fn spans(&self) -> Arc<[Span]> {
        Arc::clone(&self.spans)
    }

    /// Path, first address and file offset of each mapping of a file.
    pub fn files(&self) -> &[(String, u64, u64)] {
        &self.files
    }
}

/// The span that an address is in.
pub(super) fn find(spans: &[Span], address: u64) -> Option<&Span> {
    let after = spans.partition_point(|span| span.start <= address);
    spans.get(after.checked_sub(1)?).filter(|span| address < span.end)
}
