//! Programs compiled for one property each.

use std::process::Command;

use case::tables::kind;

use super::super::Stacks;
use crate::resolver::Resolver;

use super::subject::{Subject, compile, compile_cpp, compile_generating, describe, functions};

const NESTED: &str = r"
#include <unistd.h>
volatile int never;
__attribute__((noinline)) int inner(int a) { char b[200]; int got = read(0, b, sizeof b); return got + a + b[0]; }
__attribute__((noinline)) int middle(int a) { return inner(a + 1) * 3; }
__attribute__((noinline)) int outer(int a) { volatile char pad[1000]; pad[a] = 1; return middle(a) + pad[a]; }
int main(int argc, char **argv) { return outer(argc) + 1; }
";

const WITHOUT_FRAME_POINTERS: [&str; 3] = ["-O2", "-fomit-frame-pointer", "-g"];

/// The functions between the system call and the C library's start code.
fn assert_calls(names: &[&str], expected: &[&str]) {
    let place = names.windows(expected.len()).position(|window| window == expected);
    assert!(place.is_some(), "{expected:?} in {names:?}");
}

#[test]
fn a_program_without_frame_pointers_is_walked_to_its_start_with_names_and_lines() {
    let folder = tempfile::tempdir().unwrap();
    let subject = Subject::start(&mut Command::new(compile(folder.path(), "nested", NESTED, &WITHOUT_FRAME_POINTERS)));
    let mut stacks = Stacks::new(&Resolver::new());
    let walk = subject.walk(&mut stacks);
    let locations = describe(&mut stacks, &walk);
    assert!(walk.complete, "{locations:#?}");
    assert_calls(&functions(&locations), &["read", "inner", "middle", "outer", "main"]);
    assert_eq!(locations.last().unwrap().function, "_start");
    assert!(locations[0].is_libc && !locations[1].is_libc);
    assert!(locations[1].file.ends_with("nested.c"));
    assert_eq!((locations[1].line, locations[2].line), (4, 5));
    assert!(locations[1].function_offset != 0 && locations[1].function_offset < locations[1].offset);
}

#[test]
fn frames_stay_nameable_after_the_process_and_its_file_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let subject = Subject::start(&mut Command::new(compile(folder.path(), "nested", NESTED, &WITHOUT_FRAME_POINTERS)));
    let mut stacks = Stacks::new(&Resolver::new());
    let walk = subject.walk(&mut stacks);
    let pid = subject.pid();
    drop((subject, folder));
    assert!(!stacks.learn(pid));
    stacks.forget(pid);
    let locations = describe(&mut stacks, &walk);
    assert_calls(&functions(&locations), &["read", "inner", "middle", "outer", "main"]);
    assert_eq!(locations[1].line, 4);
}

#[test]
fn a_child_is_walked_by_what_it_inherits() {
    let folder = tempfile::tempdir().unwrap();
    let subject = Subject::start(&mut Command::new(compile(folder.path(), "nested", NESTED, &WITHOUT_FRAME_POINTERS)));
    let mut stacks = Stacks::new(&Resolver::new());
    stacks.learn(subject.pid());
    let copied = subject.copy(subject.pid());
    // No process has this id: what is known of it can only come from its parent.
    let child = u32::MAX;
    assert!(!stacks.walk(child, &copied.registers, &copied.stack).complete);
    stacks.inherit(subject.pid(), child);
    assert!(stacks.walk(child, &copied.registers, &copied.stack).complete);
    assert!(stacks.mapped_paths(child).iter().any(|(path, start, _)| path.ends_with("/nested") && *start > 0));
}

#[test]
fn a_walk_through_a_signal_handler_goes_on_in_what_it_interrupted() {
    let source = r#"
#include <signal.h>
#include <unistd.h>
volatile int number;
void handler(int signal) { char b; read(0, &b, 1); number = signal; }
__attribute__((noinline)) int interrupted(int a) { raise(SIGUSR1); return a + number; }
/* A function whose first instruction faults, directly behind one with a large frame. */
int faulty(int a);
__asm__(".text; .type before,@function; before: .cfi_startproc; .cfi_def_cfa_offset 4104; nop; .cfi_endproc;"
        ".size before,.-before; .globl faulty; .type faulty,@function; faulty: .cfi_startproc; movl $1,0; ret;"
        ".cfi_endproc; .size faulty,.-faulty");
int main(int argc, char **argv) {
    signal(SIGUSR1, handler); signal(SIGSEGV, handler);
    return (argc > 1 ? faulty(1) : interrupted(argc)) + 1;
}
"#;
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path(), "signalled", source, &WITHOUT_FRAME_POINTERS);
    let mut stacks = Stacks::new(&Resolver::new());
    for (arguments, function) in [(&[][..], "interrupted"), (&["fault"][..], "faulty")] {
        let subject = Subject::start(Command::new(&program).args(arguments));
        let walk = subject.walk(&mut stacks);
        let locations = describe(&mut stacks, &walk);
        let names = functions(&locations);
        assert!(walk.complete, "{locations:#?}");
        assert_calls(&names, &["read", "handler"]);
        assert_calls(&names, &[function, "main"]);
    }
}

