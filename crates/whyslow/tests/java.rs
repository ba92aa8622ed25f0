//! A program in Java: which line waits, which line computes, and who called it, whether the interpreter runs it or it is compiled.

use crate::stage::Stage;
use case::Case;
use case::tables::{Call, Location, Process, Sample, StackFrame, module};
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use testing::{is_root, skip};

const SHOP: &str = "package market;
public class Shop {
    static long sum;
    static void pause() throws Exception {
        Thread.sleep(2);
    }
    static void open() throws Exception {
        pause();
    }
    static long burn(int rounds) {
        long x = 1;
        for (int i = 0; i < rounds; i++) {
            x = (x * 31 + i) % 65521;
        }
        return x;
    }
    interface Step { void run() throws Exception; }
    public static void main(String[] words) throws Exception {
        Step each = () -> {
            open();
        };
        Thread.sleep(400);
        for (int i = 0; i < 100; i++) {
            each.run();
        }
        for (int i = 0; i < 50; i++) {
            sum += burn(2_000_000);
        }
    }
}
";

/// What a recording has of methods.
struct Methods {
    locations: BTreeMap<u32, Location>,
    stacks: Vec<StackFrame>,
    calls: Vec<Call>,
    samples: Vec<Sample>,
    processes: Vec<Process>,
}

impl Methods {
    /// Records the program under these options of the machine's; none where Java is not installed, or this machine does not let us.
    fn of(options: &[&str]) -> Option<Methods> {
        let stage = Stage::new();
        if !is_root() || !stage.can_record() {
            return None;
        }
        fs::write(stage.path("Shop.java"), SHOP).expect("written");
        match Command::new("javac").arg("-d").arg(stage.path("")).arg(stage.path("Shop.java")).status() {
            Err(_) => {
                skip("javac is not installed");
                return None;
            }
            Ok(status) => assert!(status.success()),
        }
        let run = ["run", "--json", "--no-prove", "-o", "case", "--", "java"];
        stage.run(&[&run, options, &["-cp", ".", "market.Shop"]].concat()).answered();
        let case = Case::open(&stage.path("case")).expect("a case");
        let locations = case.read::<Location>().expect("locations").into_iter();
        Some(Methods {
            locations: locations.map(|row| (row.id, row)).collect(),
            stacks: case.read().expect("stacks"),
            calls: case.read().expect("calls"),
            samples: case.read().expect("samples"),
            processes: case.read().expect("processes"),
        })
    }

    /// The methods of a stack that are the program's own, with their lines, innermost first.
    fn own(&self, stack: u32) -> Vec<(&str, u32)> {
        let rows = self.stacks.iter().filter(|row| row.stack == stack && stack != 0);
        let places = rows.filter_map(|row| self.locations.get(&row.location));
        let own = places.filter(|place| place.file == "market/Shop.java" && place.module == module::JAVA);
        own.map(|place| (&*place.function, place.line)).collect()
    }

    /// Checks that all but a few waits are in `pause`, by way of those that call it, and all but a few samples in `burn`.
    fn are_right(&self) {
        assert!(self.processes.iter().any(|one| one.runtime == "java"), "{:?}", self.processes);
        let waits = [
            ("market.Shop.pause", 5),
            ("market.Shop.open", 8),
            ("market.Shop.lambda$main$0", 20),
            ("market.Shop.main", 24),
        ];
        let seen = || self.calls.iter().map(|call| self.own(call.stack)).filter(|stack| !stack.is_empty());
        let found = seen().filter(|stack| *stack == waits).count();
        assert!(found >= 95, "{found}: {:#?}", seen().collect::<std::collections::BTreeSet<_>>());
        let samples = self.samples.iter().map(|one| self.own(one.stack)).filter(|stack| !stack.is_empty());
        let samples = samples.collect::<Vec<_>>();
        let burning = |stack: &&Vec<(&str, u32)>| {
            let [(innermost, line), rest @ ..] = &stack[..] else { return false };
            *innermost == "market.Shop.burn" && (11..=15).contains(line) && rest == [("market.Shop.main", 27)]
        };
        let burn = samples.iter().filter(burning).count();
        assert!(burn >= 50 && burn * 10 >= samples.len() * 9, "{burn} of {}", samples.len());
    }
}

#[test]
fn a_java_program_waits_and_computes_on_its_lines() {
    let Some(methods) = Methods::of(&[]) else { return };
    methods.are_right();
    let sleep = methods
        .locations
        .values()
        .any(|row| row.function.starts_with("java.lang.Thread.sleep") && row.file == "java/lang/Thread.java");
    assert!(sleep, "no method of Java's own");
}

#[test]
fn a_java_program_that_is_interpreted_waits_on_its_lines_as_well() {
    let Some(methods) = Methods::of(&["-Xint"]) else { return };
    let found = methods.calls.iter().filter(|call| methods.own(call.stack).first() == Some(&("market.Shop.pause", 5)));
    assert!(found.count() >= 95);
}

#[test]
fn a_java_program_whose_methods_are_compiled_and_inlined_waits_on_its_lines_as_well() {
    let Some(methods) = Methods::of(&["-Xcomp", "-XX:CompileCommand=quiet", "-XX:CompileOnly=market"]) else { return };
    methods.are_right();
}
