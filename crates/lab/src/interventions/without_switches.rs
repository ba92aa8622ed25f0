//! `without-switches`: the environment and the command line without what makes a runtime slow; and `same-switches`: the same
//! machinery, which leaves it there.

use super::{Intervention, NotHere, Prediction, Request, intervention};
use crate::treatment::{Preload, Treatment};
use case::switches::{self, Reader, SetIn, Switch};
use std::collections::BTreeSet;

/// What a shim's parameter can hold (`shim_parameter` in `shim.h`), less the end of the line and of the text.
const LONGEST: usize = 253;

/// The shim of both.
const SHIM: &str = "without-switches";

intervention! {
    /// # without-switches
    ///
    /// ## What it does
    /// Takes the switches of the finding out of the environment before the program reads it: PYTHONTRACEMALLOC, or
    /// -Xint out of JAVA_TOOL_OPTIONS. What else such a variable says stays. On the command line, an option that asks for
    /// what the runtime does anyway takes the place of the switch: -Xmixed that of -Xint.
    ///
    /// ## What it reaches
    /// Dynamically linked programs, also where a script of theirs sets the variable or the option. What libraries read
    /// while they are loaded (OPENSSL_ia32cap, GLIBC_TUNABLES) only where it is set outside of the program, and so what a
    /// Go program without libraries reads (GOMAXPROCS). Options need the GNU C library.
    ///
    /// ## How we know it took effect
    /// The shim counts programs that begin without the switches.
    pub const WITHOUT_SWITCHES: Intervention = Intervention {
        name: "without-switches",
        summary: "takes the switches that make it slow out of the program's environment and command line",
        predictions: &[Prediction::gains("P54")],
        treat: |request, treatment| treat(request, treatment, false),
        applied: |counters| counters.of_shim(SHIM),
    };
}

intervention! {
    /// # same-switches
    ///
    /// ## What it does
    /// Takes the switches of the finding out of the environment and the command line and puts them back before the program
    /// reads them: a control for `without-switches`. An environment that lies elsewhere in memory can by itself make a
    /// program slower or faster.
    ///
    /// ## What it reaches
    /// The same as `without-switches`.
    ///
    /// ## How we know it took effect
    /// The shim counts programs that begin with their switches put back.
    pub const SAME_SWITCHES: Intervention = Intervention {
        name: "same-switches",
        summary: "takes the switches out of the program's environment and command line and puts them back",
        predictions: &[Prediction::does_nothing("P54")],
        treat: |request, treatment| treat(request, treatment, true),
        applied: |counters| counters.of_shim(SHIM),
    };
}

fn treat(request: &Request, treatment: &mut Treatment, is_control: bool) -> Result<(), NotHere> {
    let found = found(request);
    if found.is_empty() {
        return Err(NotHere("needs a finding that names switches of a runtime".to_string()));
    }
    let mut words: Vec<String> = Vec::from_iter(is_control.then(|| "again".to_string()));
    for (switch, written) in &found {
        let variable = match switch.set_in {
            SetIn::Option { neutral } => {
                words.push(format!("{written}>{}", if is_control { written } else { neutral }));
                continue;
            }
            SetIn::Variable(name) => name,
        };
        words.push((*written).to_string());
        if switch.reader != Reader::Runtime {
            let Some(given) = given(request, variable) else {
                // Set by a script. Where the program has libraries after all, the shim comes before it.
                if switch.reader == Reader::Program {
                    continue;
                }
                return Err(NotHere(format!(
                    "needs {variable} to be set outside of the program: its libraries read it"
                )));
            };
            // Several switches can stand in one variable.
            let before = treatment.environment.iter().rev().find(|(name, _)| name == variable);
            let value = before.map_or(Some(given), |(_, value)| value.clone());
            let value = if is_control { value } else { value.and_then(|value| switches::without(&value, written)) };
            treatment.environment.push((variable.to_string(), value));
        }
    }
    let parameter = words.join(" ");
    if parameter.len() >= LONGEST {
        return Err(NotHere(format!("needs switches of at most {LONGEST} letters")));
    }
    treatment.preloads.push(Preload { shim: SHIM, parameter });
    Ok(())
}

/// What a variable has been set to outside of the program.
fn given(request: &Request, name: &str) -> Option<String> {
    let set = request.world.environment.get(name);
    set.map_or_else(|| std::env::var(name).ok(), Clone::clone).filter(|value| !value.is_empty())
}

