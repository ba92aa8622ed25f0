//! A program of the caller's that names an interpreter of the caller's own (PT_INTERP), which the kernel and loader queries execute:
//! whichever command is given it under sudo, it never finds itself root.

use crate::rights::roles;
use crate::stage::{Stage, shell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use testing::{is_root, skip};

/// Who called sudo.
const CALLER: u32 = 65_534;

/// Writes its user id into a file and ends; linked against nothing, since it is started in the place of a loader.
const INTERPRETER: &str = r#"
static long call(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}
void _start(void) {
    char text[12], *at = text + sizeof text;
    long effective = call(107, 0, 0, 0), file = call(2, (long)LOG, 02001, 0);
    *--at = '\n';
    do { *--at = '0' + effective % 10; effective /= 10; } while (effective);
    call(1, file, (long)at, text + sizeof text - at);
    call(60, 0, 0, 0);
}
"#;

/// Writes its user id into a file as well, and then hands over to the system's loader, so that the program runs.
const RELAY: &str = r#"
static long call(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}
__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall start\n");
void start(long *stack) {
    char text[12], *at = text + sizeof text, *line[64], **words = (char **)(stack + 1);
    long effective = call(107, 0, 0, 0), file = call(2, (long)LOG, 02001, 0), count = stack[0], i;
    *--at = '\n';
    do { *--at = '0' + effective % 10; effective /= 10; } while (effective);
    call(1, file, (long)at, text + sizeof text - at);
    call(3, file, 0, 0);
    /* Asked as a loader is, or started by the kernel for the program that the words begin with. */
    int is_asked = count > 1 && words[1][0] == '-' && words[1][1] == '-';
    line[0] = LOADER;
    for (i = is_asked; i < count && i < 62; i++) line[i + 1 - is_asked] = words[i];
    line[i + 1 - is_asked] = 0;
    call(59, (long)LOADER, (long)line, (long)(words + count + 1));
    call(60, 127, 0, 0);
}
"#;

/// A library of two versions, as a registry carries them; who builds it is kept beside it.
const SOURCE: &str = "name = 'tiny'\nabout = 'a library'\ncrate = 'tiny-sys'\nfolder = 'tiny'\n\
    libraries = ['lib/libtiny.so.1']\n[[steps]]\nname = 'build'\n\
    run = 'cc -shared -fPIC -Wl,-soname,libtiny.so.1 {source}/tiny.c -o libtiny.so.1'\n\
    [[steps]]\nname = 'install'\n\
    run = 'mkdir -p {stage}{prefix}/lib && cp libtiny.so.1 {stage}{prefix}/lib/ && id -u >{stage}{prefix}/lib/built-by'\n";

/// The caller's home, with a program that names the interpreter, and folders of libraries that differ.
fn staged() -> Option<Stage> {
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return None;
    }
    if shell("command -v cc").is_empty() {
        skip("cc is not installed");
        return None;
    }
    fs::set_permissions(stage.path("."), Permissions::from_mode(0o755)).expect("the stage is ours");
    for folder in ["home", "home/good", "home/bad", "mirror"] {
        fs::create_dir(stage.path(folder)).expect("made");
    }
    let home = stage.path("home").display().to_string();
    fs::write(stage.path("interpreter.c"), INTERPRETER).expect("written");
    fs::write(stage.path("relay.c"), RELAY).expect("written");
    let own = stage.path("").display().to_string();
    let made = shell(&format!(
        "set -e; cd {own}
        cc -nostdlib -static -fno-stack-protector -DLOG='\"{home}/log\"' -o home/interpreter interpreter.c
        echo 'int tiny(void) {{ return 1; }}' >tiny.c; cc -shared -fPIC -Wl,-soname,libtiny.so.1 -o home/good/libtiny.so.1 tiny.c
        echo 'int tiny(void) {{ return 2; }}' >tiny.c; cc -shared -fPIC -Wl,-soname,libtiny.so.1 -o home/bad/libtiny.so.1 tiny.c
        echo 'int tiny(void); int main(void) {{ return tiny(); }}' >program.c
        cc -o home/program program.c home/good/libtiny.so.1 -Wl,--dynamic-linker={home}/interpreter
        cc -nostdlib -static -fno-stack-protector -fno-builtin -DLOADER='\"/lib64/ld-linux-x86-64.so.2\"' \
            -DLOG='\"{home}/log\"' -o home/relay relay.c
        echo 'int usleep(unsigned), tiny(void);
            int main(void) {{ usleep(300000); for (volatile long i = 0; i < 20000000; i++); return tiny() < 0; }}' >works.c
        cc -o home/works works.c home/good/libtiny.so.1 -Wl,--dynamic-linker={home}/relay
        mkdir -p mirror/ti/ny; echo '{{\"dl\":\"file://{own}/mirror/files\"}}' >mirror/config.json
        for version in 1.0.0+1.1 2.0.0+1.2; do
            name=tiny-sys-$version; mkdir -p $name/tiny mirror/files/tiny-sys/$version
            echo \"int tiny(void) {{ return ${{#version}}; }}\" >$name/tiny/tiny.c
            file=mirror/files/tiny-sys/$version/download; tar -czf $file $name; sum=$(sha256sum $file | cut -d' ' -f1)
            echo \"{{\\\"name\\\":\\\"tiny-sys\\\",\\\"vers\\\":\\\"$version\\\",\\\"cksum\\\":\\\"$sum\\\",\\\"yanked\\\":false}}\" >>mirror/ti/ny/tiny-sys
        done
        touch home/log; chmod 666 home/log; chown -R {CALLER}:{CALLER} home; echo made"
    ));
    assert_eq!(made, "made\n");
    fs::write(stage.path("tiny.toml"), SOURCE).expect("written");
    chown(stage.path("home"), Some(CALLER), Some(CALLER)).expect("root's right");
    Some(stage)
}

