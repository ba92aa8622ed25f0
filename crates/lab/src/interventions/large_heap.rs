//! `large-heap`: room for a garbage collector.

use super::{Intervention, NotHere, Prediction, Request, intervention};
use crate::treatment::Treatment;
use case::tables::Thread;
use std::collections::BTreeSet;

/// What the names of a Java machine's own threads begin with that collect.
const JAVA_THREADS: [&str; 6] = ["GC Thread#", "ParGC Thread", "VM Thread", "G1 ", "ZWorker", "Shenandoah"];
/// Where the running system says how much memory it has.
const MEMORY: &str = "/proc/meminfo";
/// A Java machine that is not told otherwise takes a quarter of the memory at most.
const JAVA_SHARE: u64 = 4;
/// Eight times what Go's collector lets the heap grow by if it is not told otherwise: an eighth of the collections.
const GO_PERCENT: &str = "800";
/// In megabytes: four times V8's default for young objects, and twice the usual one for old ones.
const V8_OPTIONS: &str = "--max-semi-space-size=64 --max-old-space-size=4096";

intervention! {
    /// # large-heap
    ///
    /// ## What it does
    /// Gives a garbage collector room by the variables that its runtime reads: a Java machine may take a quarter of the
    /// memory, as it would by default (_JAVA_OPTIONS, which counts for more than its command line); Go collects an eighth
    /// as often (GOGC, and no GOMEMLIMIT); Node.js keeps more before it collects (NODE_OPTIONS).
    ///
    /// ## What it reaches
    /// Java machines. Go and Node.js only where such a variable is set: a heap that the program's code or its command line
    /// sets counts for more. CPython and others have no such variable.
    ///
    /// ## How we know it took effect
    /// The variable is in the environment of the programs. What the code of a Go program (SetGCPercent) or the command line of
    /// Node.js sets all the same counts for more, and is not seen: then nothing changes. So a gain proves the cause, and
    /// where there is none it is left open.
    pub const LARGE_HEAP: Intervention = Intervention {
        name: "large-heap",
        summary: "gives the garbage collector a larger heap",
        predictions: &[
            Prediction::gains("P37")
                .refutes_nothing("what the program's code or command line says of its heap counts for more"),
        ],
        treat,
        applied: |_| Ok(1),
    };
}

/// Whose collector it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runtime {
    Java,
    Go,
    V8,
}

fn treat(request: &Request, treatment: &mut Treatment) -> Result<(), NotHere> {
    let unknown = || {
        NotHere("needs Java, Go or Node.js: no other runtime reads the size of its heap from a variable".to_string())
    };
    let runtime = collecting(request).ok_or_else(unknown)?;
    let set = |name: &str| match request.world.environment.get(name) {
        Some(given) => given.clone(),
        None => std::env::var(name).ok(),
    };
    let by_variable = |name: &str| {
        let inside = format!("needs {name} in the environment: a limit that the program sets itself counts for more");
        set(name).filter(|value| !value.is_empty()).ok_or(NotHere(inside))
    };
    let mut put = |name: &str, value: String| treatment.environment.push((name.to_string(), Some(value)));
    match runtime {
        Runtime::Java => {
            let memory = std::fs::read_to_string(MEMORY).ok().and_then(|text| total(&text));
            let memory = memory.ok_or_else(|| NotHere(format!("cannot read {MEMORY}")))?;
            let heap = format!("-Xmx{}k", memory / JAVA_SHARE);
            put("_JAVA_OPTIONS", set("_JAVA_OPTIONS").map_or(heap.clone(), |given| format!("{given} {heap}")));
        }
        Runtime::Go => {
            if set("GOMEMLIMIT").is_none_or(|limit| limit.is_empty()) {
                by_variable("GOGC")?;
            }
            put("GOGC", GO_PERCENT.to_string());
            put("GOMEMLIMIT", "off".to_string());
        }
        Runtime::V8 => {
            let given = by_variable("NODE_OPTIONS")?;
            put("NODE_OPTIONS", format!("{given} {V8_OPTIONS}"));
        }
    }
    Ok(())
}

