//! What a typed `compare` means: two subjects, each in its world with what is attached to it.

use crate::arguments::{CheckOutput, CompareArguments};
use crate::fail::Failure;
use crate::invoker::{Invoker, subject_user};
use crate::typed;
use lab::compare::Condition;
use lab::engine::Kind;
use lab::{Subject, TrialSpec};
use studies::compare::{Baseline, Request, Sided};

/// Reads what was typed, and the comparison of an earlier day that is to be compared with.
pub fn request(typed: &CompareArguments, invoker: &Invoker) -> Result<Request, Failure> {
    let sides = sides(typed, invoker)?;
    let conditions = conditions(&typed.fail_if)?;
    let baseline = typed.baseline.as_deref().map(Baseline::read).transpose()?;
    Ok(Request {
        budget: typed::budget(typed.budget.as_deref(), Kind::Compare)?,
        metric: typed::metric(typed.metric.as_deref())?,
        compares_output: typed.check_output == CheckOutput::Auto,
        folder: typed::case_folder(typed.keeping.folder.as_deref(), &sides[1].subject.client, invoker)?,
        sides,
        conditions,
        baseline,
    })
}

fn conditions(texts: &[String]) -> Result<Vec<Condition>, Failure> {
    let read = |text: &String| {
        text.parse().map_err(|why: String| Failure::value("--fail-if", &why, "--fail-if 'wall > 1.05x'"))
    };
    texts.iter().map(read).collect()
}

/// Both sides, A first.
fn sides(arguments: &CompareArguments, invoker: &Invoker) -> Result<[Sided; 2], Failure> {
    let first = match arguments.first.as_slice() {
        [] => arguments.second.clone(),
        [one] if one.contains(char::is_whitespace) => {
            typed::words(one).ok_or_else(|| Failure::value("A's command", "it has an unclosed quote", EXAMPLE))?
        }
        words => words.to_vec(),
    };
    let [mut a, b] = [
        side(arguments, &first, ("--a", &arguments.only_a), invoker)?,
        side(arguments, &arguments.second, ("--b", &arguments.only_b), invoker)?,
    ];
    if a.arm.parts.is_empty() {
        // What B's interventions are made of is attached to A too, inert: only what they do is to differ.
        a.arm.treatment = b.arm.treatment.inert();
    }
    Ok([a, b])
}

const EXAMPLE: &str = "whyslow compare 'curl -s https://host/ --cacert one.pem' -- curl -s https://host/";

fn side(
    arguments: &CompareArguments,
    command: &[String],
    (option, changes): (&str, &[String]),
    invoker: &Invoker,
) -> Result<Sided, Failure> {
    let mut world = typed::world(&arguments.world)?;
    let mut server = arguments.server.clone();
    let mut interventions = Vec::new();
    for change in changes {
        let wrong = |why: &str| Failure::value(option, why, &format!("{option} env=LANG=C"));
        let (key, value) = change.split_once('=').ok_or_else(|| wrong(&format!("`{change}` is not KEY=VALUE")))?;
        match key {
            "server" => server = Some(value.to_string()),
            "with" => interventions.push(value.to_string()),
            _ => world.change(key, value).map_err(|why| wrong(&format!("{why}, server, with")))?,
        }
    }
    typed::may_have(&world)?;
    world.check().map_err(|why| Failure::value(option, &why, "--link mtu=1500"))?;
    let addresses = typed::addresses(world.link);
    let server = typed::server(server.as_deref(), &world)?;
    let subject = Subject {
        client: typed::with_addresses(command, addresses),
        server,
        user: subject_user(arguments.keeping.user.as_deref(), invoker)?,
        input: lab::input_again().unwrap_or_default(),
    };
    let spec = TrialSpec {
        server: subject.server.clone().unwrap_or_default(),
        world: world.clone(),
        interventions,
        ..TrialSpec::default()
    };
    let wrong =
        |error: lab::LabError| Failure::value(option, &error.to_string(), &format!("{option} with=tcp-nodelay"));
    let arm = spec.arm(None, &[]).map_err(wrong)?;
    Ok(Sided { subject, world, arm, changes: changes.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(arguments: &CompareArguments) -> Result<[Sided; 2], Failure> {
        sides(arguments, &Invoker::find())
    }

    fn typed_as(first: &[&str], second: &[&str]) -> CompareArguments {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
        CompareArguments { first: words(first), second: words(second), ..CompareArguments::default() }
    }

    #[test]
    fn a_is_one_argument_or_words_or_the_same_as_b() {
        let command = |first: &[&str]| both(&typed_as(first, &["b", "x"])).map(|[a, _]| a.subject.client);
        assert_eq!(command(&["a -v 'x y'"]).unwrap_or_default(), ["a", "-v", "x y"]);
        assert_eq!(command(&["a", "v"]).unwrap_or_default(), ["a", "v"]);
        assert_eq!(command(&[]).unwrap_or_default(), ["b", "x"]);
        assert!(command(&["a 'x"]).is_err());
    }

    #[test]
    fn what_is_said_of_one_side_changes_only_that_side() {
        let arguments = CompareArguments {
            only_b: vec!["env=LANG=C".into(), "server=serve --fast".into(), "with=no-fsync".into()],
            server: Some("serve".into()),
            ..typed_as(&[], &["b"])
        };
        let [a, b] = both(&arguments).unwrap_or_else(|failure| panic!("{failure}"));
        assert!(a.world.environment.is_empty() && b.world.environment.len() == 1);
        assert_eq!(b.subject.server.unwrap_or_default(), ["serve", "--fast"]);
        assert_eq!((a.arm.parts.len(), b.arm.parts.len()), (0, 1));
        assert_eq!(a.arm.treatment, b.arm.treatment.inert());
    }

    #[test]
    fn a_key_that_there_is_not_is_refused_with_those_that_there_are() {
        let refused = |change: &str| {
            let arguments = CompareArguments { only_a: vec![change.into()], ..typed_as(&[], &["b"]) };
            both(&arguments).map(|_| ()).map_err(|failure| failure.to_string()).expect_err("refused")
        };
        assert!(refused("colour=red").contains("server, with"));
        assert!(refused("env").contains("KEY=VALUE"));
        assert!(refused("with=warp").contains("tcp-nodelay"));
    }
}