/// How often the interpreter of a program was executed by each user in a command, and what was seen to be root's meanwhile, by
/// name. What the command prints is in the file `answer` then.
fn executed_by(stage: &Stage, options: &[&str], program: &str) -> (BTreeMap<u32, usize>, BTreeSet<String>) {
    let (log, program) = (stage.path("home/log"), stage.path("home").join(program).display().to_string());
    fs::write(&log, "").expect("emptied");
    let words = [options, &["--", &program], if options[0] == "sweep" { &["{x}"] } else { &[] }].concat();
    let caller = CALLER.to_string();
    let mut command = stage.whyslow(&words);
    command.env("SUDO_UID", &caller).env("SUDO_GID", &caller).env("WHYSLOW_CACHE", stage.path("cache"));
    command.env("WHYSLOW_CRATES_INDEX", format!("file://{}", stage.path("mirror").display()));
    let answer = fs::File::create(stage.path("answer")).expect("made");
    command.stdout(answer).stderr(Stdio::piped());
    let mut child = command.spawn().expect("whyslow");
    let mut roots = BTreeSet::new();
    while child.try_wait().expect("ours").is_none() {
        let now = roles(child.id());
        // Before it divides itself it is root for a moment.
        if now.first().is_some_and(|role| role.uid == CALLER) {
            roots.extend(now.into_iter().filter(|role| role.uid == 0).map(|role| role.name));
        }
        std::thread::sleep(Duration::from_millis(3));
    }
    let output = child.wait_with_output().expect("whyslow");
    // The program does no work, so that it may not be measured; it does not panic.
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked") && output.status.code().is_some(), "{options:?}: {said}");
    let mut by = BTreeMap::new();
    for line in fs::read_to_string(&log).expect("a log").lines() {
        *by.entry(line.parse().expect("a number")).or_insert(0) += 1;
    }
    println!("{}: {by:?}; root's: {roots:?}; {}", options[0], said.lines().last().unwrap_or_default());
    (by, roots)
}

/// That all was the caller's, but for whyslow's broker.
fn expect_callers(options: &[&str], by: &BTreeMap<u32, usize>, roots: &BTreeSet<String>) {
    assert_eq!(by.keys().copied().collect::<Vec<_>>(), [CALLER], "{options:?}: {by:?}");
    // And whyslow itself: the broker before it has its name, and a resolver before it has become nobody.
    let own = ["whyslow-broker", "whyslow", "exe"];
    let others = roots.iter().filter(|name| !own.contains(&name.as_str())).collect::<Vec<_>>();
    assert!(others.is_empty() && roots.contains("whyslow-broker"), "{options:?}: {roots:?}");
}

#[test]
fn an_interpreter_of_the_callers_is_never_executed_by_root() {
    let Some(stage) = staged() else { return };
    let libraries = ["good", "bad"].map(|side| format!("libs:{}", stage.path("home").join(side).display()));
    let source = stage.path("tiny.toml").display().to_string();
    let [good, bad] = &libraries;
    let commands: [&[&str]; 6] = [
        &["run", "--budget", "2", "-o", "home/run"],
        &["compare", "--budget", "2", "-o", "home/compare"],
        &["sweep", "--budget", "2", "--vary", "x=1,2", "-o", "home/sweep"],
        &["bisect", "--budget", "4", "--good", good, "--bad", bad, "-o", "home/bisect"],
        &["matrix", "--budget", "4", "--library", "tiny=1.1,1.2", "--source", &source, "-o", "home/matrix"],
        &["world", "run", good],
    ];
    for options in commands {
        let (by, roots) = executed_by(&stage, options, "program");
        expect_callers(options, &by, &roots);
    }
}

/// The same of a matrix that gets all the way: built, asked about, recorded and measured.
#[test]
fn a_matrix_is_built_and_measured_by_the_caller() {
    let Some(stage) = staged() else { return };
    let (source, budget) = (stage.path("tiny.toml").display().to_string(), testing::budget(8));
    let library = ["--library", "tiny=1.1,1.2", "--source", &source];
    let options = [&["matrix", "--json", "--budget", &budget], &library[..], &["-o", "home/matrix"]].concat();
    let (by, roots) = executed_by(&stage, &options, "works");
    let answer = fs::read_to_string(stage.path("answer")).expect("there");
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
    let versions = answer["versions"].as_array().expect("versions");
    assert_eq!(versions.len(), 2, "{answer:#}");
    for version in versions {
        assert_eq!(version["state"], "measured", "{version:#}");
        let prefix = version["prefix"].as_str().expect("a folder");
        let builder = fs::read_to_string(Path::new(prefix).join("lib/built-by")).expect("written by the build");
        assert_eq!(builder.trim(), CALLER.to_string(), "{version:#}");
    }
    // Asked about, tried and recorded for each version, and measured in pairs.
    assert!(by.values().sum::<usize>() >= 10, "{by:?}");
    expect_callers(&options, &by, &roots);
}
