//! Serves a farm until standard input ends: `farm FOLDER [FEEDS [NAMES [SLOW_MS]]]`. Writes to the folder the list of feeds,
//! a file of hosts, and the certificate to trust. For each line on standard input it prints what was asked of it since
//! the last, and begins to count anew.

use farm::{Farm, Kind, Layout};
use std::error::Error;
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Duration;

/// As many as the bot of the story polled.
const FEEDS: usize = 84_004;
const NAMES: usize = 19_166;
const SLOW_MS: usize = 500;
const THREADS: usize = 2;
const SEED: u64 = 1;

fn main() -> Result<(), Box<dyn Error>> {
    let words = std::env::args().skip(1).collect::<Vec<_>>();
    let folder = Path::new(words.first().ok_or("usage: farm FOLDER [FEEDS [NAMES [SLOW_MS]]]")?);
    let number = |place: usize, otherwise: usize| words.get(place).map_or(Ok(otherwise), |word| word.parse());
    let layout = Layout::seeded(number(1, FEEDS)?, number(2, NAMES)?, SEED);
    let slow = Duration::from_millis(number(3, SLOW_MS)? as u64);
    let farm = Farm::start(layout, THREADS, slow, SEED)?;
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("feeds.txt"), farm.list())?;
    std::fs::write(folder.join("hosts"), farm.layout().hosts())?;
    std::fs::write(folder.join("ca.pem"), &farm.pem)?;
    let mut out = std::io::stdout();
    writeln!(out, "{} feeds on {} names, port {}", farm.layout().kinds.len(), farm.layout().names, farm.port)?;
    for line in std::io::stdin().lock().lines() {
        line?;
        let counted = farm.counted();
        farm.forget();
        writeln!(out, "{}", said(&counted, farm.layout()))?;
    }
    Ok(())
}

/// What was asked, as one line.
fn said(counted: &farm::Counted, layout: &Layout) -> String {
    let asked = counted.of_feeds.iter().map(|one| u64::from(*one)).sum::<u64>();
    let feeds = counted.of_feeds.iter().filter(|one| **one > 0).count();
    // What is cut off may be asked for again.
    let kinds = counted.of_feeds.iter().zip(&layout.kinds);
    let twice = kinds.filter(|(asked, kind)| **asked > 1 && **kind != Kind::Truncated).count();
    format!(
        "asked {asked} times for {feeds} feeds, for {twice} more than once; {} not changed; handshakes: {} full, {} resumed",
        counted.unchanged, counted.full, counted.resumed
    )
}