const LIBRARY: &str = r"
#include <unistd.h>
__attribute__((noinline)) static int hidden(int a, char *b) { int got = read(0, b, 8); return got + a + b[0]; }
int jumps(int a, char *b) { return hidden(a + 1, b); }
int calls(int a, char *b) { return hidden(a + 1, b) + 1; }
";

#[test]
fn a_stripped_function_is_named_by_the_call_it_was_reached_by_and_not_by_the_nearest_export() {
    let caller = r"
int jumps(int a, char *b); int calls(int a, char *b);
int main(int argc, char **argv) { char b[8] = {0}; return (argc > 1 ? calls(argc, b) : jumps(argc, b)) + 1; }
";
    let folder = tempfile::tempdir().unwrap();
    let library = compile(folder.path(), "libstripped", LIBRARY, &["-O2", "-shared", "-fPIC", "-s"]);
    let library = library.to_str().unwrap();
    for (name, linkage) in [("lazy", "-fplt"), ("eager", "-fno-plt")] {
        let program = compile(folder.path(), name, caller, &["-O2", linkage, library]);
        let mut stacks = Stacks::new(&Resolver::new());
        let mut walked = |arguments: &[&str]| {
            let subject = Subject::start(Command::new(&program).args(arguments));
            let walk = subject.walk(&mut stacks);
            assert!(walk.complete);
            describe(&mut stacks, &walk)
        };
        let jumped = walked(&[]);
        assert_calls(&functions(&jumped), &["read", "jumps", "main"]);
        let called = walked(&["call"]);
        assert_calls(&functions(&called), &["read", "", "calls", "main"]);
        // The same function both times, whatever it is called.
        assert_eq!(jumped[1].function_offset, called[1].function_offset);
        assert_ne!(called[1].function_offset, called[2].function_offset);
    }
}

#[test]
fn a_function_reached_through_another_library_does_not_get_that_librarys_name() {
    let library = "int through(int (*f)(int), int a) { return f(a + 1); }";
    let program = r"
#include <unistd.h>
int through(int (*f)(int), int a);
__attribute__((noinline)) static int given(int a) { char b; return read(0, &b, 1) + a; }
int main(int argc, char **argv) { return through(given, argc) + 1; }
";
    let folder = tempfile::tempdir().unwrap();
    let library = compile(folder.path(), "libthrough", library, &["-O2", "-shared", "-fPIC"]);
    let program = compile(folder.path(), "giving", program, &["-O2", "-s", library.to_str().unwrap()]);
    let mut stacks = Stacks::new(&Resolver::new());
    let subject = Subject::start(&mut Command::new(program));
    let walk = subject.walk(&mut stacks);
    let locations = describe(&mut stacks, &walk);
    assert!(walk.complete);
    assert_eq!(functions(&locations)[..3], ["read", "", ""]);
    assert!(locations[1..3].iter().all(|location| location.module.ends_with("/giving")));
}

#[test]
fn a_call_that_never_returns_is_in_the_function_that_made_it() {
    let source = r"
#include <unistd.h>
__attribute__((noinline, noreturn)) void forever(int a) { char b[99]; for (;;) b[0] = read(0, b, 8 + a); }
__attribute__((noinline)) void last(int a) { volatile char pad[500]; pad[a] = 1; forever(a); }
__attribute__((noinline)) int next(int a) { volatile char pad[9000]; pad[a] = 2; return pad[0]; }
int main(int argc, char **argv) { if (argc > 5) return next(argc); last(argc); return 0; }
";
    let folder = tempfile::tempdir().unwrap();
    // Without alignment the next function begins where the call would return to.
    let program = compile(folder.path(), "forever", source, &["-O2", "-falign-functions=1", "-fno-reorder-functions"]);
    let mut stacks = Stacks::new(&Resolver::new());
    let walk = Subject::start(&mut Command::new(program)).walk(&mut stacks);
    let locations = describe(&mut stacks, &walk);
    assert!(walk.complete, "{locations:#?}");
    assert_calls(&functions(&locations), &["read", "forever", "last", "main"]);
}

#[test]
fn a_program_without_unwind_information_is_walked_by_frame_pointers() {
    let options = [
        "-O1",
        "-fno-omit-frame-pointer",
        "-fno-optimize-sibling-calls",
        "-fno-asynchronous-unwind-tables",
        "-fno-unwind-tables",
    ];
    let folder = tempfile::tempdir().unwrap();
    let subject = Subject::start(&mut Command::new(compile(folder.path(), "bare", NESTED, &options)));
    let mut stacks = Stacks::new(&Resolver::new());
    let walk = subject.walk(&mut stacks);
    let locations = describe(&mut stacks, &walk);
    assert!(walk.complete, "{locations:#?}");
    assert_calls(&functions(&locations), &["read", "inner", "middle", "outer", "main"]);
}

