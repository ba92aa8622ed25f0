//! Worlds that are kept, or were removed.

use crate::text::clean;
use case::{WorldEntry, Worlds};

const MIB: u64 = 1 << 20;

/// The worlds that are kept, a line each.
pub fn worlds(kept: &Worlds) -> String {
    let Worlds { cache, worlds, .. } = kept;
    if worlds.is_empty() {
        return format!("No worlds in {cache}.\n");
    }
    let widest = worlds.iter().map(|world| world.name.len()).max().unwrap_or(0);
    let line = |world: &WorldEntry| {
        let changed = if world.is_unchanged { "" } else { "; modified, so not used" };
        let (name, room) = (clean(&world.name), world.bytes / MIB);
        format!("{name:<widest$}  {}, {} packages, {room} MiB{changed}\n", clean(&world.title), world.packages)
    };
    worlds.iter().map(line).collect::<String>() + &format!("\nIn {cache}.\n")
}

/// What was removed; all of them with the packages that were downloaded.
pub fn removed_worlds(removed: &Worlds, with_packages: bool) -> String {
    let bytes = removed.worlds.iter().map(|world| world.bytes).sum::<u64>();
    let packages = if with_packages { " and the downloaded packages" } else { "" };
    format!("Removed {} worlds ({} MiB){packages}.\n", removed.worlds.len(), bytes / MIB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_world_that_was_changed_is_listed_as_such() {
        let kept = |worlds| Worlds::of("/cache".into(), worlds);
        assert!(worlds(&kept(Vec::new())).starts_with("No worlds in"));
        let world = |is_unchanged| WorldEntry {
            name: "debian-x".into(),
            folder: "/x".into(),
            title: "Debian x\u{1b}".into(),
            packages: 3,
            bytes: 5 * MIB,
            made: 7,
            is_unchanged,
        };
        let text = worlds(&kept(vec![world(true), world(false)]));
        assert!(text.contains("3 packages, 5 MiB\n") && text.contains("5 MiB; modified"), "{text}");
        assert!(!text.contains('\u{1b}'));
    }
}
