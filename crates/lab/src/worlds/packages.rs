//! The packages of a Debian tree, read from its files: no command is run, so that any tree of any host can be asked.

use super::inside;
use crate::{LabError, digest};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Where dpkg keeps what it knows, inside.
const STATUS: &str = "var/lib/dpkg/status";
const LISTS: &str = "var/lib/dpkg/info";

/// An installed package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Package {
    /// Its name, without an architecture.
    pub name: String,
    /// The source package that it was built from.
    pub source: String,
    /// Its version.
    pub version: String,
    /// Its architecture, or `all`.
    pub architecture: String,
    /// The names of what it depends on; of alternatives all, of versions none.
    pub depends: Vec<String>,
    /// The names of what it recommends.
    pub recommends: Vec<String>,
    /// The other names that it answers to.
    pub provides: Vec<String>,
}

/// The installed packages of a tree, and which file belongs to which.
#[derive(Clone, Debug, Default)]
pub struct Packages {
    base: PathBuf,
    /// The folders that are links into /usr.
    merged: Vec<&'static str>,
    all: Vec<Package>,
    /// The first of a name is that of the tree's own architecture.
    by_name: HashMap<String, usize>,
    owners: HashMap<PathBuf, usize>,
}

impl Packages {
    /// Reads the packages of the tree at `base`. A tree without dpkg has none.
    ///
    /// # Errors
    /// Where the tree has a list of packages that cannot be read.
    pub fn read(base: &Path) -> Result<Packages, LabError> {
        let mut packages = Packages::named(base)?;
        for number in 0..packages.all.len() {
            for file in packages.listed(&packages.all[number]) {
                let file = packages.merged(file);
                packages.owners.entry(file).or_insert(number);
            }
        }
        Ok(packages)
    }

    /// The same without their files: [`Packages::owner`] knows none. Takes a tenth of the time.
    ///
    /// # Errors
    /// As [`Packages::read`].
    pub fn named(base: &Path) -> Result<Packages, LabError> {
        let path = base.join(STATUS);
        let bytes = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            read => read.map_err(LabError::io(&path))?,
        };
        let mut all = String::from_utf8_lossy(&bytes).split("\n\n").filter_map(installed).collect::<Vec<_>>();
        let own = all.iter().find(|package| package.name == "dpkg").map(|dpkg| dpkg.architecture.clone());
        let own = own.unwrap_or_default();
        all.sort_by_key(|package| package.architecture != own && package.architecture != "all");
        let mut by_name = HashMap::new();
        for (number, package) in all.iter().enumerate() {
            by_name.entry(package.name.clone()).or_insert(number);
        }
        let leads_into_usr =
            |name: &&str| std::fs::read_link(base.join(name)).is_ok_and(|to| to.ends_with(Path::new("usr").join(name)));
        let merged = inside::MERGED.into_iter().filter(leads_into_usr).collect();
        Ok(Packages { base: base.to_path_buf(), merged, all, by_name, owners: HashMap::new() })
    }

    /// A digest (SHA-256, in hexadecimal) of dpkg's status: another one is another set of packages.
    ///
    /// # Errors
    /// Where there is no status.
    pub fn digest(base: &Path) -> Result<String, LabError> {
        let path = base.join(STATUS);
        let bytes = std::fs::read(&path).map_err(LabError::io(path))?;
        Ok(digest::hexadecimal(&bytes))
    }

    /// The package that a path inside belongs to. Links are followed inside, one by one, until one belongs to a package.
    pub fn owner(&self, path: &Path) -> Option<&Package> {
        let owns = |path: &Path| self.owners.get(&self.merged(path.to_path_buf())).map(|number| &self.all[*number]);
        owns(path).or_else(|| inside::steps(&self.base, path).iter().find_map(|step| owns(step)))
    }

    /// A package by its name.
    pub fn get(&self, name: &str) -> Option<&Package> {
        self.by_name.get(name).map(|number| &self.all[*number])
    }

    /// A package by its name or by one that it provides.
    pub fn answering(&self, name: &str) -> Option<&Package> {
        let provides = |package: &&Package| package.provides.iter().any(|other| other == name);
        self.get(name).or_else(|| self.all.iter().find(provides))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Package> {
        self.all.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The files of a package, as paths inside, folders left out.
    pub fn files(&self, name: &str) -> Vec<PathBuf> {
        self.get(name).map(|package| self.listed(package)).unwrap_or_default()
    }

    /// A path as it is where /lib and its kind are links into /usr: lists name either.
    fn merged(&self, path: PathBuf) -> PathBuf {
        let Ok(rest) = path.strip_prefix("/") else { return path };
        let is_merged = self.merged.iter().any(|name| rest.starts_with(name));
        if is_merged { Path::new("/usr").join(rest) } else { path }
    }

    fn listed(&self, package: &Package) -> Vec<PathBuf> {
        let folder = self.base.join(LISTS);
        let names = [format!("{}:{}.list", package.name, package.architecture), format!("{}.list", package.name)];
        let bytes = names.iter().find_map(|name| std::fs::read(folder.join(name)).ok()).unwrap_or_default();
        files_of(&String::from_utf8_lossy(&bytes))
    }
}

/// The files of a list, in which a folder stands before what is in it.
fn files_of(list: &str) -> Vec<PathBuf> {
    let mut lines = list.lines().peekable();
    let mut files = Vec::new();
    while let Some(line) = lines.next() {
        let is_folder = lines.peek().and_then(|next| next.strip_prefix(line)).is_some_and(|rest| rest.starts_with('/'));
        if !is_folder && line != "/." && !line.is_empty() {
            files.push(PathBuf::from(line));
        }
    }
    files
}

/// A package of the status file, where it is installed.
fn installed(paragraph: &str) -> Option<Package> {
    let field = |name: &str| {
        let value = |line: &str| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim().to_string());
        paragraph.lines().find_map(value)
    };
    if !field("Status")?.ends_with(" installed") {
        return None;
    }
    let name = field("Package")?;
    let source = field("Source").and_then(|source| Some(source.split_whitespace().next()?.to_string()));
    let names = |field_name: &str| field(field_name).map(|value| names_in(&value)).unwrap_or_default();
    Some(Package {
        source: source.unwrap_or_else(|| name.clone()),
        version: field("Version")?,
        architecture: field("Architecture").unwrap_or_default(),
        depends: [names("Pre-Depends"), names("Depends")].concat(),
        recommends: names("Recommends"),
        provides: names("Provides"),
        name,
    })
}

/// A door for fuzzers: any text.
pub(super) fn fuzz(text: &str) {
    files_of(text);
    text.split("\n\n").for_each(|paragraph| drop(installed(paragraph)));
}

/// The names in `libc6 (>= 2.36), python3:any | python`.
fn names_in(relation: &str) -> Vec<String> {
    let first = |text: &str| text.split([' ', ':', '(']).next().unwrap_or_default().to_string();
    relation.split([',', '|']).map(|one| first(one.trim())).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests;
