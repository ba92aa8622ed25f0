//! Errors of studies.

use super::{Failure, again, quote_path};
use lab::LabError;
use lab::compare::{Unlike, Which};
use lab::worlds::WorldName;
use std::path::Path;
use std::time::Duration;
use studies::load::LoadFailure;
use studies::services::RulesError;
use studies::story::StoryError;
use studies::{MatrixError, ProgramThere, StudyError};

/// Command lines that work.
const SWEEP: &str = "whyslow sweep --vary size=1..16K:log -- COMMAND {size}";
const MATRIX: &str = "whyslow matrix --library openssl=1.1.1w,3.0.2 --with curl=8.0.1 -- COMMAND";

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Failure {
        let what = error.to_string();
        match error {
            StudyError::Case(error) => error.into(),
            StudyError::Record(error) => error.into(),
            StudyError::Import(error) => error.into(),
            StudyError::Lab(error) => error.into(),
            StudyError::Matrix(error) => error.into(),
            StudyError::Load(error) => error.into(),
            StudyError::Feeds(error) => error.into(),
            StudyError::Sweep(error) => sweep(error),
            StudyError::NoValues { from, examples } => no_values(&from, &examples),
            StudyError::NotDriven { command, why } => Failure::new("the command gives no series", why, command),
            StudyError::NoSegments { file, problems, .. } => no_segments(&file, &problems),
            StudyError::Temporary(error) => Failure::output(&error),
            StudyError::OfSide { side, source } => Failure::from(*source).at(side.arm()),
            StudyError::Unlike { unlike, case } => unequal(&unlike, &case),
            StudyError::InWorld { side, name, program, source } => {
                let failure = Failure::from(*source).at(&format!("in the {side} world ({name})"));
                let remedy = if program == ProgramThere::Missing { bring(&name) } else { failure.remedy };
                Failure { remedy, ..failure }
            }
            StudyError::Spec { file, why } => {
                let what = format!("{} is not a valid trial file", file.display());
                Failure::new(what, why.to_string(), "whyslow trial --help shows an example")
            }
            StudyError::Vary(why) => Failure::new("invalid value for --vary", why, SWEEP),
            StudyError::NoBaseline(_) => {
                Failure::new("no baseline", what, "whyslow compare -o FOLDER -- COMMAND   (makes one)")
            }
            StudyError::GivenUp { case } => {
                let why = format!("there is nothing to work with yet; {}", recorded(&case));
                Failure::new("interrupted", why, again())
            }
            StudyError::WorldInterrupted => {
                Failure::new(what, "the world was still being made; what was downloaded is kept", again())
            }
            StudyError::NothingRecorded(case) => {
                let why = "it has trials only; recordings are made only if the trials differ";
                Failure::not_recorded(&case, "this case has no recording", why)
            }
            StudyError::NoProcess(_) => {
                Failure::new(what, "no process has that PID, or it has exited", "pgrep -a NAME; whyslow attach PID")
            }
            StudyError::NobodyListens(_) => {
                let why = "no process you may inspect has a listening TCP socket there";
                Failure::new(what, why, "ss -ltnp; whyslow attach PID")
            }
            StudyError::SeveralListen { pids, .. } => several_listen(what, &pids),
            StudyError::Endless { recorded: length, case, .. } => endless(what, length, &case),
            StudyError::OverBudget { least, case, .. } => {
                let why = format!("it takes at least four runs of each, {} in all; {}", typed(least), recorded(&case));
                Failure::new(what, why, format!("--budget {}", typed(least * 3)))
            }
            StudyError::Undecidable { metrics, .. } => {
                let measured = metrics.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                let why = format!("metrics measured for these programs: {measured}");
                Failure::new(what, why, "--fail-if 'wall > 1.05x'")
            }
            StudyError::FailsInWorld { name, status, said, case, .. } => {
                let why = format!("it exits with status {status} there and not in the other{}", quoted(&said));
                Failure::new(what, format!("{why}; {}", kept(&case)), enter(&name))
            }
            StudyError::NotInWorld { name, said, case, .. } => {
                let why = format!("it exits with status 127 in both{}; {}", quoted(&said), kept(&case));
                Failure::new(what, why, bring(&name))
            }
        }
    }
}

