//! The options of `whyslow load`.

use super::examples;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use studies::load::Url;

/// What `load` takes.
#[derive(Args)]
#[command(args_override_self = true, after_help = examples::of("load"))]
pub struct LoadArguments {
    /// What to ask for: http, https, h2, h2c, tcp, tls, gopher or gemini; several on one server, with weights: 3*http://127.0.0.1/a
    #[arg(required_unless_present = "merge", value_name = "[WEIGHT*]URL")]
    pub urls: Vec<Url>,

    /// Start this many requests a second, whether or not earlier ones were answered
    #[arg(long, value_name = "N", value_parser = rate)]
    pub rate: Option<f64>,

    /// Start them at random times, as independent users do, with --rate as the mean
    #[arg(long, requires = "rate")]
    pub poisson: bool,

    /// Step through these rates, each for the same time: 100,200,400
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = rate, conflicts_with = "rate")]
    pub steps: Vec<f64>,

    /// Repeat the GET, HEAD and OPTIONS requests of an access log, spaced as they were
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rate", "steps", "method"])]
    pub replay: Option<PathBuf>,

    /// Replay this many times as fast
    #[arg(long, value_name = "N", requires = "replay", value_parser = speed)]
    pub speed: Option<f64>,

    /// Also replay POST, PUT, DELETE and others, without their bodies: they may change something
    #[arg(long, requires = "replay")]
    pub all_methods: bool,

    /// Run for this long: 10s, 500ms, 2m [default: 10s; with --requests or --replay, until they are done]
    #[arg(long, value_name = "TIME", value_parser = studies::duration)]
    pub duration: Option<Duration>,

    /// Stop after this many requests
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub requests: Option<u64>,

    /// Connections at a time
    #[arg(short, long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub connections: u32,

    /// Requests in flight on one connection
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub pipeline: u32,

    /// Close a connection after this many requests [default: when the server does]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub requests_per_connection: Option<u64>,

    /// Threads [default: one a CPU]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// Count a request that takes longer as failed
    #[arg(long, value_name = "TIME", value_parser = studies::duration, default_value = "10s")]
    pub timeout: Duration,

    /// The method
    #[arg(long, value_name = "METHOD", default_value = "GET")]
    pub method: String,

    /// Send this header; repeatable
    #[arg(long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,

    /// Send this body, or @FILE; an echo server has to repeat it
    #[arg(long, value_name = "TEXT")]
    pub body: Option<String>,

    /// Count answers with another status as failed
    #[arg(long, value_name = "STATUS")]
    pub expect_status: Option<u16>,

    /// Count answers without this text in their body as failed
    #[arg(long, value_name = "TEXT")]
    pub expect_body: Option<String>,

    /// How TLS is spoken.
    #[command(flatten)]
    pub tls: TlsArguments,

    /// The seed of random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Also write the distribution of latencies to this file, as CSV: way, nanoseconds, count
    #[arg(long, value_name = "FILE")]
    pub histogram: Option<PathBuf>,

    /// Drive no load: merge such files, of several drivers or days
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["urls", "rate", "steps", "replay"])]
    pub merge: Vec<PathBuf>,

    /// Also write a page, Markdown or JSON to this file, by its ending: .html, .md or .json
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub file: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// How TLS is spoken.
#[derive(Args)]
pub struct TlsArguments {
    /// Speak this version of TLS only
    #[arg(long = "tls", value_name = "VERSION", value_parser = ["1.2", "1.3"])]
    pub tls_version: Option<String>,

    /// Make every TLS handshake a full one
    #[arg(long)]
    pub no_resumption: bool,

    /// Trust these certificates (PEM) instead of the system's
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,

    /// Trust any certificate
    #[arg(long, conflicts_with = "cacert")]
    pub insecure: bool,
}

/// Reads how many times as fast.
fn speed(text: &str) -> Result<f64, String> {
    let speed = text.parse::<f64>().ok().filter(|speed| (1e-3..=1e6).contains(speed));
    speed.ok_or_else(|| format!("`{text}` is not a number of times between 0.001 and 1000000"))
}

/// Reads a rate.
fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| *rate > 0.0 && *rate <= 1e8);
    rate.ok_or_else(|| format!("`{text}` is not a number of requests a second"))
}
