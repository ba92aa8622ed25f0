//! `no-explicit-gc`: a Java machine that does not collect when the program asks for it.

use super::{Intervention, NotHere, Prediction, Request, intervention};
use crate::treatment::Treatment;

/// What a Java machine calls when a program asks for a collection (`jvm.h`).
const ASKED: &str = "JVM_GC";
const OPTION: &str = "-XX:+DisableExplicitGC";
/// Counts for more than what a command line says.
const VARIABLE: &str = "_JAVA_OPTIONS";

intervention! {
    /// # no-explicit-gc
    ///
    /// ## What it does
    /// Has Java machines pass over what the program asks them to collect (System.gc): -XX:+DisableExplicitGC, in a variable that
    /// counts for more than the command line (_JAVA_OPTIONS). They still collect when they need room.
    ///
    /// ## What it reaches
    /// Java machines. Not collections that are asked for from outside (jcmd), and not other runtimes, which have no such switch.
    ///
    /// ## How we know it took effect
    /// The variable is in the environment of the programs. Tried only where the program was seen asking.
    ///
    /// ## What it cannot prove
    /// That nobody needs the collections: a program that asks for them to free what is not on its heap (direct buffers) may run out
    /// of that.
    pub const NO_EXPLICIT_GC: Intervention = Intervention {
        name: "no-explicit-gc",
        summary: "has Java not collect when the program asks for it",
        predictions: &[Prediction::gains("P37").refutes_nothing("the collector may run by itself just as often")],
        treat,
        applied: |_| Ok(1),
    };
}

fn treat(request: &Request, treatment: &mut Treatment) -> Result<(), NotHere> {
    let recording = request.recording.ok_or_else(|| NotHere("needs a recording".to_string()))?;
    if !recording.locations.iter().any(|location| location.function == ASKED) {
        return Err(NotHere("needs a Java program that was seen asking for collections".to_string()));
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
    fn only_a_java_machine_that_was_asked_is_told_not_to_listen() {
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
