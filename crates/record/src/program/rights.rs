//! With whose rights a child of the broker's follows paths that the command has named.

use broker::Identity;

/// Whose they are; none where the command is root itself.
#[derive(Clone, Copy)]
pub(super) struct Rights(Option<Identity>);

impl Rights {
    /// The command's.
    pub fn of_command() -> Rights {
        Rights(broker::becomes())
    }

    /// Whether they are less than root's.
    pub fn are_less(self) -> bool {
        self.0.is_some()
    }

    /// Takes them: until they are given back, files are those that their owner could get at.
    ///
    /// SAFETY: for a child after the fork: makes async-signal-safe calls only.
    pub unsafe fn take(self) {
        let Some(caller) = self.0 else { return };
        // SAFETY: calls with numbers.
        unsafe {
            libc::setfsgid(caller.gid);
            libc::setfsuid(caller.uid);
        }
    }

    /// Gives them back.
    ///
    /// SAFETY: as `take`.
    pub unsafe fn give_back(self) {
        if self.are_less() {
            // SAFETY: calls with numbers.
            unsafe {
                libc::setfsuid(libc::geteuid());
                libc::setfsgid(libc::getegid());
            }
        }
    }
}
