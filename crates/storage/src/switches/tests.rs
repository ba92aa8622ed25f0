//! What is recognised as a switch, and how it is taken out.

use super::*;

fn process(runtime: &str, environment: &[u8]) -> Process {
    Process { runtime: runtime.into(), switches: in_environment(environment), ..Process::default() }
}

#[test]
fn of_an_environment_nothing_but_switches_is_kept() {
    let environment = b"HOME=/root\0PASSWORD=x\0JAVA_TOOL_OPTIONS=-Dkey=secret -Xint\0PYTHONDEVMODE=1\0\xff=1\0plain";
    assert_eq!(in_environment(environment), "JAVA_TOOL_OPTIONS=-Xint PYTHONDEVMODE");
    assert_eq!(in_environment(b"PYTHONTRACEMALLOC=0\0PYTHONDEVMODE=\0NODE_OPTIONS=--max-old-space-size=64"), "");
    assert_eq!(in_environment(b"PYTHONMALLOC=malloc\0JAVA_TOOL_OPTIONS=-XX:+UseSerialGC"), "");
    let java = in_environment(b"_JAVA_OPTIONS=-XX:TieredStopAtLevel=1 -Xmx1g");
    assert_eq!(java, "_JAVA_OPTIONS=-XX:TieredStopAtLevel=1");
    assert_eq!(in_environment(b"_JAVA_OPTIONS=-XX:TieredStopAtLevel=4\0NODE_OPTIONS=--cpu-prof-dir=/home/me"), "");
    let both = in_environment(b"GLIBC_TUNABLES=glibc.malloc.check=3:glibc.malloc.perturb=7");
    assert_eq!(both, "GLIBC_TUNABLES=glibc.malloc.perturb=7 GLIBC_TUNABLES=glibc.malloc.check=3");
}

#[test]
fn a_switch_counts_for_the_runtime_that_reads_it() {
    let environment = b"PYTHONDEVMODE=1\0NODE_OPTIONS=--jitless\0OPENSSL_ia32cap=~0x200000200000000\0";
    let variables = |runtime: &str| {
        let process = process(runtime, environment);
        of(&process).into_iter().filter_map(|(switch, _)| switch.variable()).collect::<Vec<_>>()
    };
    assert_eq!(variables("cpython 3.11"), ["PYTHONDEVMODE", "OPENSSL_ia32cap"]);
    assert_eq!(variables("node"), ["NODE_OPTIONS", "OPENSSL_ia32cap"]);
    assert_eq!(variables(""), ["OPENSSL_ia32cap"]);
    assert!(of(&process("go", b"")).is_empty());
    let of_go = process("go 1.22", b"GODEBUG=gctrace=0,cpu.aes=off,http2client=0");
    assert_eq!(of_go.switches, "GODEBUG=cpu.aes=off");
    assert_eq!((of(&of_go).len(), of(&process("", b"GODEBUG=cpu.aes=off")).len()), (1, 0));
}

#[test]
fn a_limit_is_a_number() {
    assert_eq!(
        in_environment(b"GOMAXPROCS=1\0JAVA_TOOL_OPTIONS=-XX:ActiveProcessorCount=2"),
        "GOMAXPROCS=1 JAVA_TOOL_OPTIONS=-XX:ActiveProcessorCount=2"
    );
    assert_eq!(in_environment(b"GOMAXPROCS=0\0GOMAXPROCS=many\0GOMAXPROCS="), "");
    assert_eq!([count("GOMAXPROCS=3"), count("-XX:ActiveProcessorCount=2"), count("-Xint")], [Some(3), Some(2), None]);
    assert_eq!(without("1", "GOMAXPROCS=1"), None);
}

#[test]
fn options_count_before_the_program_and_not_behind_it() {
    let found = |command: &str| in_arguments(&command.split(' ').map(String::from).collect::<Vec<_>>());
    assert_eq!(found("java -cp /srv -Xint -XX:TieredStopAtLevel=1 Shop"), "-Xint -XX:TieredStopAtLevel=1");
    assert_eq!(found("java -Xmx1g -jar shop.jar -Xint"), "");
    assert_eq!(found("java Shop -Xint"), "");
    assert_eq!(found("python3 -X dev -W error shop.py -X tracemalloc"), "-Xdev");
    assert_eq!(found("python3 -Xtracemalloc=25 -m shop -Xdev"), "-Xtracemalloc=25");
    assert_eq!(found("node --require ./a.js --jitless shop.js"), "--jitless");
    assert_eq!(found("node -e 1 --jitless"), "");
    assert_eq!(found("java"), "");
    let java = Process { runtime: "java".into(), switches: "-Xint -Xdev".into(), ..Process::default() };
    let read: Vec<&str> = of(&java).into_iter().map(|(_, written)| written).collect();
    assert_eq!(read, ["-Xint"], "the other is Python's");
}

#[test]
fn what_else_a_variable_says_stays() {
    assert_eq!(without("1", "PYTHONDEVMODE"), None);
    assert_eq!(without("-Da=b -Xint", "JAVA_TOOL_OPTIONS=-Xint").as_deref(), Some("-Da=b"));
    assert_eq!(without("-Xint", "JAVA_TOOL_OPTIONS=-Xint"), None);
    let tunables = "glibc.malloc.check=3:glibc.malloc.arena_max=1";
    let left = without(tunables, "GLIBC_TUNABLES=glibc.malloc.check=3");
    assert_eq!(left.as_deref(), Some("glibc.malloc.arena_max=1"));
    assert_eq!(without("gctrace=1,cpu.all=off", "GODEBUG=cpu.all=off").as_deref(), Some("gctrace=1"));
}

#[test]
fn a_switch_is_known_by_how_it_is_written() {
    for switch in KNOWN {
        let counted: String;
        let value = match switch.setting {
            Setting::On => "1",
            Setting::There => "0",
            Setting::Is(values) => values[0],
            Setting::Word(words) => words[0],
            Setting::Count(before) => {
                counted = format!("{before}2");
                &counted
            }
        };
        let written = match switch.set_in {
            SetIn::Variable(name) => switch.in_value(name, value),
            SetIn::Option { neutral } => {
                assert!(!KNOWN.iter().any(|switch| switch.is(neutral)), "{neutral} is a switch itself");
                vec![value.to_string()]
            }
        };
        assert!(written.len() == 1 && switch.is(&written[0]) && !written[0].contains(' '), "{written:?}");
    }
}
