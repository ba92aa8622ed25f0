//! What a typed `run` means: everything checked and resolved that can be, before anything is started.

use crate::arguments::{CheckOutput, RunArguments, WorldArguments};
use crate::duration;
use crate::fail::Failure;
use crate::folder;
use crate::invoker::{Invoker, subject_user};
use crate::proof::Wish;
use case::{Manifest, redact_arguments};
use lab::{Addresses, Link, Subject, World};
use record::Input;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// What is to be done.
pub struct Plan {
    /// What is run.
    pub subject: Subject,
    /// Where they run.
    pub world: World,
    /// What is tried afterwards.
    pub proof: Wish,
    /// When to stop recording before the client ends.
    pub limits: Limits,
    /// The case's folder, which is not there yet.
    pub folder: PathBuf,
    /// What to record.
    pub options: record::Options,
}

/// Time for proving, where none is asked for: with the recorded run, an answer within about a minute.
const BUDGET: Duration = Duration::from_mins(1);

/// When to stop recording although the client still runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// After so long.
    pub duration: Option<Duration>,
    /// After so many requests.
    pub requests: Option<u64>,
}

impl Plan {
    /// Works out what was meant.
    pub fn make(typed: &RunArguments, invoker: &Invoker) -> Result<Plan, Failure> {
        let world = world(&typed.world)?;
        let limit =
            |text: &str| duration::parse(text).map_err(|why| Failure::value("--duration", &why, "--duration 10s"));
        let duration = typed.duration.as_deref().map(limit).transpose()?;
        let split = |text: &str| shlex::split(text).filter(|words| !words.is_empty());
        let server = match typed.server.as_deref() {
            None => None,
            Some(text) => Some(split(text).ok_or_else(|| Failure::server_command(text))?),
        };
        let addresses = addresses(world.link);
        let budget = |text: &str| duration::parse(text).map_err(|why| Failure::value("--budget", &why, "--budget 2m"));
        let budget = typed.budget.as_deref().map(budget).transpose()?.unwrap_or(BUDGET);
        let metric = typed.metric.as_deref().map(str::parse::<lab::Metric>).transpose();
        let example = "--metric 'stdout:median ([0-9.]+) ms'";
        let named = |text: &String| lab::named_intervention(text);
        let asked = typed.asked.iter().map(named).collect::<Result<Vec<_>, _>>();
        let proof = Wish {
            asked: asked.map_err(|error| Failure::value("--try", &error.to_string(), "--try tcp-nodelay"))?,
            is_wanted: !typed.no_prove,
            budget,
            compares_output: typed.check_output == CheckOutput::Auto,
            metric: metric.map_err(|error| Failure::value("--metric", &error.to_string(), example))?,
        };
        Ok(Plan {
            subject: Subject {
                client: with_addresses(&typed.command, addresses),
                server: server.map(|words| with_addresses(&words, addresses)),
                user: subject_user(typed.user.as_deref(), invoker)?,
                input: Input::Inherited,
            },
            world,
            proof,
            limits: Limits { duration, requests: typed.requests },
            folder: case_folder(typed, invoker)?,
            options: record::Options { sampling_hertz: typed.sampling_hertz, event_limit: typed.events },
        })
    }

    /// The head of the case, as far as the recorder cannot know it.
    pub fn manifest(&self) -> Manifest {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Manifest {
            whyslow: env!("CARGO_PKG_VERSION").to_string(),
            command: redact_arguments(&self.subject.client),
            server: redact_arguments(self.subject.server.as_deref().unwrap_or_default()),
            link: self.world.link.map(|link| link.to_string()).unwrap_or_default(),
            started_unix_seconds: now.map_or(0, |since| since.as_secs()),
            ..Manifest::default()
        }
    }
}

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn case_folder(typed: &RunArguments, invoker: &Invoker) -> Result<PathBuf, Failure> {
    if let Some(folder) = &typed.folder {
        return std::path::absolute(folder).map_err(|error| Failure::output(&error));
    }
    let state = invoker.state_folder().ok_or_else(Failure::no_home)?;
    Ok(folder::new_case(&state, &typed.command, SystemTime::now()))
}

fn world(typed: &WorldArguments) -> Result<World, Failure> {
    let mut world = World::default();
    for (option, key, value) in typed.given() {
        world.change(key, value).map_err(|why| Failure::value(option, &why, example(option)))?;
    }
    if world.link.is_some() && !nix::unistd::geteuid().is_root() {
        return Err(Failure::needs_root("make a link", "only root may make network namespaces and join them"));
    }
    Ok(world)
}

fn example(option: &str) -> &'static str {
    match option {
        "--link" => "--link mtu=1500,rate=10mbit",
        "--env" => "--env LANG=C",
        "--processors" => "--processors 0,2-3",
        "--quota" => "--quota 0.5",
        "--memory" => "--memory 512m",
        "--setting" => "--setting net.ipv4.tcp_sack=0",
        "--route" => "--route 'client: quickack 1'",
        _ => "",
    }
}

/// Where the two ends are.
pub fn addresses(link: Option<Link>) -> Addresses {
    link.map_or(Addresses { client: LOOPBACK, server: LOOPBACK }, |_| Link::addresses())
}

/// A command with its placeholders replaced.
pub fn with_addresses(words: &[String], addresses: Addresses) -> Vec<String> {
    let (client, server) = (addresses.client.to_string(), addresses.server.to_string());
    words.iter().map(|word| word.replace("{server}", &server).replace("{client}", &client)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(server: &str, command: &[&str]) -> RunArguments {
        let command = command.iter().map(ToString::to_string).collect();
        RunArguments {
            server: Some(server.into()),
            command,
            folder: Some("/tmp/new".into()),
            ..RunArguments::default()
        }
    }

    fn plan(typed: &RunArguments) -> Result<Plan, Failure> {
        Plan::make(typed, &Invoker::find())
    }

    #[test]
    fn a_server_is_split_as_a_shell_splits_and_addresses_are_filled_in() {
        let plan = plan(&typed("sh -c 'listen {server}:80'", &["curl", "http://{server}/{client}"]));
        let plan = plan.unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(plan.subject.server.as_deref().unwrap_or_default(), ["sh", "-c", "listen 127.0.0.1:80"]);
        assert_eq!(plan.subject.client, ["curl", "http://127.0.0.1/127.0.0.1"]);
    }

    #[test]
    fn an_open_quote_and_an_empty_server_are_refused() {
        assert!(plan(&typed("sh -c 'x", &["true"])).is_err());
        assert!(plan(&typed("  ", &["true"])).is_err());
    }

    #[test]
    fn a_bad_duration_names_the_option() {
        let typed = RunArguments { duration: Some("soon".into()), ..typed("true", &["true"]) };
        assert!(plan(&typed).is_err_and(|failure| failure.to_string().contains("--duration")));
    }

    #[test]
    fn secrets_in_a_command_do_not_reach_the_manifest() {
        let plan = plan(&typed("true", &["curl", "-u", "me:pw"])).unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(plan.manifest().command, ["curl", "-u", "*"]);
    }
}
