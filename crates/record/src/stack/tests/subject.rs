//! A program to walk: started with a pipe as its input, stopped while it waits, let go and ended on drop.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use case::tables::Location;

use crate::stack::{Registers, Stacks, Walk};

/// As much as the recorder copies.
const COPIED_BYTES: usize = 16 << 10;

/// A program that makes a function at run time, as compilers of interpreters do, and waits below it.
const GENERATING: &str = r"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int wait_here(void) { char b; return read(0, &b, 1) + 1; }
int main(void) {
    /* push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
    static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
    void *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, sizeof code);
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
    return ((int (*)(int (*)(void)))page)(wait_here) + 1;
}
";

/// A program that waits below code that it has made itself.
pub fn compile_generating(folder: &Path) -> PathBuf {
    compile(folder, "generating", GENERATING, &["-O1", "-fno-omit-frame-pointer"])
}

/// A running program that is killed in the end.
pub struct Subject(Child);

impl Drop for Subject {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Registers and stack of a thread, as the recorder would have copied them.
pub struct Copied {
    pub registers: Registers,
    pub stack: Vec<u8>,
}

impl Subject {
    /// Starts a program and waits until it waits itself.
    pub fn start(command: &mut Command) -> Subject {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let subject = Subject(child);
        let started = Instant::now();
        let mut quiet = 0;
        while quiet < 8 {
            assert!(started.elapsed() < Duration::from_secs(20), "the program never came to rest");
            std::thread::sleep(Duration::from_millis(10));
            quiet = if subject.sleeps() { quiet + 1 } else { 0 };
        }
        subject
    }

    fn sleeps(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('S'))
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    pub fn threads(&self) -> Vec<u32> {
        let entries = std::fs::read_dir(format!("/proc/{}/task", self.pid())).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_str().unwrap().parse().unwrap()).collect()
    }

    /// Copies a thread's registers and stack.
    pub fn copy(&self, tid: u32) -> Copied {
        let stopped = Stopped::thread(tid);
        let registers = stopped.registers();
        let memory = std::fs::File::open(format!("/proc/{}/mem", self.pid())).unwrap();
        let mut stack = vec![0; COPIED_BYTES];
        let mut length = 0;
        while length < stack.len() {
            let place = registers.stack_pointer() + length as u64;
            match std::os::unix::fs::FileExt::read_at(&memory, &mut stack[length..], place) {
                Ok(read) if read > 0 => length += read,
                _ => break,
            }
        }
        stack.truncate(length);
        Copied { registers, stack }
    }

    /// Copies the main thread's stack and walks it.
    pub fn walk(&self, stacks: &mut Stacks) -> Walk {
        assert!(stacks.learn(self.pid()));
        let copied = self.copy(self.pid());
        stacks.walk(self.pid(), &copied.registers, &copied.stack)
    }
}

/// A thread stopped by ptrace, let go on drop.
struct Stopped(i32);

impl Stopped {
    fn thread(tid: u32) -> Stopped {
        let tid = tid as i32;
        let none = std::ptr::null_mut::<libc::c_void>();
        // SAFETY: these requests take no memory of ours.
        unsafe {
            assert_eq!(libc::ptrace(libc::PTRACE_SEIZE, tid, none, none), 0, "a child may be traced");
            assert_eq!(libc::ptrace(libc::PTRACE_INTERRUPT, tid, none, none), 0);
            assert_eq!(libc::waitpid(tid, std::ptr::null_mut(), libc::__WALL), tid);
        }
        Stopped(tid)
    }

    fn registers(&self) -> Registers {
        // SAFETY: all zeros are a value of this struct of integers.
        let mut user: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        let none = std::ptr::null_mut::<libc::c_void>();
        // SAFETY: the request fills the struct, which outlives the call.
        assert_eq!(unsafe { libc::ptrace(libc::PTRACE_GETREGS, self.0, none, &raw mut user) }, 0);
        Registers([
            user.rax, user.rdx, user.rcx, user.rbx, user.rsi, user.rdi, user.rbp, user.rsp, user.r8, user.r9, user.r10,
            user.r11, user.r12, user.r13, user.r14, user.r15, user.rip,
        ])
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let none = std::ptr::null_mut::<libc::c_void>();
        // SAFETY: the request takes no memory of ours.
        unsafe { libc::ptrace(libc::PTRACE_DETACH, self.0, none, none) };
    }
}

/// All frames of a walk, described.
pub fn describe(stacks: &mut Stacks, walk: &Walk) -> Vec<Location> {
    let callers = walk.frames.iter().skip(1).map(|frame| Some(*frame)).chain([None]);
    stacks.locations(&walk.frames.iter().copied().zip(callers).collect::<Vec<_>>())
}

/// The functions' names, innermost first.
pub fn functions(locations: &[Location]) -> Vec<&str> {
    locations.iter().map(|location| location.function.as_str()).collect()
}

/// A program or library compiled from C.
pub fn compile(folder: &Path, name: &str, source: &str, options: &[&str]) -> PathBuf {
    compile_as(folder, name, "c", source, options)
}

/// A program compiled from C++.
pub fn compile_cpp(folder: &Path, name: &str, source: &str, options: &[&str]) -> PathBuf {
    compile_as(folder, name, "cc", source, options)
}

fn compile_as(folder: &Path, name: &str, language: &str, source: &str, options: &[&str]) -> PathBuf {
    let output = folder.join(name);
    let file = output.with_extension(language);
    std::fs::write(&file, source).unwrap();
    let status = Command::new("cc").arg("-o").arg(&output).arg(&file).args(options).status().unwrap();
    assert!(status.success(), "cc {name}");
    output
}
