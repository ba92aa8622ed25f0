//! What a command is started by: its program by the path that it is found at, and the interpreters of scripts.
//!
//! The recorder knows an image by its real path, links followed. Where a link leads is a difference between worlds in its
//! own right: `/usr/bin/python3` is another program in each release.

use super::inside::Inside;
use crate::treatment::End;
use crate::world::World;
use record::executable::{self, MOST_INTERPRETERS};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The paths that a command is started by at an end of a world that has a tree, as they are typed: links are not followed.
/// Empty where there is no such program.
pub fn started_by(command: &[String], world: &World, end: End) -> BTreeSet<PathBuf> {
    let Some((word, inside)) = command.first().zip(world.root_of(end).map(|root| Inside::of(root.clone()))) else {
        return BTreeSet::new();
    };
    let is_file = |path: &PathBuf| inside.on_host(path).is_some_and(|place| place.is_file());
    let mut next = candidates(word, world).into_iter().find(is_file);
    let mut started = BTreeSet::new();
    while let Some(path) = next.take().filter(|_| started.len() <= MOST_INTERPRETERS) {
        let interpreter = inside.on_host(&path).and_then(|place| executable::interpreter(&place));
        let interpreter = interpreter.map(|words| PathBuf::from(&words[0])).filter(is_file);
        let is_new = started.insert(path);
        // One that comes again would come for ever.
        next = interpreter.filter(|_| is_new);
    }
    started
}

/// Where a word may name a program.
fn candidates(word: &str, world: &World) -> Vec<PathBuf> {
    let folder = world.folder.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_else(|| "/".into());
    let own = world.environment.get("PATH").map(|path| path.clone().map(Into::into));
    let path = own.unwrap_or_else(|| std::env::var_os("PATH"));
    executable::candidates(word, &folder, path).iter().map(|path| path.components().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bisect::closure::fixture::Pair;
    use std::path::Path;

    fn started(pair: &Pair, words: &[&str]) -> Vec<String> {
        let command = words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut world = pair.good.ready.world(&World::default(), End::Client, &[]);
        world.environment.insert("PATH".into(), Some("/nowhere:/bin:/opt".into()));
        let started = started_by(&command, &world, End::Client);
        started.iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn a_program_is_known_by_the_link_that_leads_to_it_and_a_script_by_its_interpreters_too() {
        let pair = Pair::new();
        pair.good.write("/usr/bin/tool-3.9", "a program");
        pair.good.link("/usr/bin/tool", "/usr/bin/tool-3.9");
        pair.good.link("/bin", "usr/bin");
        pair.good.write("/opt/script", "#!/usr/bin/tool -x\n");
        pair.good.write("/opt/circle", "#!/opt/circle\n");
        assert_eq!(started(&pair, &["tool"]), ["/bin/tool"]);
        assert_eq!(started(&pair, &["script"]), ["/opt/script", "/usr/bin/tool"]);
        assert_eq!(started(&pair, &["opt/script"]), ["/opt/script", "/usr/bin/tool"]);
        assert_eq!(started(&pair, &["circle"]), ["/opt/circle"]);
        for nothing in [&["missing"][..], &[]] {
            assert_eq!(started(&pair, nothing), Vec::<String>::new());
        }
    }

    #[test]
    fn a_link_to_another_program_is_a_factor_that_needs_it() {
        if !crate::bisect::closure::fixture::is_root() {
            return;
        }
        let mut pair = Pair::new();
        for (side, version) in [(&mut pair.good, "1"), (&mut pair.bad, "2")] {
            side.library("libx.so.1", "int x(void) { return 1; }", &[], "");
            side.program("int x(void); int main(void) { return x(); }", &["libx.so.1"]);
            let own = format!("/opt/program-{version}");
            std::fs::rename(side.host("/opt/program"), side.host(&own)).expect("renamed");
            side.used.remove(Path::new("/opt/program"));
            side.link("/opt/program", &own);
            side.package(&format!("program-{version}"), version, &[&own]);
            side.package("program", version, &["/opt/program"]);
            side.package("x", "1", &["/usr/lib/libx.so.1"]);
            let world = side.ready.world(&World::default(), End::Client, &[]);
            side.used.extend(started_by(&["/opt/program".into()], &world, End::Client));
            side.used.insert(own.into());
        }
        pair.with(|named| {
            assert_eq!(named.closed(&["program"]), Ok("program program-1".to_string()));
            // Beside the other world's link nobody would start it.
            assert_eq!(named.closed(&["program-1"]), Ok("program program-1".to_string()));
            assert_eq!(named.loaded(&["program-1"]), "");
        });
    }
}
