//! A Debian release as a world: found in the cache, or made by mmdebstrap and kept there.
//!
//! Only the release itself is taken, not its updates: the same name gives the same packages until the next point release.

pub(super) mod refused;

use super::making;
use super::mirror::{self, PATIENCE};
use super::needs::Need;
use super::packages::Packages;
use super::sandbox::Sandbox;
use super::store::{Descriptor, Made, PART, Store};
use super::tool::{self, Watch};
use crate::LabError;
use record::{Mount, Program};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where downloaded packages are kept for the next world, in the cache.
pub(super) const ARCHIVES: &str = "packages/archives";
/// Where apt keeps them, inside.
const INSIDE: &str = "var/cache/apt/archives";

/// A world of a release that has what is needed: the smallest of the cache, else a new one.
pub(super) fn find_or_make(
    suite: &str,
    needs: &[Need],
    store: &Store,
    say: &dyn Fn(&str),
    wait: &mut dyn FnMut(Duration) -> bool,
) -> Result<Made, LabError> {
    mirror::check_suite(suite)?;
    needs.iter().try_for_each(|need| mirror::check_package(&need.package))?;
    let mirror = mirror::mirror();
    if let Some(found) = find(suite, needs, &mirror, store)? {
        return Ok(found);
    }
    if broker::has_dropped() {
        let name = making::release(suite, needs, say, wait)?;
        let made = store.worlds()?.into_iter().find(|world| world.name == name);
        return made.ok_or_else(|| LabError::World(format!("{name} was made and has gone")));
    }
    let name = format!("debian-{}", suite.replace('/', "-"));
    let _lock = store.lock(&name, say, wait)?;
    // Whoever was waited for may have made it.
    if let Some(found) = find(suite, needs, &mirror, store)? {
        return Ok(found);
    }
    Making { suite, needs, mirror, store, part: store.folder("worlds")?.join(format!("{name}{PART}")) }
        .make(&name, say, wait)
}

fn find(suite: &str, needs: &[Need], mirror: &str, store: &Store) -> Result<Option<Made>, LabError> {
    let mut fitting = Vec::new();
    for world in store.worlds()? {
        if world.descriptor.suite != suite || world.descriptor.mirror != mirror || !world.is_unchanged() {
            continue;
        }
        let packages = Packages::named(&world.files)?;
        if needs.iter().all(|need| packages.answering(&need.package).is_some()) {
            fitting.push((packages.len(), world));
        }
    }
    Ok(fitting.into_iter().min_by_key(|(packages, _)| *packages).map(|(_, world)| world))
}

/// A world in the making.
struct Making<'a> {
    suite: &'a str,
    needs: &'a [Need],
    mirror: String,
    store: &'a Store,
    part: PathBuf,
}

