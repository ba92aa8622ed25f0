//! Links: from a file of the repository to a page of the site, and the check that each leads somewhere.

use crate::page::Page;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Which page a file is, and which page a name has.
pub struct Places<'a> {
    pages: BTreeMap<&'a str, &'a str>,
    names: BTreeMap<&'a str, &'a str>,
    root: &'a Path,
}

impl<'a> Places<'a> {
    /// The places of all pages; `root` is the repository's folder.
    pub fn new(pages: &'a [Page], root: &'a Path) -> Places<'a> {
        let sources = pages.iter().map(|page| (page.source.as_str(), page.address.as_str()));
        let also = pages.iter().filter_map(|page| Some((page.also.as_deref()?, page.address.as_str())));
        let named = pages.iter().filter(|page| {
            ["pathologies/", "interventions/"].iter().any(|folder| page.address.starts_with(folder))
                && !page.address.ends_with("index.html")
        });
        let names = named.map(|page| (page.title.as_str(), page.address.as_str())).collect();
        Places { pages: sources.chain(also).collect(), names, root }
    }

    /// What a page's link is in the site; none where it leads to a file of the repository that is no page. What is no
    /// file at all stays as it is, and is found by the check.
    pub fn link(&self, page: &Page, link: &str) -> Option<String> {
        if link.contains("://") || link.starts_with('#') {
            return Some(link.to_string());
        }
        let (file, anchor) = link.split_once('#').map_or((link, String::new()), |(file, id)| (file, format!("#{id}")));
        let target = beside(&page.source, file);
        if let Some(address) = self.pages.get(target.as_str()) {
            return Some(relative(&page.address, address) + &anchor);
        }
        let is_file = !target.is_empty() && self.root.join(&target).exists();
        if is_file { None } else { Some(link.to_string()) }
    }

    /// The page of a pathology or intervention of that name, as a link; none for the page itself.
    pub fn named(&self, page: &Page, name: &str) -> Option<String> {
        let address = self.names.get(name).filter(|address| **address != page.address)?;
        Some(relative(&page.address, address))
    }
}

/// A path beside a file, without `..` and `.`; slashes as in links.
fn beside(file: &str, path: &str) -> String {
    let mut parts = file.split('/').collect::<Vec<_>>();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// A link from one address of the site to another.
pub fn relative(from: &str, to: &str) -> String {
    let up = "../".repeat(from.matches('/').count());
    up + to
}

/// A link that leads nowhere.
#[derive(Debug, PartialEq, Eq)]
pub struct Broken {
    /// The page that has it.
    pub page: String,
    /// The link.
    pub link: String,
    /// What is missing.
    pub why: &'static str,
}

/// All links of the finished site that lead nowhere: to no file of it, or to no anchor of a page.
pub fn check(files: &BTreeMap<String, String>) -> Vec<Broken> {
    let mut broken = Vec::new();
    for (page, html) in files.iter().filter(|(name, _)| is_page(name)) {
        for link in html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            if let Some(why) = wrong(files, page, link) {
                broken.push(Broken { page: page.clone(), link: link.to_string(), why });
            }
        }
    }
    broken
}

fn wrong(files: &BTreeMap<String, String>, page: &str, link: &str) -> Option<&'static str> {
    if link.starts_with("https://") || link.starts_with("http://") {
        return None;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() { page.to_string() } else { beside(page, file) };
    match files.get(&target) {
        None => Some("there is no such page"),
        Some(html) if !anchor.is_empty() && !html.contains(&format!("id=\"{anchor}\"")) => {
            Some("that page has no such heading")
        }
        Some(_) => None,
    }
}

/// Whether a file of the site is a page.
pub fn is_page(name: &str) -> bool {
    PathBuf::from(name).extension().is_some_and(|ending| ending == "html")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(pages: &[(&str, &str)]) -> BTreeMap<String, String> {
        pages.iter().map(|(name, html)| (name.to_string(), html.to_string())).collect()
    }

    #[test]
    fn a_link_to_no_page_or_to_no_heading_is_broken() {
        let files = site(&[
            ("index.html", "<a href=\"b/c.html#x\"></a><a href=\"b/c.html#y\"></a><a href=\"d.html\"></a>"),
            ("b/c.html", "<h2 id=\"x\"></h2><a href=\"../index.html\"></a><a href=\"https://example.com/\"></a>"),
        ]);
        let links = check(&files).into_iter().map(|one| (one.page, one.link)).collect::<Vec<_>>();
        let index = || "index.html".to_string();
        assert_eq!(links, [(index(), "b/c.html#y".to_string()), (index(), "d.html".to_string())]);
    }

    #[test]
    fn paths_are_read_from_the_file_that_has_them() {
        assert_eq!(beside("docs/tutorials/nagle.md", "../../casebook/README.md"), "casebook/README.md");
        assert_eq!(relative("tutorials/nagle.html", "index.html"), "../index.html");
    }
}
