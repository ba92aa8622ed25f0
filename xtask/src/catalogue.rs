//! Everything that becomes a page: the files written by hand, the stories, and what is generated.

use crate::page::{Page, Shelf};
use crate::story::{self, Story};
use crate::{coverage, intervention, pathology};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// Files beside the crates, where they go, and what the navigation calls them.
const FILES: [(&str, &str, Shelf, &str); 4] = [
    ("CASE-FORMAT.md", "case-format.html", Shelf::Reference, "The case"),
    ("ARCHITECTURE.md", "architecture.html", Shelf::Project, "Architecture"),
    ("CONTRIBUTING.md", "contributing.html", Shelf::Project, "Contributing"),
    ("CHANGELOG.md", "changelog.html", Shelf::Project, "Changes"),
];

/// All pages, in the order of the navigation.
///
/// # Errors
/// Where a file cannot be read.
pub fn pages(root: &Path) -> Result<Vec<Page>> {
    let stories = story::all(&root.join("casebook"))?;
    let mut pages = written(root)?;
    pages.extend(tutorials(root, &stories)?);
    pages.extend(others(root, &stories)?);
    pages.extend(pathology::pages(&stories));
    pages.extend(intervention::pages());
    pages.push(coverage::page(&stories));
    Ok(pages)
}

/// The files beside the crates, and those of `docs`.
fn written(root: &Path) -> Result<Vec<Page>> {
    let mut index = Page::file("docs/index.md", "index.html", Shelf::Start, read(root, "docs/index.md")?);
    index.also = Some("README.md".into());
    let mut pages = vec![index];
    for name in names(&root.join("docs"))?.iter().filter(|name| *name != "index") {
        let source = format!("docs/{name}.md");
        pages.push(Page::file(&source, &format!("{name}.html"), Shelf::Reference, read(root, &source)?));
    }
    for (source, address, shelf, title) in FILES {
        pages.push(Page { title: title.into(), ..Page::file(source, address, shelf, read(root, source)?) });
    }
    Ok(pages)
}

/// The tutorials. A story that has one is shown by it.
fn tutorials(root: &Path, stories: &[Story]) -> Result<Vec<Page>> {
    let mut pages = Vec::new();
    for name in names(&root.join("docs/tutorials"))? {
        let source = format!("docs/tutorials/{name}.md");
        let mut page = Page::file(&source, &format!("tutorials/{name}.html"), Shelf::Tutorials, read(root, &source)?);
        page.title.clone_from(&name);
        page.also = stories.iter().find(|story| story.name == name).map(Story::source);
        pages.push(page);
    }
    Ok(pages)
}

/// The casebook, and each story that has no tutorial.
fn others(root: &Path, stories: &[Story]) -> Result<Vec<Page>> {
    let casebook = read(root, "casebook/README.md")?;
    let mut pages = vec![Page::file("casebook/README.md", "stories/index.html", Shelf::Stories, casebook)];
    let tutorials = names(&root.join("docs/tutorials"))?;
    for story in stories.iter().filter(|story| !tutorials.contains(&story.name)) {
        let address = format!("stories/{}.html", story.name);
        let page = Page::file(&story.source(), &address, Shelf::Stories, story.markdown.clone());
        pages.push(Page { title: story.name.clone(), ..page });
    }
    Ok(pages)
}

fn read(root: &Path, source: &str) -> Result<String> {
    fs::read_to_string(root.join(source)).with_context(|| format!("cannot read {source}"))
}

/// The names of a folder's Markdown files without their ending, sorted.
fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let files = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names = files.filter_map(|file| Some(file.strip_suffix(".md")?.to_string())).collect::<Vec<_>>();
    names.sort();
    Ok(names)
}
