//! Tasks of the workspace that are no part of whyslow: `cargo run -p xtask -- docs FOLDER` builds the documentation's site
//! into a folder, `cargo run -p xtask -- catalogue` prints the table of all ways of being slow, and
//! `cargo run -p xtask -- cycles` fails where modules of a crate import each other in a circle.

mod catalogue;
mod coverage;
mod cycles;
mod intervention;
mod links;
mod markdown;
mod page;
mod pathology;
mod site;
mod story;

use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    match task() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn task() -> Result<ExitCode> {
    let words = std::env::args().skip(1).collect::<Vec<_>>();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the workspace's folder")?;
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["docs", folder] => docs(root, folder),
        ["catalogue"] => catalogue(root),
        ["cycles"] => cycles(root),
        _ => bail!("usage: xtask docs FOLDER | xtask catalogue | xtask cycles"),
    }
}

fn docs(root: &Path, folder: &str) -> Result<ExitCode> {
    let files = site::build(root)?;
    site::write(&files, Path::new(folder))?;
    println!("{} pages, no broken link: {folder}/index.html", site::pages(&files));
    Ok(ExitCode::SUCCESS)
}

fn catalogue(root: &Path) -> Result<ExitCode> {
    print!("{}", coverage::markdown(&story::all(&root.join("casebook"))?));
    Ok(ExitCode::SUCCESS)
}

fn cycles(root: &Path) -> Result<ExitCode> {
    let cycles = cycles::find(root)?;
    print!("{}", cycles::text(&cycles));
    Ok(if cycles.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
