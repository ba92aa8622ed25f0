//! Whether a server is ready.

/// Whether the process `pid`, or a descendant of it, has a listening socket (TCP or Unix).
pub fn listens(pid: u32) -> bool {
    let _ = pid;
    false
}
