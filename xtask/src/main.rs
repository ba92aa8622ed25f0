//! Tasks of the workspace that are no part of whyslow. So far one: `cargo run -p xtask -- docs FOLDER` builds the
//! documentation's site into a folder.

mod catalogue;
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
    match docs() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn docs() -> Result<()> {
    let words = std::env::args().skip(1).collect::<Vec<_>>();
    let [task, folder] = words.as_slice() else { bail!("usage: xtask docs FOLDER") };
    if task != "docs" {
        bail!("there is no task `{task}`; the only one is docs");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the workspace's folder")?;
    let files = site::build(root)?;
    site::write(&files, Path::new(folder))?;
    println!("{} pages, no broken link: {folder}/index.html", site::pages(&files));
    Ok(())
}
