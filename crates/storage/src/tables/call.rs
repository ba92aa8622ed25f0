use crate::row::table;
use crate::units::Nanos;

table! {
    /// One syscall of one thread, from entering the kernel to leaving it. A call still blocked when recording stopped
    /// is included, with `finished` false and its duration so far.
    ///
    /// In a case from a capture of packets, which shows no calls, a row stands for payload that crossed the wire in one
    /// direction: `read` towards the connection's own end, `write` away from it, from its first segment to its last.
    /// Process and thread are 0.
    pub struct Call in "calls" {
        /// When the thread entered the kernel.
        pub start: Nanos,
        /// How long it stayed there.
        pub duration: Nanos,
        /// How much of that it was blocked: off CPU and not runnable.
        pub blocked: Nanos,
        /// The thread.
        pub tid: u32,
        /// Its process.
        pub pid: u32,
        /// The syscall number (x86-64 Linux).
        pub number: u16,
        /// The file descriptor the call is about; -1 for none.
        pub fd: i32,
        /// What it returned: a count, a new descriptor, or a negative error number.
        pub result: i64,
        /// Its second argument. For calls with a vector, the total number of bytes asked for; for `poll` the number of
        /// descriptors, for `epoll_ctl` the operation, for `ioctl` the command, for `setsockopt` the level.
        pub argument_1: u64,
        /// Its third argument: for `read`, `write`, `recv`, `send` the bytes asked for, for waiting calls the timeout
        /// in nanoseconds (all ones: none), for `epoll_ctl` the descriptor, for `setsockopt` the option.
        pub argument_2: u64,
        /// What the call read or wrote by reference, if it fits one number: the value of an `ioctl` that
        /// returns a count, of a `setsockopt` option, the event mask of `epoll_ctl` or of the first ready descriptor;
        /// for `poll` its first entry (descriptor in the low 32 bits, then 16 bits asked for and 16 bits found), for
        /// `send` and `recv` the flags.
        pub argument_3: u64,
        /// The socket it is about; 0 for none.
        pub connection: u32,
        /// The path it names, or that its descriptor was opened with; 0 for none.
        pub path: u32,
        /// Native stack at the call; 0 if none was copied. If the same call site was copied before, that stack.
        pub stack: u32,
        /// Stack of the interpreted program (CPython, PHP, Perl, CRuby, Node) at the call; 0 for none.
        pub script_stack: u32,
        /// What the first bytes read or written are; see `content`.
        pub content: u8,
        /// Whether the call returned before recording stopped.
        pub finished: bool,
    }
}

/// What the first bytes of a buffer are. The bytes themselves are not kept.
pub mod content {
    /// Not looked at, or unknown.
    pub const OTHER: u8 = 0;
    /// Begins with a TLS record.
    pub const TLS: u8 = 1;
    /// Begins an HTTP/1 request.
    pub const HTTP_REQUEST: u8 = 2;
    /// Begins an HTTP/1 response.
    pub const HTTP_RESPONSE: u8 = 3;
    /// A DNS message.
    pub const DNS: u8 = 4;
    /// PEM text that begins with a certificate.
    pub const PEM: u8 = 5;
    /// Begins an HTTP/2 connection.
    pub const HTTP2_PREFACE: u8 = 6;
    /// PEM text that begins with something else: a key, a request, a revocation list.
    pub const PEM_OTHER: u8 = 7;
}
