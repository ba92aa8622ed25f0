//! A page of the site, before it is HTML.

/// A page: Markdown, and where it belongs.
pub struct Page {
    /// The file that it is, or would be if it were not generated, from the repository's root. Links to that file lead
    /// here.
    pub source: String,
    /// Another file whose links lead here.
    pub also: Option<String>,
    /// Where it is in the site: `pathologies/busy-spin.html`.
    pub address: String,
    /// The part of the navigation that lists it.
    pub shelf: Shelf,
    /// What the navigation calls it.
    pub title: String,
    /// The text.
    pub markdown: String,
}

/// A part of the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shelf {
    /// Where to begin.
    Start,
    /// One story each, step by step.
    Tutorials,
    /// The casebook's other stories.
    Stories,
    /// Ways of being slow.
    Pathologies,
    /// Cures from outside.
    Interventions,
    /// What is looked up.
    Reference,
    /// For those who change whyslow.
    Project,
}

impl Shelf {
    /// All, in the order of the navigation.
    pub const ALL: [Shelf; 7] = [
        Shelf::Start,
        Shelf::Tutorials,
        Shelf::Stories,
        Shelf::Pathologies,
        Shelf::Interventions,
        Shelf::Reference,
        Shelf::Project,
    ];

    /// What the navigation calls it.
    pub fn name(self) -> &'static str {
        match self {
            Shelf::Start => "Start",
            Shelf::Tutorials => "Tutorials",
            Shelf::Stories => "More stories",
            Shelf::Pathologies => "Ways of being slow",
            Shelf::Interventions => "Cures from outside",
            Shelf::Reference => "Reference",
            Shelf::Project => "The project",
        }
    }
}

impl Page {
    /// A page that is a file; its title is its first heading.
    pub fn file(source: &str, address: &str, shelf: Shelf, markdown: String) -> Page {
        let title = heading(&markdown).unwrap_or(source).to_string();
        Page { source: source.into(), also: None, address: address.into(), shelf, title, markdown }
    }
}

/// The first heading of a text.
pub fn heading(markdown: &str) -> Option<&str> {
    markdown.lines().find_map(|line| line.strip_prefix("# ")).map(str::trim)
}
