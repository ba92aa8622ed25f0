//! Errors of `whyslow matrix`.

use super::Failure;
use lab::matrix::Problem;
use std::path::Path;
use std::time::Duration;

/// What is typed at its shortest.
const EXAMPLE: &str = "whyslow matrix --library openssl=1.1.1w,3.0.2 --with curl=8.0.1 -- COMMAND";

impl Failure {
    /// Libraries or versions that were not typed as they are.
    pub fn library(option: &str, why: &str) -> Failure {
        Failure::new(format!("invalid value for {option}"), why, EXAMPLE)
    }

    /// A library that nobody has said how to build.
    pub fn unknown_library(name: &str, known: &[&str]) -> Failure {
        let why = format!("whyslow can build {}", known.join(", "));
        Failure::new(format!("no source for `{name}`"), why, "--source FILE, which says how to build it")
    }

    /// A version that the registry does not have.
    pub fn unknown_version((library, package): (&str, &str), version: &str, nearest: &[String]) -> Failure {
        let why = match nearest {
            [] => format!("no package of {package} carries a version of it"),
            nearest => format!("{} has these close to it: {}", package, nearest.join(", ")),
        };
        let remedy = nearest.last().map_or(EXAMPLE.to_string(), |last| format!("--library {library}={last}"));
        Failure::new(format!("there is no {library} {version} in the registry"), why, remedy)
    }

    /// A registry that cannot be asked which versions there are.
    pub fn registry(problem: &Problem) -> Failure {
        let remedy = "check the network, or set WHYSLOW_CRATES_INDEX to a mirror's sparse index";
        Failure::new("cannot list versions from the registry", problem.why.clone(), remedy)
    }

    /// A file that does not say how a library is built.
    pub fn source(path: &Path, why: &str) -> Failure {
        let remedy = "compare it with crates/lab/sources/openssl.toml in whyslow's source";
        Failure::new(format!("{} is not a valid source file", path.display()), why, remedy)
    }

    /// Programs that building takes and that are not there.
    pub fn tools(missing: &[(String, String)]) -> Failure {
        let names = missing.iter().map(|(program, _)| program.as_str()).collect::<Vec<_>>().join(", ");
        let mut packages = missing.iter().map(|(_, package)| package.as_str()).collect::<Vec<_>>();
        packages.sort_unstable();
        packages.dedup();
        let why = format!("not in PATH: {names}");
        Failure::new("build tools are missing", why, format!("sudo apt install {}", packages.join(" ")))
    }

    /// Trials that take longer than was allowed.
    pub fn matrix_over_budget(least: Duration, budget: Duration, case: &Path) -> Failure {
        let why = format!(
            "it takes four runs on each version at least, {:.0} s in all; the recording is in {}",
            least.as_secs_f64(),
            case.display()
        );
        let what = format!("{:.0} s is too short for this program", budget.as_secs_f64());
        Failure::new(what, why, format!("--budget {:.0}s", (least * 3).as_secs_f64()))
    }

    /// A program that runs on, of which there is nothing to count either.
    pub fn matrix_endless(recorded: Duration, case: &Path) -> Failure {
        let why = format!(
            "it still ran after {:.0} s and makes no requests to count; the recording is in {}",
            recorded.as_secs_f64(),
            case.display()
        );
        let remedy = format!("--budget {:.0}s, if it ends by itself", (recorded * 16).as_secs_f64());
        Failure::new("the program does not end", why, remedy)
    }
}
