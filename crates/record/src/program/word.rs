//! What a new process tells its parent before it becomes the program: how far it came, or what failed.

use super::Program;
use std::path::Path;

/// The child stands in its namespaces and waits.
pub(super) const READY: i32 = 0;
/// It could not make its network namespace, or not enter another one.
pub(super) const NETWORK: i32 = 1;
/// It could not bring loopback up.
pub(super) const LOOPBACK: i32 = 2;
/// It could not arrange its input and output.
pub(super) const OUTPUT: i32 = 3;
/// It could not become the user asked for.
pub(super) const USER: i32 = 4;
/// The kernel did not execute the program.
pub(super) const EXECUTE: i32 = 5;
/// It could not enter its folder.
pub(super) const FOLDER: i32 = 6;
/// It could not confine itself to its processors.
pub(super) const PROCESSORS: i32 = 7;
/// It could not make its mount namespace.
pub(super) const NAMESPACE: i32 = 8;
/// It could not put its tree of files together.
pub(super) const TREE: i32 = 9;
/// It could not show a file in the place of another: the first of them, and so on.
pub(super) const MOUNT: i32 = 1_000;

/// One message from child to parent: how far it got, and the error number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub step: i32,
    pub error: i32,
}

impl Word {
    /// Small enough for a pipe to pass it whole.
    pub const SIZE: usize = 8;

    pub fn from_bytes(bytes: [u8; Word::SIZE]) -> Word {
        let both = u64::from_ne_bytes(bytes);
        Word { step: (both >> 32) as i32, error: both as i32 }
    }

    pub fn to_bytes(self) -> [u8; Word::SIZE] {
        ((self.step as u64) << 32 | u64::from(self.error as u32)).to_ne_bytes()
    }
}

/// What was being done when a step failed.
pub(super) fn describe(step: i32, program: &Program) -> String {
    let what = match step {
        NETWORK => "making or entering a network namespace",
        LOOPBACK => "bringing loopback up in a network namespace",
        OUTPUT => "arranging the program's input and output",
        USER => "becoming the user that the program is to run as",
        FOLDER => {
            let folder = program.folder.as_deref().unwrap_or(Path::new(".")).display();
            return format!("entering the folder {folder}");
        }
        PROCESSORS => return format!("keeping the program to the processors {:?}", program.processors),
        NAMESPACE => "making a mount namespace",
        TREE => "putting together the tree of files that the program is to see",
        _ => match program.mounts.get((step - MOUNT).max(0) as usize).filter(|_| step >= MOUNT) {
            Some(mount) => {
                let (source, target) = (mount.source.display(), mount.target.display());
                return format!("showing {source} to the program in the place of {target}");
            }
            None => "starting the program",
        },
    };
    what.to_string()
}
