//! The site: all pages as HTML, with their style sheet, and not one broken link.

use crate::catalogue;
use crate::links::{self, Places};
use crate::markdown::{self, Body};
use crate::page::{Page, Shelf};
use anyhow::{Context, Result, bail};
use askama::Template;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The site's files: where in it, and what they hold.
pub type Files = BTreeMap<String, String>;

const STYLE: &str = include_str!("../assets/site.css");
/// The report's page, whose colours are the site's, so that both look alike.
const REPORT_STYLE: &str = include_str!("../../crates/report/assets/page.css");

/// A page with the navigation beside it.
#[derive(Template)]
#[template(path = "page.html")]
struct View<'a> {
    title: &'a str,
    /// What leads from this page to the site's first folder: `` or `../`.
    up: String,
    body: &'a str,
    shelves: Vec<ShelfView<'a>>,
}

struct ShelfView<'a> {
    name: &'static str,
    is_here: bool,
    entries: Vec<Entry<'a>>,
}

struct Entry<'a> {
    title: &'a str,
    address: &'a str,
    is_here: bool,
    /// Anchor and text of the page's sections, where it is this one.
    sections: &'a [(String, String)],
}

/// Builds the site of a repository.
///
/// # Errors
/// Where a file cannot be read, or a link leads nowhere.
pub fn build(root: &Path) -> Result<Files> {
    let pages = catalogue::pages(root)?;
    let places = Places::new(&pages, root);
    let mut files = Files::from([("site.css".to_string(), format!("{}\n{STYLE}", colours()))]);
    for page in &pages {
        let body = markdown::body(page, &places);
        files.insert(page.address.clone(), html(page, &body, &pages)?);
    }
    let broken = links::check(&files);
    let lines = broken.iter().map(|one| format!("\n  {}: {} ({})", source(&pages, &one.page), one.link, one.why));
    if !broken.is_empty() {
        bail!("{} links lead nowhere:{}", broken.len(), lines.collect::<String>());
    }
    Ok(files)
}

/// What stands above the rules of the report's page: its colours by role, light and dark.
fn colours() -> &'static str {
    REPORT_STYLE.split("\nbody {").next().unwrap_or(REPORT_STYLE)
}

/// The file that a page was made from.
fn source<'a>(pages: &'a [Page], address: &'a str) -> &'a str {
    pages.iter().find(|page| page.address == address).map_or(address, |page| page.source.as_str())
}

fn html(page: &Page, body: &Body, pages: &[Page]) -> Result<String> {
    let shelves = Shelf::ALL.iter().map(|shelf| ShelfView {
        name: shelf.name(),
        is_here: page.shelf == *shelf,
        entries: pages.iter().filter(|one| one.shelf == *shelf).map(|one| entry(one, page, body)).collect(),
    });
    let up = links::relative(&page.address, "");
    let view = View { title: &page.title, up, body: &body.html, shelves: shelves.collect() };
    view.render().with_context(|| format!("cannot draw {}", page.address))
}

/// A page in the navigation beside another; the page itself shows its sections where there are many.
fn entry<'a>(one: &'a Page, page: &Page, body: &'a Body) -> Entry<'a> {
    let is_here = std::ptr::eq(one, page);
    let sections: &[_] = if is_here && body.headings.len() > 3 { &body.headings } else { &[] };
    Entry { title: &one.title, address: &one.address, is_here, sections }
}

/// How many of the files are pages.
pub fn pages(files: &Files) -> usize {
    files.keys().filter(|name| links::is_page(name)).count()
}

/// Writes the site into a folder; what another site left there goes.
///
/// # Errors
/// Where the folder cannot be written.
pub fn write(files: &Files, folder: &Path) -> Result<()> {
    let wrong = || format!("cannot write {}", folder.display());
    if folder.join("site.css").exists() {
        fs::remove_dir_all(folder).with_context(wrong)?;
    }
    for (name, contents) in files {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap_or(folder)).with_context(wrong)?;
        fs::write(file, contents).with_context(wrong)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
