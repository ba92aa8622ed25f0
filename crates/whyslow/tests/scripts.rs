//! Programs in PHP, Perl, Ruby and JavaScript: which line waits, which line computes, and who called it. Each waits in `pause`, called from a
//! function without a name, and computes in `burn`.

use crate::stage::{Stage, shell};
use case::Case;
use case::tables::{Call, Location, Process, Sample, StackFrame, kind};
use std::collections::BTreeMap;
use std::fs;
use testing::{is_root, skip};

const PHP: &str = "<?php
class Shop {
    function pause(): void {
        usleep(2000);
    }
    static function burn(): int {
        $x = 0;
        for ($i = 0; $i < 20000000; $i++) {
            $x = ($x * 31 + $i) % 65521;
        }
        return $x;
    }
}
usleep(400000);
$each = function (Shop $shop) {
    $shop->pause();
};
for ($i = 0; $i < 100; $i++) {
    $each(new Shop());
}
eval('Shop::burn();');
";

const PERL: &str = "package Shop;
sub pause {
    select(undef, undef, undef, 0.002);
}
sub burn {
    my $x = 0;
    for my $i (1 .. 6_000_000) {
        $x = ($x * 31 + $i) % 65521;
    }
    return $x;
}
package main;
select(undef, undef, undef, 0.4);
my $each = sub {
    Shop::pause();
};
for my $i (1 .. 100) {
    eval { $each->() };
}
Shop::burn();
";

const RUBY: &str = "class Shop
  def pause
    sleep 0.002
  end

  def self.burn
    x = 0
    10_000_000.times do |i|
      x = (x * 31 + i) % 65_521
    end
    x
  end
end
sleep 0.4
each = lambda do |shop|
  shop.pause
end
100.times do
  each.call(Shop.new)
end
Shop.burn
";

/// A native thread serves one of these after the other.
const RUBY_THREADS: &str = "def pause
  sleep 0.002
end
sleep 0.4
60.times do
  Thread.new { pause }.join
end
";

/// V8 compiles `burn` while that runs. Node takes long to begin, and what is named last must still be there.
const JAVASCRIPT: &str = "const cell = new Int32Array(new SharedArrayBuffer(4));
function pause(milliseconds) {
    Atomics.wait(cell, 0, 0, milliseconds);
}
class Shop {
    pause() {
        pause(2);
    }
    static burn() {
        let x = 0;
        for (let i = 0; i < 150000000; i++) {
            x = (x * 31 + i) % 65521;
        }
        return x;
    }
}
pause(1500);
const each = (shop) => {
    shop.pause();
};
for (let i = 0; i < 100; i++) {
    each(new Shop());
}
Shop.burn();
require('crypto').pbkdf2Sync('a', 'b', 300000, 32, 'sha512');
pause(100);
";

/// What a recording has of scripts.
struct Lines {
    locations: BTreeMap<u32, Location>,
    stacks: Vec<StackFrame>,
    calls: Vec<Call>,
    samples: Vec<Sample>,
    processes: Vec<Process>,
}

impl Lines {
    /// Records a program of this text; none where it is not installed, or this machine does not let us.
    fn of(program: &str, text: &str) -> Option<Lines> {
        let stage = Stage::new();
        if !is_root() || !stage.can_record() {
            return None;
        }
        if shell(&format!("command -v {program} || true")).is_empty() {
            skip(&format!("{program} is not installed"));
            return None;
        }
        fs::write(stage.path("shop"), text).expect("written");
        stage.run(&["run", "--json", "--no-prove", "-o", "case", "--", program, "shop"]).answered();
        let case = Case::open(&stage.path("case")).expect("a case");
        let locations = case.read::<Location>().expect("locations").into_iter();
        Some(Lines {
            locations: locations.map(|row| (row.id, row)).collect(),
            stacks: case.read().expect("stacks"),
            calls: case.read().expect("calls"),
            samples: case.read().expect("samples"),
            processes: case.read().expect("processes"),
        })
    }

    /// The functions of a stack and their lines, innermost first.
    fn stack(&self, stack: u32) -> Vec<(&str, u32)> {
        let rows = self.stacks.iter().filter(|row| row.stack == stack && stack != 0);
        let places = rows.filter_map(|row| self.locations.get(&row.location));
        places.map(|place| (&*place.function, place.line)).collect()
    }

    /// How many calls were made with this stack.
    fn calls_at(&self, stack: &[(&str, u32)]) -> usize {
        self.calls.iter().filter(|call| self.stack(call.script_stack) == stack).count()
    }

