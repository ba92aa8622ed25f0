//! What single options mean, for all commands that take them: read, checked, and refused with an example.

use crate::arguments::{AskedEnd, WorldArguments};
use crate::fail::Failure;
use crate::folder;
use crate::invoker::Invoker;
use lab::engine::Kind;
use lab::{Addresses, End, Link, Metric, World};
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// `--duration`.
pub fn duration(text: Option<&str>) -> Result<Option<Duration>, Failure> {
    let read = |text| crate::duration::parse(text).map_err(|why| Failure::value("--duration", &why, "--duration 10s"));
    text.map(read).transpose()
}

/// `--budget`, or what is usual for such an experiment.
pub fn budget(text: Option<&str>, kind: Kind) -> Result<Duration, Failure> {
    let read = |text| crate::duration::parse(text).map_err(|why| Failure::value("--budget", &why, "--budget 2m"));
    Ok(text.map(read).transpose()?.unwrap_or(kind.budget()))
}

/// `--metric`.
pub fn metric(text: Option<&str>) -> Result<Option<Metric>, Failure> {
    let example = "--metric 'stdout:median ([0-9.]+) ms'";
    let read = |text: &str| {
        text.parse().map_err(|error: lab::MetricError| Failure::value("--metric", &error.to_string(), example))
    };
    text.map(read).transpose()
}

/// A command in one argument, its words split as a shell splits them; none where it is empty or a quote is open.
pub fn words(text: &str) -> Option<Vec<String>> {
    shlex::split(text).filter(|words| !words.is_empty())
}

/// Which end was asked about.
pub fn end(asked: AskedEnd, has_server: bool) -> Result<End, Failure> {
    match asked {
        AskedEnd::Client => Ok(End::Client),
        AskedEnd::Server if has_server => Ok(End::Server),
        AskedEnd::Server => {
            Err(Failure::value("--of", "there is no server to ask about", "--server 'COMMAND' --of server"))
        }
    }
}

/// `--server`, its placeholders replaced. A link leads nowhere without one.
pub fn server(text: Option<&str>, world: &World) -> Result<Option<Vec<String>>, Failure> {
    match text {
        Some(text) => {
            let words = words(text).ok_or_else(|| Failure::server_command(text))?;
            Ok(Some(with_addresses(&words, addresses(world.link))))
        }
        None if world.link.is_some() => {
            Err(Failure::value("--link", "a link needs a server at its other end", "--server 'COMMAND'"))
        }
        None => Ok(None),
    }
}

/// `-o`, or a new folder among the user's cases.
pub fn case_folder(folder: Option<&Path>, command: &[String], invoker: &Invoker) -> Result<PathBuf, Failure> {
    if let Some(folder) = folder {
        return std::path::absolute(folder).map_err(|error| Failure::output(&error));
    }
    let state = invoker.state_folder().ok_or_else(Failure::no_home)?;
    Ok(folder::new_case(&state, command, SystemTime::now()))
}

/// The options of a world.
pub fn world(typed: &WorldArguments) -> Result<World, Failure> {
    let mut world = World::default();
    for (option, key, value) in typed.given() {
        world.change(key, value).map_err(|why| Failure::value(option, &why, example(option)))?;
    }
    may_have(&world)?;
    Ok(world)
}

/// Whether this user may have that world.
pub fn may_have(world: &World) -> Result<(), Failure> {
    if world.link.is_some() && !nix::unistd::geteuid().is_root() {
        return Err(Failure::needs_root("make a link", "only root can create network namespaces"));
    }
    Ok(())
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
