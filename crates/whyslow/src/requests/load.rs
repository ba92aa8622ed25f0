//! What `load` is asked.

use crate::arguments::{LoadArguments, TlsArguments};
use fail::Failure;
use std::sync::Arc;
use std::time::Duration;
use studies::load::{Arrival, Expected, Methods, Plan, Scheme, Secured};

/// What an echo repeats where nothing else is said.
const ECHO: &[u8] = b"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n";

/// A load goes on for so long where nothing else is said.
const USUAL: Duration = Duration::from_secs(10);

/// Works out what was meant.
pub fn request(typed: LoadArguments) -> Result<Plan, Failure> {
    check_head(&typed)?;
    let has_an_end = typed.replay.is_some() || typed.requests.is_some() && typed.steps.is_empty();
    let usual = if has_an_end { Plan::WITHOUT_END } else { USUAL };
    let arrival = arrival(&typed)?;
    let first = typed.urls.first().map(|url| url.scheme);
    // An answer that ends with its connection leaves no room for another.
    let is_single = first.is_some_and(|scheme| !scheme.keeps_connections());
    let is_echo = first.is_some_and(Scheme::is_echo);
    let body = match typed.body.as_deref().map(|body| (body, body.strip_prefix('@'))) {
        None if is_echo => ECHO.to_vec(),
        None => Vec::new(),
        Some((text, None)) => text.as_bytes().to_vec(),
        Some((_, Some(file))) => std::fs::read(file)
            .map_err(|error| Failure::value("--body", &format!("{file}: {error}"), "--body @FILE, or --body TEXT"))?,
    };
    if is_echo && body.is_empty() {
        return Err(Failure::value("--body", "an echo of nothing has no end", "--body hello"));
    }
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Ok(Plan {
        urls: typed.urls,
        arrival,
        duration: typed.duration.unwrap_or(usual),
        requests: typed.requests,
        connections: typed.connections as usize,
        pipeline: if is_single { 1 } else { typed.pipeline as usize },
        requests_each: typed.requests_per_connection,
        threads: typed.threads.map_or(processors, usize::from),
        timeout: typed.timeout,
        method: typed.method,
        headers: typed.header,
        body,
        expected: Expected { status: typed.expect_status, body: typed.expect_body.map(String::into_bytes) },
        secured: secured(typed.tls),
        seed: typed.seed,
    })
}

/// When requests are to start.
fn arrival(typed: &LoadArguments) -> Result<Arrival, Failure> {
    if let Some(file) = &typed.replay {
        let is_http = typed.urls.iter().all(|url| url.scheme.is_http());
        if typed.urls.len() != 1 || !is_http {
            let why = "the paths come from the log: give one http or https URL, whose server is asked";
            return Err(Failure::value("--replay", why, "whyslow load --replay access.log http://127.0.0.1:8080/"));
        }
        let methods = if typed.all_methods { Methods::All } else { Methods::Safe };
        let replay = studies::load::recorded(file, typed.speed.unwrap_or(1.0), methods, typed.seed)?;
        return Ok(Arrival::Replay(Arc::new(replay)));
    }
    Ok(match (typed.rate, typed.poisson) {
        _ if !typed.steps.is_empty() => Arrival::Steps(typed.steps.clone()),
        (Some(rate), true) => Arrival::Poisson(rate),
        (Some(rate), false) => Arrival::Constant(rate),
        (None, _) => Arrival::Closed,
    })
}

/// How TLS is to be spoken.
pub fn secured(typed: TlsArguments) -> Secured {
    Secured {
        version: typed.tls_version,
        full_only: typed.no_resumption,
        authorities: typed.cacert,
        trusts_all: typed.insecure,
    }
}

/// What would end up as something else in the head of a request is refused.
fn check_head(typed: &LoadArguments) -> Result<(), Failure> {
    if typed.method.is_empty() || !typed.method.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Err(Failure::value("--method", "a method is one word", "--method POST"));
    }
    let is_sound = |header: &String| {
        header.split_once(':').is_some_and(|(name, _)| !name.trim().is_empty()) && !header.contains(char::is_control)
    };
    match typed.header.iter().find(|header| !is_sound(header)) {
        Some(_) => Err(Failure::value("--header", "a header is one line with a colon", "--header 'Accept: text/html'")),
        None => Ok(()),
    }
}