    /// How many samples are on one of these lines of the program, and how many on any of its lines.
    fn samples_at(&self, lines: &[(&str, u32)]) -> (usize, usize) {
        let of_program =
            |row: &&StackFrame| self.locations.get(&row.location).is_some_and(|at| at.file.ends_with("shop"));
        let innermost = |stack: u32| {
            let mut rows = self.stacks.iter().filter(|row| row.stack == stack && stack != 0);
            rows.find(of_program).map(|row| &self.locations[&row.location])
        };
        let places = self.samples.iter().filter_map(|sample| innermost(sample.script_stack)).collect::<Vec<_>>();
        let at = places.iter().filter(|place| lines.contains(&(&*place.function, place.line)));
        (at.count(), places.len())
    }

    /// Checks that all but a few waits and samples are where they must be.
    fn are(&self, runtime: &str, waits: &[(&str, u32)], computes: &[(&str, u32)]) {
        assert!(self.processes.iter().any(|one| one.runtime.starts_with(runtime)), "{:?}", self.processes);
        let seen = || self.calls.iter().map(|call| self.stack(call.script_stack)).filter(|stack| !stack.is_empty());
        assert!(self.calls_at(waits) >= 95, "{:#?}", seen().collect::<std::collections::BTreeSet<_>>());
        let (at, all) = self.samples_at(computes);
        assert!(at >= 50 && at * 10 >= all * 9, "{at} of {all}");
        let scripts = self.locations.values().filter(|row| row.kind == kind::SCRIPT);
        let unnamed = scripts.filter(|row| row.function.is_empty()).collect::<Vec<_>>();
        assert!(unnamed.is_empty(), "{unnamed:?}");
    }
}

#[test]
fn a_php_program_waits_and_computes_on_its_lines() {
    let Some(lines) = Lines::of("php", PHP) else { return };
    let waits = [("usleep", 0), ("Shop::pause", 4), ("{closure}", 16), ("{main}", 19)];
    lines.are("php 8.", &waits, &[("Shop::burn", 8), ("Shop::burn", 9)]);
    let usleep = lines.locations.values().find(|row| row.function == "usleep").expect("a function of PHP's own");
    assert_eq!((usleep.file.as_str(), usleep.module.as_str()), ("", "standard"));
}

#[test]
fn a_perl_program_waits_and_computes_on_its_lines() {
    let Some(lines) = Lines::of("perl", PERL) else { return };
    let waits = [("Shop::pause", 3), ("main::__ANON__", 15), ("(top level)", 18)];
    lines.are("perl 5.", &waits, &[("Shop::burn", 7), ("Shop::burn", 8)]);
}

#[test]
fn a_ruby_program_waits_and_computes_on_its_lines() {
    let Some(lines) = Lines::of("ruby", RUBY) else { return };
    let waits = [("pause", 3), ("block in <main>", 16), ("block in <main>", 19), ("<main>", 18)];
    lines.are("ruby 3.", &waits, &[("block in burn", 9), ("block in burn", 10), ("burn", 8)]);
}

#[test]
fn each_thread_of_a_ruby_program_is_on_its_own_lines() {
    let Some(lines) = Lines::of("ruby", RUBY_THREADS) else { return };
    // Two calls a sleep, at least one of which is the wait.
    assert!(lines.calls_at(&[("pause", 2), ("block (2 levels) in <main>", 6)]) >= 60);
    assert!(lines.calls_at(&[("block in <main>", 6), ("<main>", 5)]) > 0);
}

#[test]
fn a_javascript_program_waits_and_computes_in_its_functions() {
    let Some(lines) = Lines::of("node", JAVASCRIPT) else { return };
    if lines.processes.iter().all(|one| one.runtime != "node") {
        return skip("node is not what is called so");
    }
    // What called the program itself is Node's own, and different from version to version.
    let waits = [("pause", 2), ("pause", 6), ("each", 18), ("(top level)", 0)];
    let seen = lines.calls.iter().filter(|call| lines.stack(call.script_stack).starts_with(&waits)).count();
    assert!(seen >= 95, "{seen} of {}", lines.calls.len());
    let (burns, all) = lines.samples_at(&[("burn", 9)]);
    let (hashes, _) = lines.samples_at(&[("(top level)", 0)]);
    assert!(burns >= 50 && hashes >= 20 && (burns + hashes) * 10 >= all * 9, "{burns} and {hashes} of {all}");
    // The assembly that hashes uses the frame pointer for something else.
    let called =
        |sample: &&Sample| lines.stack(sample.script_stack).first().is_some_and(|(name, _)| *name == "pbkdf2Sync");
    assert!(lines.samples.iter().filter(called).count() >= 20, "{hashes}");
}
