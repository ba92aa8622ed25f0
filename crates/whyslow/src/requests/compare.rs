//! What `compare` is asked: two subjects, each in its world with what is attached to it.

use super::{case_folder_without_names, client, may_have};
use crate::arguments::{CheckOutput, CompareArguments, Says};
use crate::invoker::subject_user;
use fail::Failure;
use lab::Subject;
use lab::compare::Which;
use lab::engine::Kind;
use studies::compare::{Baseline, Change, Request, Sided};
use studies::{StudyError, Words};

/// Works out both sides, and reads the earlier comparison that is to be compared with.
pub fn request(mut typed: CompareArguments) -> Result<Request, Failure> {
    let says = Says::for_metric(typed.metric.as_ref());
    typed.second = client(std::mem::take(&mut typed.second), typed.load.as_ref(), says)?;
    let first = match typed.first.as_slice() {
        [] => typed.second.clone(),
        [one] if one.contains(char::is_whitespace) => {
            one.parse::<Words>().map_err(|why| Failure::value("A's command", &why, EXAMPLE))?.to_vec()
        }
        words => words.to_vec(),
    };
    let a = side(&typed, &first, (Which::A, &typed.only_a))?;
    let sides = Sided::paired([a, side(&typed, &typed.second, (Which::B, &typed.only_b))?]);
    Ok(Request {
        budget: typed.budget.unwrap_or(Kind::Compare.budget()),
        metric: typed.metric,
        // What a load writes are measurements: they differ from run to run.
        compares_output: typed.check_output == CheckOutput::Auto && typed.load.is_none(),
        folder: case_folder_without_names(
            typed.keeping.folder.as_deref(),
            &sides[1].subject.client,
            typed.keep_names.into(),
        )?,
        sides,
        conditions: typed.fail_if,
        baseline: typed.baseline.as_deref().map(Baseline::read).transpose()?,
    })
}

const EXAMPLE: &str = "whyslow compare 'curl -s https://host/ --cacert one.pem' -- curl -s https://host/";

fn side(typed: &CompareArguments, command: &[String], (which, changes): (Which, &[Change])) -> Result<Sided, Failure> {
    let sided = Sided::of(command, typed.server.as_ref(), typed.world.world(), changes);
    let mut sided = sided.map_err(|error| StudyError::OfSide { side: which, source: Box::new(error) })?;
    sided.world = may_have(sided.world)?;
    let (user, input) = (subject_user(typed.keeping.user)?, lab::input_again().unwrap_or_default());
    sided.subject = Subject { user, input, names: typed.keep_names.into(), ..sided.subject };
    Ok(sided)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Command};

    #[test]
    fn a_is_one_argument_or_words_or_the_same_as_b() {
        let command = |first: &[&str]| {
            let words = [&["whyslow", "compare", "-o", "/tmp/new"], first, &["--", "b", "x"]].concat();
            let words = words.iter().map(ToString::to_string).collect::<Vec<_>>();
            let Ok(Arguments { command: Command::Compare(typed) }) = Arguments::parse_words(&words) else { panic!() };
            request(*typed).map(|request| request.sides[0].subject.client.clone())
        };
        assert_eq!(command(&["a -v 'x y'"]).unwrap_or_default(), ["a", "-v", "x y"]);
        assert_eq!(command(&["a", "v"]).unwrap_or_default(), ["a", "v"]);
        assert_eq!(command(&[]).unwrap_or_default(), ["b", "x"]);
        assert!(command(&["a 'x"]).is_err());
    }
}