impl Making<'_> {
    fn make(&self, name: &str, say: &dyn Fn(&str), wait: &mut dyn FnMut(Duration) -> bool) -> Result<Made, LabError> {
        self.check_host()?;
        self.clear()?;
        // Open by itself: whoever may not come to it is kept out by the folder above.
        DirBuilder::new().mode(0o755).create(&self.part).map_err(LabError::io(&self.part))?;
        say(&format!(
            "making Debian {}: a few hundred packages are fetched and set up, about half a minute",
            self.suite
        ));
        let furthest = Furthest::default();
        let advance = || furthest.look(&self.tree());
        let watch = Watch { heard: Some(&|line| self.heard(line)), advance: Some(&advance) };
        let run = tool::run(self.mmdebstrap(say)?, &self.part.join("log"), &watch, say, wait);
        let failed = match run {
            Ok(done) if done.is_well() => None,
            Ok(done) => Some(refused::refused(self.suite, &self.mirror, self.needs, &done)),
            Err(error) => Some(error),
        };
        if let Some(why) = failed {
            self.clear()?;
            return Err(why);
        }
        keep_archives(&self.tree().join(INSIDE), &self.store.folder(ARCHIVES)?)?;
        let made = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let descriptor = Descriptor {
            suite: self.suite.to_string(),
            mirror: self.mirror.clone(),
            packages: self.needs.iter().map(|need| need.package.clone()).collect(),
            digest: Packages::digest(&self.tree())?,
            made,
        };
        self.store.complete(&self.part, name, descriptor)
    }

    /// What mmdebstrap says of its work, in our words.
    fn heard(&self, line: &str) -> Option<String> {
        let words = line.strip_prefix("I: ")?.trim_end_matches('.');
        (!words.contains("-hook") && !words.contains("skipping"))
            .then(|| format!("making Debian {}: {words}", self.suite))
    }

    fn tree(&self) -> PathBuf {
        self.part.join("tree")
    }

    fn check_host(&self) -> Result<(), LabError> {
        let world = format!("debian:{}", self.suite);
        if !nix::unistd::geteuid().is_root() {
            let why = "creating a world and running in it needs root".to_string();
            return Err(LabError::NoWorld { world, why, remedy: "the same command with sudo".to_string() });
        }
        if tool::find("mmdebstrap").is_none() {
            let why = "it is made by mmdebstrap, which is not installed".to_string();
            return Err(LabError::NoWorld { world, why, remedy: "sudo apt install mmdebstrap".to_string() });
        }
        Ok(())
    }

    /// Removes what a maker has left that is gone or has failed; what it downloaded is kept.
    fn clear(&self) -> Result<(), LabError> {
        let archives = self.store.folder(ARCHIVES)?;
        keep_archives(&self.tree().join(INSIDE), &archives)?;
        match std::fs::remove_dir_all(&self.part) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(LabError::io(&self.part)(error)),
            _ => Ok(()),
        }
    }

    /// The command. What was downloaded before is linked in first: apt checks each file against the signed list before
    /// it is used.
    ///
    /// Worlds lie where only root comes to. For apt's own user this one is shown in a place that is open, to its maker alone.
    fn mmdebstrap(&self, say: &dyn Fn(&str)) -> Result<Program, LabError> {
        let quoted = |path: &Path| format!("'{}'", path.display().to_string().replace('\'', "'\\''"));
        // By its own path: the kernel links nothing from one mount to another.
        let (archives, inside) = (quoted(&self.store.folder(ARCHIVES)?), quoted(&self.tree().join(INSIDE)));
        let bring = format!(
            "mkdir -p {inside}/partial && find {archives} -maxdepth 1 -name '*.deb' -exec cp -l -t {inside} {{}} + \
             && find {archives}/partial -type f -exec cp -t {inside}/partial {{}} +"
        );
        let place = self.store.place()?;
        let sandbox = Sandbox::below(&place);
        sandbox.admit(say);
        let (tree, mounts) = match sandbox {
            Sandbox::On(_) => (place.join("tree"), vec![Mount { source: self.part.clone(), target: place }]),
            Sandbox::Needless | Sandbox::Off(_) => (self.tree(), Vec::new()),
        };
        self.store.folder(&format!("{ARCHIVES}/partial"))?;
        let packages = self.needs.iter().map(|need| need.package.clone()).collect::<BTreeSet<_>>();
        let mut words = vec![
            "mmdebstrap".to_string(),
            "--mode=root".into(),
            "--variant=minbase".into(),
            "--format=directory".into(),
        ];
        words.extend(["download/empty", "essential/unlink", "cleanup/apt/cache"].map(|step| format!("--skip={step}")));
        words.extend(PATIENCE.iter().map(|(option, value)| format!("--aptopt={option} \"{value}\"")));
        if !packages.is_empty() {
            words.push(format!("--include={}", packages.into_iter().collect::<Vec<_>>().join(",")));
        }
        words.push(format!("--setup-hook={bring}"));
        words.extend([self.suite.to_string(), tree.display().to_string()]);
        words.push(mirror::source_line(&self.mirror, self.suite)?);
        let plain =
            [("LC_ALL", "C.UTF-8"), ("DEBIAN_FRONTEND", "noninteractive"), ("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")];
        let environment = plain.map(|(name, value)| (name.into(), Some(value.into()))).to_vec();
        Ok(Program { arguments: words, environment, folder: Some("/".into()), mounts, ..Program::default() })
    }
}

/// How far a release has got: the most bytes of lists, of packages, and of what dpkg writes. What is lost and comes again is no
/// advance, nor is an empty file: a mirror that stops half-way leaves one for each package that is tried.
#[derive(Default)]
struct Furthest(Cell<[u64; 3]>);

impl Furthest {
    /// A figure that grows while more comes in than there has ever been.
    fn look(&self, tree: &Path) -> u64 {
        let length =
            |path: PathBuf| path.metadata().ok().filter(std::fs::Metadata::is_file).map_or(0, |file| file.len());
        let bytes = |folders: &[&str]| {
            let entries =
                folders.iter().filter_map(|folder| std::fs::read_dir(tree.join(folder)).ok()).flatten().flatten();
            entries.map(|entry| length(entry.path())).sum::<u64>()
        };
        let written = std::fs::metadata(tree.join("var/lib/dpkg/status")).ok().and_then(|file| file.modified().ok());
        let written =
            written.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |time| time.as_millis() as u64);
        let now = [
            bytes(&["var/lib/apt/lists", "var/lib/apt/lists/partial"]),
            bytes(&[INSIDE, &format!("{INSIDE}/partial")]),
            bytes(&["var/lib/dpkg/info"]) + written,
        ];
        let before = self.0.get();
        let furthest = [0, 1, 2].map(|part| before[part].max(now[part]));
        self.0.set(furthest);
        furthest.iter().sum()
    }
}

