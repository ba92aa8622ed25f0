//! A command line that cannot be understood.

use crate::output::ERROR;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use fail::{Failure, help};
use std::error::Error;

/// A value for each option that takes one of its own form.
const EXAMPLES: &[(&str, &str)] = &[
    ("--link", "mtu=1500,rate=10mbit"),
    ("--env", "LANG=C"),
    ("--processors", "0,2-3"),
    ("--quota", "0.5"),
    ("--memory", "512m"),
    ("--setting", "net.ipv4.tcp_sack=0"),
    ("--route", "'client: quickack 1'"),
    ("--duration", "10s"),
    ("--budget", "2m"),
    ("--metric", "'stdout:median ([0-9.]+) ms'"),
    ("--try", "tcp-nodelay"),
    ("--server", "'python3 -m http.server 8000'"),
    ("--control", "'./client --control'"),
    ("--a", "env=LANG=C"),
    ("--b", "with=tcp-nodelay"),
    ("--fail-if", "'wall > 1.05x'"),
    ("--good", "debian:bullseye"),
    ("--bad", "debian:bookworm"),
    ("--vary", "size=1..16K:log"),
    ("--library", "openssl=1.1.1w,3.0.2"),
    ("--with", "curl=8.0.1"),
    ("--format", "'$remote_addr [$time_local] \"$request\" $status $body_bytes_sent'"),
];

/// Options that are needed only beside others, and beside which.
const NEEDED_BY: &[(&str, &str)] = &[("--server", "--of server"), ("--link", "--setting or --route")];

/// What clap could not read, in our three lines. Help and version come this way too: they are printed, and have their exit code.
pub fn answer(error: &clap::Error) -> Result<u8, Failure> {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // Who closed our output has read enough.
        drop(error.print());
        return Ok(u8::try_from(error.exit_code()).unwrap_or(ERROR));
    }
    Err(failure(error))
}

/// What could not be read, as an error.
pub fn failure(error: &clap::Error) -> Failure {
    if let (ErrorKind::ValueValidation, Some(why)) = (error.kind(), error.source()) {
        return invalid_value(error, &why.to_string());
    }
    if error.kind() == ErrorKind::ArgumentConflict && context(error, ContextKind::PriorArg) == "--server" {
        let start = "--server \"sh -c './application & exec nginx -c proxy.conf'\"";
        return Failure::new("--server can be given only once", "one command starts all servers", start);
    }
    let text = error.to_string();
    let what = match error.kind() {
        ErrorKind::MissingRequiredArgument => "a required argument is missing",
        _ => text.lines().next().unwrap_or_default().trim_start_matches("error: "),
    };
    let is_command = error.kind() != ErrorKind::InvalidSubcommand;
    Failure::new(what, why(error, &text), if is_command { help() } else { "whyslow --help".to_string() })
}

/// An option whose type refused its value.
fn invalid_value(error: &clap::Error, why: &str) -> Failure {
    let (option, value) = (context(error, ContextKind::InvalidArg), context(error, ContextKind::InvalidValue));
    let option = option.split(' ').next().unwrap_or_default();
    // Numbers refuse in words of the standard library, without naming what they refuse.
    let why = match why {
        "invalid digit found in string" => format!("`{value}` is not a whole number"),
        _ => why.to_string(),
    };
    match EXAMPLES.iter().find(|(known, _)| *known == option) {
        Some((_, example)) => Failure::value(option, &why, &format!("{option} {example}")),
        None => Failure::new(format!("invalid value for {option}"), why, help()),
    }
}

fn why(error: &clap::Error, text: &str) -> String {
    for (kind, what) in [(ContextKind::SuggestedArg, "option"), (ContextKind::SuggestedSubcommand, "command")] {
        let near = context(error, kind);
        if !near.is_empty() {
            return format!("a similar {what} exists: {near}");
        }
    }
    match error.kind() {
        ErrorKind::MissingRequiredArgument => {
            let missing = text.lines().skip(1).map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
            let by = NEEDED_BY.iter().find(|(option, _)| missing.starts_with(option));
            format!("{} needs {missing}", by.map_or("the command", |(_, by)| by))
        }
        ErrorKind::InvalidValue => format!("possible values: {}", context(error, ContextKind::ValidValue)),
        _ => {
            let usage = text.lines().find_map(|line| line.trim().strip_prefix("Usage: "));
            usage.map_or("these arguments do not go together".to_string(), |usage| format!("usage: {usage}"))
        }
    }
}

fn context(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(one)) => one.clone(),
        Some(ContextValue::Strings(several)) => several.join(", "),
        _ => String::new(),
    }
}