#[test]
fn generated_code_is_walked_by_frame_pointers_and_named_by_its_map_file() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile_generating(folder.path());
    let subject = Subject::start(&mut Command::new(program));
    let mut stacks = Stacks::new(&Resolver::new());
    let walk = subject.walk(&mut stacks);
    // Runtimes write the file as they generate code, which may be after the process was first seen.
    let map = format!("/tmp/perf-{}.map", subject.pid());
    std::fs::write(&map, format!("{:x} 8 generated_function\n", walk.frames[2].address & !0xfff)).unwrap();
    assert!(stacks.learn(subject.pid()));
    drop(subject);
    std::fs::remove_file(map).unwrap();
    let locations = describe(&mut stacks, &walk);
    assert!(walk.complete, "{locations:#?}");
    assert_calls(&functions(&locations), &["read", "wait_here", "generated_function", "main"]);
    assert_eq!((locations[2].kind, locations[2].module.as_str()), (kind::GENERATED, "[jit]"));
}

#[test]
fn a_thread_is_walked_to_its_start() {
    let source = r"
#include <pthread.h>
#include <unistd.h>
void *thread(void *none) { char b; return read(0, &b, 1) ? none : 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, thread, 0); pthread_join(t, 0); return 0; }
";
    let folder = tempfile::tempdir().unwrap();
    let subject = Subject::start(&mut Command::new(compile(folder.path(), "threaded", source, &["-O2", "-pthread"])));
    let mut stacks = Stacks::new(&Resolver::new());
    stacks.learn(subject.pid());
    let tid = subject.threads().into_iter().find(|tid| *tid != subject.pid()).unwrap();
    let copied = subject.copy(tid);
    let walk = stacks.walk(subject.pid(), &copied.registers, &copied.stack);
    let locations = describe(&mut stacks, &walk);
    assert!(walk.complete, "{locations:#?}");
    assert_calls(&functions(&locations), &["read", "thread"]);
}

#[test]
fn a_walk_that_runs_out_of_copied_stack_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let subject = Subject::start(&mut Command::new(compile(folder.path(), "nested", NESTED, &WITHOUT_FRAME_POINTERS)));
    let mut stacks = Stacks::new(&Resolver::new());
    stacks.learn(subject.pid());
    let copied = subject.copy(subject.pid());
    let walk = stacks.walk(subject.pid(), &copied.registers, &copied.stack[..600]);
    assert!(!walk.complete);
    let locations = describe(&mut stacks, &walk);
    assert_calls(&functions(&locations), &["read", "inner", "middle"]);
}

#[test]
fn mangled_names_are_made_readable() {
    let folder = tempfile::tempdir().unwrap();
    let source = "#include <unistd.h>\nstruct Reader { __attribute__((noinline)) int wait(int a) { char b; return read(0, &b, 1) + a; } };\n\
                  int main(int argc, char **) { Reader reader; return reader.wait(argc) + 1; }\n";
    let program = compile_cpp(folder.path(), "readable", source, &["-O1"]);
    let mut stacks = Stacks::new(&Resolver::new());
    let walk = Subject::start(&mut Command::new(program)).walk(&mut stacks);
    assert_calls(&functions(&describe(&mut stacks, &walk)), &["read", "Reader::wait(int)", "main"]);
}

#[test]
fn stacks_may_be_learned_on_one_thread_and_named_on_another() {
    let folder = tempfile::tempdir().unwrap();
    let subject = Subject::start(&mut Command::new(compile(folder.path(), "nested", NESTED, &WITHOUT_FRAME_POINTERS)));
    let mut stacks = Stacks::new(&Resolver::new());
    let walk = subject.walk(&mut stacks);
    let locations = std::thread::spawn(move || describe(&mut stacks, &walk)).join().unwrap();
    assert_calls(&functions(&locations), &["read", "inner", "middle", "outer", "main"]);
}

#[test]
fn a_static_program_behind_another_root_is_read_as_it_sees_itself() {
    if !testing::is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    compile(folder.path(), "nested", NESTED, &["-O2", "-g", "-static"]);
    let mut command = Command::new("/nested");
    let root = folder.path().to_owned();
    // SAFETY: changing the root and directory are system calls, fit for a forked child.
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(&mut command, move || {
            nix::unistd::chroot(&root)?;
            Ok(nix::unistd::chdir("/")?)
        });
    }
    let subject = Subject::start(&mut command);
    let mut stacks = Stacks::new(&Resolver::new());
    let walk = subject.walk(&mut stacks);
    let locations = describe(&mut stacks, &walk);
    assert!(walk.complete, "{locations:#?}");
    assert_calls(&functions(&locations), &["read", "inner", "middle", "outer", "main"]);
    assert!(!locations[0].is_libc && locations[1].line == 4);
}