/// Moves downloaded packages, and parts of them, into the cache.
fn keep_archives(from: &Path, archives: &Path) -> Result<(), LabError> {
    for (from, to) in [(from.to_path_buf(), archives.to_path_buf()), (from.join("partial"), archives.join("partial"))] {
        let Ok(entries) = std::fs::read_dir(&from) else { continue };
        std::fs::create_dir_all(&to).map_err(LabError::io(&to))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_package = path.to_string_lossy().contains(".deb") && path.is_file();
            if let (true, Some(name)) = (is_package, path.file_name()) {
                std::fs::rename(&path, to.join(name)).map_err(LabError::io(&path))?;
                // What was linked in is one file of two names, which renaming leaves both.
                let _ = std::fs::remove_file(&path);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worlds::sandbox::tests::{EmptyMirror, open_cache};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_asks_the_mirror_for_a_release_is_not_root_and_sees_no_other_world() {
        let Some((cache, expected)) = open_cache() else { return };
        if tool::find("mmdebstrap").is_none() {
            testing::skip("mmdebstrap is not installed");
            return;
        }
        let store = Store::at(cache.path()).expect("a store");
        let mirror = EmptyMirror::start();
        let part = store.folder("worlds").expect("made").join(format!("debian-x{PART}"));
        let making = Making { suite: "bookworm", needs: &[], mirror: mirror.address.clone(), store: &store, part };
        let said = std::cell::RefCell::new(String::new());
        let made = making.make("debian-x", &|words| said.borrow_mut().push_str(words), &mut |turn| {
            std::thread::sleep(turn);
            false
        });
        assert!(made.is_err(), "there is no release");
        assert_eq!(mirror.asked_by(), vec![expected], "{said:?}");
        assert!(!said.borrow().contains("root itself"), "{said:?}");
        let mode = cache.path().join("worlds").metadata().expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "worlds are still for root alone");
        assert_eq!(std::fs::read_dir(store.place().expect("made")).expect("there").count(), 0, "nothing shows here");
    }

    #[test]
    fn only_more_than_there_has_ever_been_is_an_advance() {
        let tree = tempfile::tempdir().expect("a folder");
        let write = |name: &str, bytes: usize| {
            let path = tree.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, vec![0; bytes]).expect("written");
        };
        let (furthest, partial) = (Furthest::default(), format!("{INSIDE}/partial/a.deb"));
        let look = || furthest.look(tree.path());
        assert_eq!(look(), 0);
        write("var/lib/apt/lists/partial/packages", 1_000);
        assert_eq!(look(), 1_000);
        std::fs::remove_file(tree.path().join("var/lib/apt/lists/partial/packages")).expect("removed");
        write(&partial, 100);
        assert_eq!(look(), 1_100, "packages count by themselves");
        write(&partial, 0);
        write(&format!("{INSIDE}/partial/b.deb"), 0);
        assert_eq!(look(), 1_100, "an empty file more");
        write(&partial, 100);
        assert_eq!(look(), 1_100, "the same again");
        std::fs::rename(tree.path().join(&partial), tree.path().join(format!("{INSIDE}/a.deb"))).expect("moved");
        write(&format!("{INSIDE}/partial/b.deb"), 1);
        assert_eq!(look(), 1_101);
        write("var/lib/dpkg/status", 1);
        assert!(look() > 1_000_000);
    }

    #[test]
    fn what_was_downloaded_is_kept_whole_and_in_part() {
        let place = tempfile::tempdir().expect("a folder");
        let (from, to) = (place.path().join("from"), place.path().join("to"));
        std::fs::create_dir_all(from.join("partial")).expect("made");
        for name in ["a_1_all.deb", "lock", "partial/b_2_all.deb", "partial/c_3_all.deb.FAILED"] {
            std::fs::write(from.join(name), name).expect("written");
        }
        std::fs::create_dir_all(&to).expect("made");
        std::fs::write(from.join("d_4_all.deb"), "linked").expect("written");
        std::fs::hard_link(from.join("d_4_all.deb"), to.join("d_4_all.deb")).expect("linked");
        keep_archives(&from, &to).expect("kept");
        assert!(!from.join("d_4_all.deb").exists() && to.join("d_4_all.deb").exists());
        assert!(to.join("a_1_all.deb").is_file() && to.join("partial/b_2_all.deb").is_file());
        assert!(!to.join("lock").exists());
        keep_archives(&place.path().join("nowhere"), &to).expect("nothing to keep");
    }
}