/// The switches of the processes that the finding's samples are of.
fn found<'r>(request: &Request<'r>) -> Vec<(&'static Switch, &'r str)> {
    let Some((recording, finding)) = request.recording.zip(request.finding) else { return Vec::new() };
    let rows = finding.evidence.rows.iter().filter(|_| finding.evidence.table == "samples");
    let pids: BTreeSet<u32> =
        rows.filter_map(|row| recording.samples.get(*row as usize)).map(|sample| sample.pid).collect();
    let processes = recording.processes.iter().filter(|process| pids.contains(&process.pid));
    let mut found: Vec<(&Switch, &str)> = Vec::new();
    for one in processes.flat_map(switches::of) {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::tests::{finding_at, request};
    use crate::treatment::End;
    use case::Evidence;
    use case::tables::Sample;

    /// What is done for a server with these switches, where these variables are set outside.
    fn treated(switches: &str, given: &[(&str, &str)], is_control: bool) -> Result<Treatment, NotHere> {
        treated_of("java", switches, given, is_control)
    }

    fn treated_of(
        runtime: &str,
        switches: &str,
        given: &[(&str, &str)],
        is_control: bool,
    ) -> Result<Treatment, NotHere> {
        let (mut recording, mut finding) = finding_at(End::Server);
        finding.evidence = Evidence { table: "samples".into(), rows: vec![0] };
        recording.samples.push(Sample { tid: 20, pid: 20, ..Sample::default() });
        recording.processes[1].runtime = runtime.into();
        recording.processes[1].switches = switches.into();
        let mut world = World::default();
        for name in ["OPENSSL_ia32cap", "GLIBC_TUNABLES", "GOMAXPROCS"] {
            let value = given.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_string());
            world.environment.insert(name.to_string(), value);
        }
        let request = Request { recording: Some(&recording), finding: Some(&finding), ..request(&world) };
        let mut treatment = Treatment::default();
        treat(&request, &mut treatment, is_control).map(|()| treatment)
    }

    #[test]
    fn what_a_runtime_reads_is_taken_out_in_the_program() {
        let treatment = treated("JAVA_TOOL_OPTIONS=-Xint PYTHONDEVMODE", &[], false).expect("treated");
        assert_eq!(treatment.preloads[0].parameter, "JAVA_TOOL_OPTIONS=-Xint", "Java reads no variable of Python's");
        assert!(treatment.environment.is_empty());
        assert!(treated("", &[], false).is_err());
        assert!(treated("PYTHONDEVMODE", &[], false).is_err());
    }

    #[test]
    fn an_option_gives_way_to_one_that_asks_for_nothing() {
        let parameter = |is_control| {
            let treatment = treated("JAVA_TOOL_OPTIONS=-Xint -Xint", &[], is_control).expect("treated");
            treatment.preloads[0].parameter.clone()
        };
        assert_eq!(parameter(false), "JAVA_TOOL_OPTIONS=-Xint -Xint>-Xmixed");
        assert_eq!(parameter(true), "again JAVA_TOOL_OPTIONS=-Xint -Xint>-Xint");
    }

    #[test]
    fn what_libraries_read_is_taken_out_before_the_program() {
        let switches = "GLIBC_TUNABLES=glibc.malloc.check=3";
        let value = "glibc.malloc.check=3:glibc.malloc.arena_max=1";
        let left = |is_control| {
            let treatment = treated(switches, &[("GLIBC_TUNABLES", value)], is_control).expect("treated");
            treatment.environment[0].1.clone()
        };
        assert_eq!(left(false).as_deref(), Some("glibc.malloc.arena_max=1"));
        assert_eq!(left(true).as_deref(), Some(value));
        let both = "GLIBC_TUNABLES=glibc.malloc.check=3 GLIBC_TUNABLES=glibc.malloc.perturb=1";
        let value = "glibc.malloc.check=3:glibc.malloc.perturb=1";
        let treatment = treated(both, &[("GLIBC_TUNABLES", value)], false).expect("treated");
        assert_eq!(treatment.environment.last().map(|(_, value)| value.clone()), Some(None), "both are gone");
        assert!(treated(switches, &[], false).is_err(), "a script of the program's sets it");
    }

    #[test]
    fn what_a_program_reads_as_it_starts_is_taken_out_before_it_where_it_is_set_there() {
        let given = treated_of("go 1.22", "GOMAXPROCS=1", &[("GOMAXPROCS", "1")], false).expect("treated");
        assert_eq!(given.environment, [("GOMAXPROCS".to_string(), None)]);
        let inside = treated_of("go 1.22", "GOMAXPROCS=1", &[], false).expect("treated");
        assert_eq!((inside.environment.len(), inside.preloads[0].parameter.as_str()), (0, "GOMAXPROCS=1"));
    }
}