/// A series in which no values stand.
fn no_values(from: &str, examples: &[String]) -> Failure {
    let why = match examples.first() {
        Some(line) => format!("{from} holds none; its first line is: {line}"),
        None => format!("{from} is empty"),
    };
    let remedy = "whyslow steps --pattern '([0-9.]+) Mbits/sec' FILE, or --column NAME for a table";
    Failure::new("there is no series of values", why, remedy)
}

/// A capture in which there is nothing of TCP.
fn no_segments(file: &Path, problems: &[String]) -> Failure {
    let why = if problems.is_empty() { "it holds no packets".to_string() } else { problems.join("; ") };
    Failure::new("the capture has no TCP packets", why, format!("tcpdump -nr {} | head", quote_path(file)))
}

/// A port on which more than one process listens.
fn several_listen(what: String, pids: &[u32]) -> Failure {
    let list = pids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let first = pids.first().copied().unwrap_or_default();
    Failure::new(what, format!("they are processes {list}"), format!("whyslow attach {first}"))
}

/// A program that would have to end by itself to be measured, and has not.
fn endless(what: String, length: Duration, case: &Path) -> Failure {
    let seconds = length.as_secs_f64();
    let why = format!("it still ran after {seconds:.0} s and makes no requests to count; {}", recorded(case));
    Failure::new(what, why, format!("--budget {}, if it ends by itself", typed(length * 16)))
}

impl From<RulesError> for Failure {
    fn from(error: RulesError) -> Failure {
        Failure::new("the rules for alarms cannot be used", error.to_string(), "docs/watch.md shows a file of rules")
    }
}

impl From<LoadFailure> for Failure {
    fn from(error: LoadFailure) -> Failure {
        let what = "the load could not begin";
        let why = error.to_string();
        match error {
            LoadFailure::SeveralServers => {
                Failure::new(what, why, "whyslow load http://127.0.0.1/a 2*http://127.0.0.1/b")
            }
            LoadFailure::LookUp { host, .. } => {
                Failure::new(what, why, format!("getent hosts {}", quote_path(Path::new(&host))))
            }
            LoadFailure::Authorities { file, .. } => {
                Failure::new(what, why, format!("openssl x509 -noout -subject -in {}", quote_path(&file)))
            }
            LoadFailure::Histogram { file, .. } => {
                let remedy = format!("whyslow load --histogram {} URL   (writes one)", quote_path(&file));
                Failure::new("the histogram cannot be read", why, remedy)
            }
            LoadFailure::NothingToReplay { file, .. } => {
                let remedy = format!("whyslow load --replay {} --all-methods URL", quote_path(&file));
                Failure::new(what, why, remedy)
            }
            LoadFailure::Tls(_) => Failure::new(what, why, "whyslow load --insecure https://127.0.0.1/"),
            LoadFailure::System(error) => Failure::system(None, "driving a load", &error),
        }
    }
}

impl From<MatrixError> for Failure {
    fn from(error: MatrixError) -> Failure {
        let what = error.to_string();
        match error {
            MatrixError::Libraries(why) => Failure::new("invalid value for --library", why, MATRIX),
            MatrixError::UnknownLibrary { known, .. } => {
                let why = format!("whyslow can build {}", known.join(", "));
                Failure::new(what, why, "--source FILE, which says how to build it")
            }
            MatrixError::Source { file, why } => {
                let remedy = "compare it with crates/lab/sources/openssl.toml in whyslow's source";
                Failure::new(format!("{} is not a valid source file", file.display()), why, remedy)
            }
            MatrixError::UnknownVersion { library, package, nearest, .. } => match nearest.last() {
                None => Failure::new(what, format!("no package of {package} carries a version of it"), MATRIX),
                Some(last) => {
                    let why = format!("{package} has these close to it: {}", nearest.join(", "));
                    Failure::new(what, why, format!("--library {library}={last}"))
                }
            },
            MatrixError::Registry(problem) => {
                let remedy = "check the network, or set WHYSLOW_CRATES_INDEX to a mirror's sparse index";
                Failure::new(what, problem.why, remedy)
            }
            MatrixError::Tools(missing) => {
                let names = missing.iter().map(|(program, _)| program.as_str()).collect::<Vec<_>>().join(", ");
                let mut packages = missing.iter().map(|(_, package)| package.as_str()).collect::<Vec<_>>();
                packages.sort_unstable();
                packages.dedup();
                Failure::new(what, format!("not in PATH: {names}"), format!("sudo apt install {}", packages.join(" ")))
            }
        }
    }
}

