//! Errors of watching what runs already.

use super::Failure;

impl Failure {
    /// A process that is not there.
    pub fn no_process(pid: u32) -> Failure {
        let why = "no process has that PID, or it has exited";
        Failure::new(format!("there is no process {pid}"), why, "pgrep -a NAME; whyslow attach PID")
    }

    /// A port that nobody listens on.
    pub fn nobody_listens(port: u16) -> Failure {
        let why = "no process you may inspect has a listening TCP socket there";
        Failure::new(format!("nothing listens on port {port}"), why, "ss -ltnp; whyslow attach PID")
    }

    /// A port that several programs listen on, in networks of their own.
    pub fn several_listen(port: u16, pids: &[u32]) -> Failure {
        let list = pids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let remedy = format!("whyslow attach {}", pids.first().copied().unwrap_or_default());
        Failure::new(format!("several programs listen on port {port}"), format!("they are processes {list}"), remedy)
    }
}
