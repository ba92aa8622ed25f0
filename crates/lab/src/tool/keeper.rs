//! What ends a tool together with all that it has started. When whyslow is killed, the kernel tells the tool alone
//! ([`record::ParentDeathSignal`]), not its children: a build would go on. A small shell outlives us by some seconds and ends them.

use crate::LabError;
use std::io::Write;
use std::process::{Child, Command, Stdio};

/// Reads the tool's process group, then a farewell. Where our end of its input is closed without one, as the kernel does when
/// we are killed, it ends the group: asked, waited for in so many tenths of a second, and killed.
const SCRIPT: &str = r#"read -r group || exit 0
read -r farewell && exit 0
kill -s TERM -- "-$group"
turns=$1
while [ "$turns" -gt 0 ] && kill -s 0 -- "-$group"; do
    sleep 0.1
    turns=$((turns - 1))
done
kill -s KILL -- "-$group"
"#;
/// What a group gets for its end: builds need none of it, mmdebstrap cleans up.
const TENTHS: &str = "40";

/// A shell that waits for the end of a tool, or for ours. Dropped, it ends the tool.
pub(super) struct Keeper(Child);

impl Keeper {
    /// Starts it, with nothing to keep yet.
    ///
    /// # Errors
    /// Where there is no shell.
    pub fn start() -> Result<Keeper, LabError> {
        use std::os::unix::process::CommandExt;
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SCRIPT, "sh", TENTHS]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // What a terminal sends to us is not for it, and it keeps no folder busy.
        shell.process_group(0).current_dir("/").spawn().map(Keeper).map_err(LabError::io("/bin/sh"))
    }

    /// Keeps a process group from now on.
    pub fn keep(&mut self, group: u32) -> Result<(), LabError> {
        self.tell(&format!("{group}\n")).map_err(LabError::io("/bin/sh"))
    }

    /// The tool has ended by itself: what it leaves running is left alone.
    pub fn let_go(mut self) {
        // Where it cannot be reached, it is gone already.
        let _ = self.tell("farewell\n");
    }

    /// Ends the group. `is_gone` waits a little and tells whether all of it has ended.
    pub fn end(mut self, is_gone: &mut dyn FnMut() -> bool) {
        drop(self.0.stdin.take());
        while !is_gone() && matches!(self.0.try_wait(), Ok(None)) {}
        // It cannot tell what still runs from what has ended and was not collected by its parent yet.
        let _ = self.0.kill();
    }

    fn tell(&mut self, words: &str) -> std::io::Result<()> {
        self.0.stdin.as_mut().map_or(Ok(()), |input| input.write_all(words.as_bytes()))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // There is nothing to be done where it cannot be waited for.
        let _ = self.0.wait();
    }
}