/// A sweep that came to nothing.
fn sweep(error: LabError) -> Failure {
    match error {
        LabError::World(why) => {
            Failure::new("no value could be measured", why, "run the command on its own with one of the values")
        }
        LabError::Interrupted => Failure::new("interrupted", "nothing has been measured yet", again()),
        other => other.into(),
    }
}

/// Two sides that do not do the same.
fn unequal(unlike: &Unlike, case: &Path) -> Failure {
    let alone = |which: &Which| format!("run {}'s command on its own", which.arm());
    let failure = match unlike {
        Unlike::Fails { which, status, other, said } => {
            let why = format!("it exits with status {status}, the other with {other}{}", quoted(said));
            Failure::new(format!("{} fails", which.arm()), why, alone(which))
        }
        Unlike::Broken { which, why } => {
            Failure::new(format!("{} can no longer be measured", which.arm()), why, alone(which))
        }
        Unlike::Unmeasured { which, metric } => {
            let what = format!("{} has no {metric}", which.arm());
            Failure::new(what, "none of its runs reported one", format!("{}, or drop --metric", alone(which)))
        }
        Unlike::Writes { a, b } => {
            let why = format!("A writes {a}, B writes {b}");
            Failure::new("A and B write different output", why, "--check-output never, to compare them anyway")
        }
    };
    Failure { why: format!("{}; {}", failure.why, kept(case)), ..failure }
}

impl From<StoryError> for Failure {
    fn from(error: StoryError) -> Failure {
        let what = error.to_string();
        match error {
            StoryError::NoCasebook(looked) => {
                let folders = looked.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ");
                let remedy = "whyslow story --casebook FOLDER list   (casebook/ of the project's sources)";
                Failure::new(what, format!("none of these folders holds a story: {folders}"), remedy)
            }
            StoryError::Story { file, why } => {
                let remedy = format!("see {}; casebook/README.md explains what a story declares", quote_path(&file));
                Failure::new(what, why, remedy)
            }
            StoryError::UnknownVariant { story, known, .. } => {
                let remedy = format!("whyslow story run {story} --variant {}", known[0]);
                Failure::new(what, format!("its variants are: {}", known.join(", ")), remedy)
            }
            StoryError::NotRoots { path, .. } => {
                let why =
                    format!("run.sh would be executed as root, and others than root can change {}", quote_path(&path));
                let remedy =
                    "sudo cp -r CASEBOOK /opt/casebook && sudo whyslow story --casebook /opt/casebook run NAME";
                Failure::new(what, why, remedy)
            }
            StoryError::Interrupted(_) => Failure::new(what, "by Ctrl-C or a signal; nothing was checked", again()),
            StoryError::Answer(error) => Failure::output(&error),
            StoryError::Internal(error) => Failure::internal(&error.to_string()),
        }
    }
}

fn recorded(case: &Path) -> String {
    format!("the recording is in {}", case.display())
}

fn kept(case: &Path) -> String {
    format!("the runs so far are in {}", case.display())
}

/// The last words of a program, where it had any.
fn quoted(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

/// How to get what is missing into a world.
fn bring(world: &WorldName) -> String {
    match world {
        WorldName::Debian(_) => "--package NAME, the package it is in".to_string(),
        WorldName::Git(_) => "--build COMMAND, to build it".to_string(),
        _ => enter(world),
    }
}

/// How to look around in a world.
fn enter(world: &WorldName) -> String {
    format!("whyslow world run {} -- COMMAND", quote_path(Path::new(&world.to_string())))
}

/// A length of time as it is typed: `40s`, `5m`.
fn typed(length: Duration) -> String {
    let seconds = length.as_secs_f64().ceil() as u64;
    if seconds < 120 { format!("{seconds}s") } else { format!("{}m", seconds.div_ceil(60)) }
}
