//! `switch-off`: a function of the program that returns at once.

mod functions;

use super::{Intervention, NotHere, Request, intervention};
use crate::intervention_counters::{InterventionCounters, ShimCounts};
use crate::treatment::{Preload, Treatment};
use case::Recording;
use case::tables::kind;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The shim.
const SHIM: &str = "switch-off";

/// The program itself: without these there is nothing left to measure.
const WHOLE: [&str; 8] = ["main", "_start", "_init", "_fini", "main.main", "runtime.main", "__libc_start_main", "exit"];

/// Where a system keeps its libraries: what is in them is not the program's own work.
const SYSTEM: [&str; 4] = ["/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"];

/// The longest parameter of a shim, less what its file needs otherwise (`shim.h`).
const MOST_PARAMETER_BYTES: usize = 240;

/// Longer names do not fit into a file name.
const MOST_NAME_BYTES: usize = 120;

intervention! {
    /// # switch-off
    ///
    /// ## What it does
    /// Makes one function of the program return 0 at once, in the live image of the trial: its first bytes are
    /// overwritten before the program's first instruction. Nothing on disk changes. Named as `switch-off=FUNCTION` or,
    /// if several programs or libraries have a function of that name, `switch-off=MODULE!FUNCTION`, by the name in the
    /// symbol table or the demangled one that a recording shows. Clones that the compiler made of it
    /// (`FUNCTION.constprop.0`) are included.
    ///
    /// ## What it reaches
    /// Functions in the program's own file, static ones included, and in libraries of its own that are loaded at
    /// start-up, if the file has a symbol table and the function was not inlined. Not the system's libraries, not
    /// `main`, not static or Go programs, which load no shim. x86-64 only.
    ///
    /// ## How we know it took effect
    /// The shim counts the calls that returned at once. A function that is never called proves nothing.
    ///
    /// ## What it cannot prove
    /// That the program can do without. It counts only if the program runs to its end, exits with the same status and
    /// writes exactly the same to stdout, except for numbers that differ from run to run anyway; what it writes
    /// elsewhere (files, sockets, stderr) is not compared. A function that this input does not need may be needed for
    /// another: find out what it does before removing it.
    pub const SWITCH_OFF: Intervention = Intervention {
        name: "switch-off",
        summary: "makes a function of the program return at once",
        predictions: &[],
        about: "FUNCTION",
        needs_same_output: true,
        treat,
        applied,
    };
}

fn treat(request: &Request, treatment: &mut Treatment) -> Result<(), NotHere> {
    let Some(about) = request.about else {
        return Err(NotHere("needs the name of a function: switch-off=FUNCTION".into()));
    };
    let Some(recording) = request.recording else {
        return Err(NotHere("needs the case of a recorded run, which names the programs".into()));
    };
    let (module, function) = about.split_once('!').map_or((None, about), |(module, name)| (Some(module), name));
    if WHOLE.contains(&function) {
        return Err(NotHere(format!("does not accept {function}: that is the whole program")));
    }
    if about.is_empty() || about.len() > MOST_NAME_BYTES || about.contains(|letter: char| letter.is_control()) {
        return Err(NotHere(format!("takes a name of 1 to {MOST_NAME_BYTES} bytes")));
    }
    let files = files(recording, module)?;
    let seen = |file: &PathBuf| {
        let rows = recording
            .locations
            .iter()
            .filter(|row| row.function == function && file.as_os_str() == row.module.as_str());
        rows.map(|row| row.function_offset).filter(|offset| *offset > 0).collect::<BTreeSet<_>>()
    };
    let parameter = functions::find(&files, function, &seen).map_err(NotHere)?;
    if parameter.len() > MOST_PARAMETER_BYTES {
        return Err(NotHere(format!("found more clones of {function} than it can handle")));
    }
    treatment.preloads.push(Preload { shim: SHIM, parameter });
    Ok(())
}

fn applied(counters: &InterventionCounters) -> Result<u64, String> {
    match counters.shims.get(SHIM).copied().unwrap_or_default() {
        ShimCounts { seen: 0, loaded: 1.., .. } => Err("no program had the function where its file has it".into()),
        ShimCounts { seen: 1.., changed: 0, .. } => Err("the function was never called".into()),
        _ => counters.of_shim(SHIM),
    }
}

/// The files in which a function is looked for: programs that ran, and libraries of their own.
fn files(recording: &Recording, module: Option<&str>) -> Result<Vec<PathBuf>, NotHere> {
    let is_system = |path: &&str| SYSTEM.iter().any(|folder| path.starts_with(folder));
    let programs = recording.processes.iter().map(|row| row.executable.as_str()).collect::<BTreeSet<_>>();
    let native = recording.locations.iter().filter(|row| row.kind == kind::NATIVE && !row.is_libc);
    let libraries =
        native.map(|row| row.module.as_str()).filter(|path| path.starts_with('/') && !programs.contains(path));
    let is_meant = |path: &&str| module.is_none_or(|name| *path == name || path.rsplit('/').next() == Some(name));
    let (system, own): (BTreeSet<_>, BTreeSet<_>) = libraries.filter(is_meant).partition(is_system);
    let files = programs.iter().copied().filter(is_meant).chain(own).map(PathBuf::from).collect::<Vec<_>>();
    match (files.is_empty(), system.first(), module) {
        (false, _, _) => Ok(files),
        (true, Some(library), Some(_)) => {
            Err(NotHere(format!("does not accept functions of system libraries ({library})")))
        }
        (true, _, Some(name)) => Err(NotHere(format!("found no program or library `{name}` in the recording"))),
        (true, _, None) => Err(NotHere("found no program in the recording".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::tests::request;
    use case::tables::{Location, Process};

    fn refusal(recording: Option<&Recording>, about: Option<&str>) -> String {
        let world = World::default();
        let request = Request { recording, about, ..request(&world) };
        treat(&request, &mut Treatment::default()).expect_err("refused").0
    }

    fn ran(executable: &str, library: &str) -> Recording {
        Recording {
            processes: vec![Process { executable: executable.into(), ..Process::default() }],
            locations: vec![Location { module: library.into(), function: "work".into(), ..Location::default() }],
            ..Recording::default()
        }
    }

    #[test]
    fn it_says_what_it_needs() {
        let recording = ran("/usr/bin/env", "/usr/lib/libz.so.1");
        assert!(refusal(Some(&recording), None).contains("switch-off=FUNCTION"));
        assert!(refusal(None, Some("work")).contains("case of a recorded run"));
        assert!(refusal(Some(&recording), Some("main")).contains("the whole program"));
        assert!(refusal(Some(&recording), Some("libz.so.1!deflate")).contains("system libraries"));
        assert!(refusal(Some(&recording), Some("elsewhere!work")).contains("`elsewhere`"));
        assert!(refusal(Some(&recording), Some(&"x".repeat(200))).contains("120 bytes"));
    }

    #[test]
    fn what_was_never_called_did_not_take_effect() {
        let counted = |loaded, seen, changed| {
            let shims = [(SHIM, ShimCounts { loaded, seen, changed })].into();
            applied(&InterventionCounters { shims, ..InterventionCounters::default() })
        };
        assert_eq!(counted(1, 1, 3), Ok(3));
        assert!(counted(1, 1, 0).is_err_and(|why| why.contains("never called")));
        assert!(counted(1, 0, 0).is_err_and(|why| why.contains("no program had")));
        assert!(counted(0, 0, 0).is_err_and(|why| why.contains("statically linked")));
    }
}
