use crate::row::table;
use crate::units::Nanos;

table! {
    /// What a service did in an interval.
    pub struct ServiceSample in "service_samples" {
        /// When the interval ended, in milliseconds since 1970, UTC.
        pub at_ms: u64,
        /// How long it was.
        pub length: Nanos,
        /// The service.
        pub service: String,
        /// CPU time in user mode.
        pub user: Nanos,
        /// CPU time in the kernel.
        pub system: Nanos,
        /// How long its threads were runnable and waited for a CPU.
        pub run_delay: Nanos,
        /// How long its control group was held back by a CPU quota.
        pub throttled: Nanos,
        /// Whether requests, connections and bytes were counted.
        pub counts_requests: bool,
        /// Requests that were answered on connections that it accepted.
        pub requests: u64,
        /// Connections that it accepted, and those that were there and used.
        pub connections: u64,
        /// Bytes that it read from sockets.
        pub received: u64,
        /// Bytes that it wrote to sockets.
        pub sent: u64,
        /// From a request's first read to its answer's first write, summed up.
        pub answering: Nanos,
        /// Answers with an HTTP/1 status of 5xx.
        pub failures: u64,
        /// TCP segments that were sent again.
        pub retransmitted: u64,
        /// Connections that its listening sockets dropped, as their queue was full.
        pub overflows: u64,
        /// Whether system calls were counted.
        pub counts_calls: bool,
        /// System calls.
        pub calls: u64,
        /// Memory at the end: of its control group, or resident in its processes.
        pub memory: u64,
        /// Processes at the end.
        pub processes: u32,
        /// Threads at the end.
        pub threads: u32,
    }
}

impl ServiceSample {
    /// CPU time in all.
    pub fn cpu(&self) -> Nanos {
        self.user + self.system
    }

    /// CPU time a request; none without requests.
    pub fn cpu_per_request(&self) -> Option<f64> {
        (self.counts_requests && self.requests > 0).then(|| self.cpu().0 as f64 / self.requests as f64)
    }

    /// From a request's first read to its answer's first write, a request; none without requests.
    pub fn answering_per_request(&self) -> Option<f64> {
        (self.counts_requests && self.requests > 0).then(|| self.answering.0 as f64 / self.requests as f64)
    }

    /// Adds a later one of the same service: counts and times are summed, what is true of a moment is the later one's.
    pub fn join(&mut self, later: &ServiceSample) {
        self.at_ms = later.at_ms;
        self.length += later.length;
        self.user += later.user;
        self.system += later.system;
        self.run_delay += later.run_delay;
        self.throttled += later.throttled;
        self.counts_requests |= later.counts_requests;
        self.requests += later.requests;
        self.connections += later.connections;
        self.received += later.received;
        self.sent += later.sent;
        self.answering += later.answering;
        self.failures += later.failures;
        self.retransmitted += later.retransmitted;
        self.overflows += later.overflows;
        self.counts_calls |= later.counts_calls;
        self.calls += later.calls;
        self.memory = later.memory;
        self.processes = later.processes;
        self.threads = later.threads;
    }
}
