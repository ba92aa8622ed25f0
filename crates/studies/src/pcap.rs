//! `pcap`: a capture of packets that was made elsewhere becomes a case, and is diagnosed like a recording, as far as the wire
//! tells. Nothing can be tried: there is no program to run.

use crate::diagnosis::{self, Diagnosis};
use crate::{Activity, Console, Document, Done, StudyError, views};
use case::facts::{NotTried, WhyNot};
use case::views::PageViews;
use case::{Answer, CaseWriter, Manifest, Names, Recording, Source};
use import::{Captured, Problem, read_capture};
use lab::Experiment;
use std::path::{Path, PathBuf};

/// What is to be done.
pub struct Request {
    /// The capture: pcap or pcapng, plain, gzip or zstd; `-` is standard input.
    pub file: PathBuf,
    /// The case's folder, which is not there yet.
    pub folder: PathBuf,
    /// Whether the case keeps names.
    pub names: Names,
    /// How to read it.
    pub reading: diagnose::Options,
}

/// Reads the capture into a case, and says what it means.
///
/// # Errors
/// Where the capture cannot be read, or the case cannot be written.
pub fn pcap(request: &Request, console: &dyn Console) -> Result<Done, StudyError> {
    let (mut writer, recording) = import(request, console)?;
    // The case is written while its rows, which are in memory, are diagnosed.
    let missing = recording.manifest.missing.clone();
    let folder = writer.folder().to_path_buf();
    let (closed, told) = std::thread::scope(|scope| {
        let closing = scope.spawn(|| {
            recording.write(&mut writer);
            writer.close()
        });
        let told = Told::of(&recording, &folder, request.reading, console);
        (closing.join(), told)
    });
    let case = closed.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    // Where rows found no room on the disk, the answer is what the case still tells.
    let told = if case.manifest().missing == missing {
        told
    } else {
        Told::of(&diagnosis::load(&case, console)?, case.folder(), request.reading, console)
    };
    // Freeing millions of rows takes as long as drawing the page: nobody waits for it.
    std::thread::spawn(move || drop(recording));
    if let Some(experiment) = &told.experiment {
        case.keep(lab::EXPERIMENT_FILE, experiment)?;
    }
    if diagnosis::keeps_no_names(&case) {
        return Done::without_names(case, request.reading, console);
    }
    Ok(Done::of(Document::Answer(Box::new(told.answer)), case, told.views))
}

/// What a capture tells.
struct Told {
    answer: Answer,
    views: Result<PageViews, StudyError>,
    /// Why nothing was tried, where something was found.
    experiment: Option<Experiment>,
}

impl Told {
    fn of(recording: &Recording, folder: &Path, reading: diagnose::Options, console: &dyn Console) -> Told {
        let Diagnosis { analysis, mut answer } = Diagnosis::of(recording, folder, reading, console);
        let experiment = (!answer.findings.is_empty()).then(|| {
            let why = "a capture cannot be run again; whyslow run records the program itself, and proves";
            let not_tried = vec![NotTried::of_all(WhyNot::NotHere, why)];
            let experiment = Experiment { not_tried, ..Experiment::default() };
            lab::judge(&mut answer, &experiment, &[]);
            experiment
        });
        let views = views::gathered(console, || Ok(views::of_answer(&answer, &analysis, &[])));
        Told { answer, views, experiment }
    }
}

/// The case, with nothing in it yet, and its rows.
fn import(request: &Request, console: &dyn Console) -> Result<(CaseWriter, Recording), StudyError> {
    let _activity = Activity::of(console, "reading the capture");
    let manifest = Manifest {
        schema: case::SCHEMA,
        whyslow: env!("CARGO_PKG_VERSION").to_string(),
        command: vec!["whyslow".to_string(), "pcap".to_string(), request.file.display().to_string()],
        names: request.names,
        source: Source::Capture,
        ..Manifest::default()
    };
    let mut writer = CaseWriter::create(&request.folder, manifest)?;
    let (captured, mut recording) = read_capture(&request.file).inspect_err(|_| {
        // It holds nothing, and would only be in the way.
        remove(&request.folder);
    })?;
    if captured.segments == 0 {
        remove(&request.folder);
        let problems = captured.problems.iter().map(|(problem, count)| words(problem, *count)).collect();
        return Err(StudyError::NoSegments { file: request.file.clone(), packets: captured.packets, problems });
    }
    let read = &recording.manifest;
    let manifest = writer.manifest();
    (manifest.start, manifest.end) = (read.start, read.end);
    manifest.started_unix_seconds = read.started_unix_seconds;
    manifest.missing.extend(sentences(&captured));
    recording.manifest = Manifest { closed: true, ..manifest.clone() };
    Ok((writer, recording))
}

fn remove(folder: &Path) {
    let _ = case::as_caller(|| std::fs::remove_dir_all(folder));
}

/// What the case lacks, a sentence each.
fn sentences(captured: &Captured) -> Vec<String> {
    captured.problems.iter().map(|(problem, count)| words(problem, *count)).collect()
}

fn words(problem: &Problem, count: u64) -> String {
    let packets = if count == 1 { "1 packet".to_string() } else { format!("{count} packets") };
    match problem {
        Problem::Link(number) => format!("{packets} of a link that is not read (type {number})"),
        Problem::NotTcp => format!("{packets} of something else than TCP"),
        Problem::CutShort => format!("{packets} captured without all of their heads (snapshot length too small)"),
        Problem::Fragment => format!("{packets} that are fragments"),
        Problem::Malformed => format!("{packets} whose heads contradict themselves"),
        Problem::Twice => format!("{packets} captured twice, counted once"),
        Problem::OutOfOrder => {
            format!("{packets} with a time before that of an earlier one: taken as of the same time")
        }
        Problem::FarOff => format!("{packets} more than a year after the first one: taken as of a year after it"),
        Problem::NoRoom => format!("{packets} at the end: there are more than a case holds"),
        Problem::Truncated => "what came after: the file ends in the middle of a packet".to_string(),
        Problem::Broken(what) => format!("what came after: the file is no capture from there on ({what})"),
    }
}
