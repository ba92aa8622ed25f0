//! `no-explicit-gc`: Java that ignores System.gc().

use super::{Intervention, NotHere, Prediction, Request, intervention};
use crate::treatment::Treatment;

/// What System.gc() comes to (`jvm.h`).
const ASKED: &str = "JVM_GC";
const OPTION: &str = "-XX:+DisableExplicitGC";
/// Overrides the command line.
const VARIABLE: &str = "_JAVA_OPTIONS";

intervention! {
    /// # no-explicit-gc
    ///
    /// ## What it does
    /// Makes Java ignore System.gc(): -XX:+DisableExplicitGC in _JAVA_OPTIONS, which overrides the command line. It still
    /// collects when it runs out of room.
    ///
    /// ## What it reaches
    /// Java. Not collections that are forced from outside (jcmd), and not other runtimes, which have no such switch.
    ///
    /// ## How we know it took effect
    /// The variable is in the programs' environment. Tried only where the program was caught forcing a collection.
    ///
    /// ## What it cannot prove
    /// That nobody needs those collections: a program that relies on them to free memory outside its heap (direct buffers)
    /// may run out of it.
    pub const NO_EXPLICIT_GC: Intervention = Intervention {
        name: "no-explicit-gc",
        summary: "makes Java ignore System.gc()",
        predictions: &[Prediction::gains("P37").refutes_nothing("the collector may run by itself just as often")],
        treat,
        applied: |_| Ok(1),
    };
}

fn treat(request: &Request, treatment: &mut Treatment) -> Result<(), NotHere> {
    let recording = request.recording.ok_or_else(|| NotHere("needs a recording".to_string()))?;
    if !recording.locations.iter().any(|location| location.function == ASKED) {
        return Err(NotHere("needs a Java program that forces collections (System.gc)".to_string()));
    }
    let given = match request.world.environment.get(VARIABLE) {
        Some(given) => given.clone(),
        None => std::env::var(VARIABLE).ok(),
    };
    let options = given.map_or(OPTION.to_string(), |given| format!("{given} {OPTION}"));
    treatment.environment.push((VARIABLE.to_string(), Some(options)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::tests::{finding_at, request};
    use crate::treatment::End;
    use case::tables::Location;

    #[test]
    fn only_java_that_was_caught_forcing_collections_is_told_to_ignore_that() {
        let (mut recording, finding) = finding_at(End::Server);
        let mut world = World::default();
        world.environment.insert(VARIABLE.to_string(), Some("-Da=b".to_string()));
        let options = |recording: &case::Recording| {
            let request = Request { recording: Some(recording), finding: Some(&finding), ..request(&world) };
            let mut treatment = Treatment::default();
            treat(&request, &mut treatment).map(|()| treatment.environment)
        };
        assert!(options(&recording).is_err());
        recording.locations.push(Location { function: ASKED.into(), ..Location::default() });
        let set = (VARIABLE.to_string(), Some("-Da=b -XX:+DisableExplicitGC".to_string()));
        assert_eq!(options(&recording), Ok(vec![set]));
    }
}