/// The system's memory in KiB, from what `/proc/meminfo` holds.
fn total(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?.split_whitespace().next()?.parse().ok()
}

/// Whose collector it is: by the threads of the processes that the finding's samples are of, and by what else they ran.
fn collecting(request: &Request) -> Option<Runtime> {
    let recording = request.recording?;
    let finding = request.finding.filter(|finding| finding.evidence.table == "samples")?;
    let samples = finding.evidence.rows.iter().filter_map(|row| recording.samples.get(*row as usize));
    let pids: BTreeSet<u32> = samples.map(|sample| sample.pid).collect();
    let is_java = |row: &Thread| JAVA_THREADS.iter().any(|name| row.name.starts_with(name));
    if recording.threads.iter().any(|row| pids.contains(&row.pid) && is_java(row)) {
        return Some(Runtime::Java);
    }
    let own = recording.samples.iter().filter(|sample| pids.contains(&sample.pid));
    let stacks: BTreeSet<u32> = own.map(|sample| sample.stack).collect();
    let frames = recording.stacks.iter().filter(|row| stacks.contains(&row.stack));
    let locations: BTreeSet<u32> = frames.map(|row| row.location).collect();
    let functions = recording.locations.iter().filter(|row| locations.contains(&row.id));
    functions.map(|row| row.function.as_str()).find_map(|function| match function {
        go if go.starts_with("runtime.gc") || go.starts_with("runtime.bgsweep") => Some(Runtime::Go),
        v8 if v8.starts_with("v8::internal::") => Some(Runtime::V8),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::tests::{finding_at, request};
    use crate::treatment::End;
    use case::Evidence;
    use case::tables::{Location, Sample, StackFrame};

    /// The variables that are set for a sample of a thread of this name in this function.
    fn variables(thread: &str, function: &str, given: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
        let (mut recording, mut finding) = finding_at(End::Server);
        finding.evidence = Evidence { table: "samples".into(), rows: vec![0] };
        recording.threads.push(Thread { tid: 6, pid: 20, name: thread.into(), ..Thread::default() });
        recording.locations.push(Location { id: 4, function: function.into(), ..Location::default() });
        recording.stacks.push(StackFrame { stack: 7, location: 4, ..StackFrame::default() });
        recording.samples.push(Sample { stack: 7, tid: 5, pid: 20, ..Sample::default() });
        let mut world = World::default();
        for name in ["GOGC", "GOMEMLIMIT", "NODE_OPTIONS", "_JAVA_OPTIONS"] {
            let value = given.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_string());
            world.environment.insert(name.to_string(), value);
        }
        let request = Request { recording: Some(&recording), finding: Some(&finding), ..request(&world) };
        let mut treatment = Treatment::default();
        treat(&request, &mut treatment)
            .ok()
            .map(|()| treatment.environment.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
    }

    #[test]
    fn a_java_machine_gets_the_heap_it_would_take_by_itself() {
        let set = variables("GC Thread#0", "", &[("_JAVA_OPTIONS", "-Da=b")]).expect("tried");
        assert!(set[0].1.starts_with("-Da=b -Xmx") && set[0].1.ends_with('k'), "{set:?}");
        assert_eq!(total("MemFree: 1 kB\nMemTotal:       24576 kB\n"), Some(24576));
    }

    #[test]
    fn go_and_node_are_given_room_where_a_variable_took_it() {
        assert_eq!(variables("server", "runtime.gcBgMarkWorker", &[]), None);
        let set = variables("server", "runtime.gcBgMarkWorker", &[("GOGC", "5")]).expect("tried");
        assert_eq!(set[0], ("GOGC".to_string(), "800".to_string()));
        assert_eq!(variables("node", "v8::internal::Heap::CollectGarbage", &[]), None);
        let given = [("NODE_OPTIONS", "--max-semi-space-size=1")];
        let set = variables("node", "v8::internal::Heap::CollectGarbage", &given).expect("tried");
        assert!(set[0].1.starts_with("--max-semi-space-size=1 --max"), "{set:?}");
    }

    #[test]
    fn other_runtimes_are_left_alone() {
        assert_eq!(variables("python3", "gc_collect_main", &[("GOGC", "5")]), None);
    }
}
