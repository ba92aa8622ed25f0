//! Switches of runtimes: variables of the environment, and options of the command line, that make whatever runs with them slow.
//! They are meant for developers and for tests, and forgotten in images and unit files.
//!
//! Nothing else of a program's environment is kept: it is full of secrets.

use crate::tables::Process;

/// One switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Where it is set.
    pub set_in: SetIn,
    /// What there is the switch.
    pub setting: Setting,
    /// What the runtime's name begins with (`cpython`); empty where it is no matter of one.
    pub runtime: &'static str,
    /// The part of the program that it slows down.
    pub slows: Part,
    /// Who reads it.
    pub reader: Reader,
    /// What it does.
    pub does: Does,
}

/// What a switch does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Python's development mode: checks and warnings at run time.
    Development,
    /// Debug output is written.
    WritesDebugOutput,
    /// Every allocation is traced.
    Traces,
    /// asyncio's debug mode.
    DebugsAsyncio,
    /// Every allocation is checked.
    ChecksAllocations,
    /// No just-in-time compiler.
    NoCompiler,
    /// A just-in-time compiler that does not optimize.
    WeakCompiler,
    /// It is profiled.
    Profiles,
    /// Its heap is profiled.
    ProfilesHeap,
    /// It is counted which code has run.
    CountsCode,
    /// Calls into native code are checked.
    ChecksNativeCalls,
    /// No AES instructions.
    NoAes,
    /// A debugger or profiler.
    Profiler,
    /// OpenSSL does without some of the processor's instructions.
    NoInstructionsForOpenssl,
    /// GnuTLS does without those of the processor's instructions that it would choose at run time.
    NoInstructionsForGnutls,
    /// Memory is filled as it is allocated and freed.
    FillsMemory,
    /// malloc without its cache.
    NoMallocCache,
    /// The C library does without some of the processor's instructions.
    NoInstructions,
    /// Hashes have the same seed in each process.
    FixesHashSeed,
    /// No more threads of it run at a time than a number says, however many CPUs there are.
    LimitsCpus,
}

impl Does {
    /// To follow the switch's name: `traces every allocation`.
    pub fn in_words(self) -> &'static str {
        match self {
            Does::Development => "turns Python's development mode on",
            Does::WritesDebugOutput => "turns debug output on",
            Does::Traces => "traces every allocation",
            Does::DebugsAsyncio => "turns asyncio's debug mode on",
            Does::ChecksAllocations => "checks every allocation",
            Does::NoCompiler => "turns the just-in-time compiler off",
            Does::WeakCompiler => "keeps the just-in-time compiler from optimizing",
            Does::Profiles => "profiles it",
            Does::ProfilesHeap => "profiles its heap",
            Does::CountsCode => "counts which code has run",
            Does::ChecksNativeCalls => "checks every call into native code",
            Does::NoAes => "hides the processor's AES instructions",
            Does::Profiler => "runs it under a debugger or profiler",
            Does::NoInstructionsForOpenssl => "hides instructions of the processor from OpenSSL",
            Does::NoInstructionsForGnutls => "hides instructions of the processor from GnuTLS",
            Does::FillsMemory => "fills all memory that is allocated or freed",
            Does::NoMallocCache => "turns malloc's cache off",
            Does::NoInstructions => "hides instructions of the processor",
            Does::FixesHashSeed => "fixes the seed of hashes",
            Does::LimitsCpus => "limits how many CPUs it uses",
        }
    }

    /// Whether it keeps a compiler from working, which takes CPU time itself: without the switch a request takes less time, and in
    /// a short run not less CPU time.
    pub fn spares_a_compiler(self) -> bool {
        matches!(self, Does::NoCompiler | Does::WeakCompiler)
    }
}

/// Where a switch is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetIn {
    /// In this variable of the environment.
    Variable(&'static str),
    /// Among the runtime's own options on the command line, before the program and what belongs to it.
    Option {
        /// An option that the runtime takes in its place and that asks for what it does anyway.
        neutral: &'static str,
    },
}

/// What in a variable is a switch, or which options are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// It is there, whatever its value.
    There,
    /// Its value is neither empty nor 0.
    On,
    /// Its value is one of these.
    Is(&'static [&'static str]),
    /// One of its words is one of these; what ends in `=` may have any value.
    Word(&'static [&'static str]),
    /// One of its words is this, and a number of 1 or more behind it.
    Count(&'static str),
}

/// The part of a program that a switch slows down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Whatever it does.
    All,
    /// The library whose name begins like this.
    Library(&'static str),
    /// The function of this name.
    Function(&'static str),
}

/// Who reads a variable, and so how early it has to be gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// The runtime, when the program's own code begins.
    Runtime,
    /// Libraries, while they are loaded.
    Loader,
    /// A program that needs no libraries, as it starts.
    Program,
}

const fn runtime(variable: &'static str, setting: Setting, runtime: &'static str, does: Does) -> Switch {
    Switch { set_in: SetIn::Variable(variable), setting, runtime, slows: Part::All, reader: Reader::Runtime, does }
}

const fn option(words: &'static [&'static str], neutral: &'static str, runtime: &'static str, does: Does) -> Switch {
    let setting = Setting::Word(words);
    Switch { set_in: SetIn::Option { neutral }, setting, runtime, slows: Part::All, reader: Reader::Runtime, does }
}

const fn loader(variable: &'static str, setting: Setting, slows: Part, does: Does) -> Switch {
    Switch { set_in: SetIn::Variable(variable), setting, runtime: "", slows, reader: Reader::Loader, does }
}

const fn started(variable: &'static str, setting: Setting, runtime: &'static str, does: Does) -> Switch {
    Switch { reader: Reader::Program, ..self::runtime(variable, setting, runtime, does) }
}

/// The levels below that of the optimizing compiler.
const WEAK: [&str; 4] =
    ["-XX:TieredStopAtLevel=0", "-XX:TieredStopAtLevel=1", "-XX:TieredStopAtLevel=2", "-XX:TieredStopAtLevel=3"];

/// Java's for how many CPUs it takes the machine to have.
const CPUS: &str = "-XX:ActiveProcessorCount=";

/// All that are known. Sources: the manuals of python(1), node(1), java(1), perlrun(1), ruby(1), mallopt(3), OPENSSL_ia32cap(3) and
/// those of the GNU C library on tunables, of GnuTLS on cryptographic backends, and of Go's package runtime. What stands in an option's place asks for what the runtime does anyway; Python ignores
/// an `-X` that it does not know.
pub const KNOWN: &[Switch] = &[
    runtime("PYTHONDEVMODE", Setting::On, "cpython", Does::Development),
    runtime("PYTHONTRACEMALLOC", Setting::On, "cpython", Does::Traces),
    runtime("PYTHONASYNCIODEBUG", Setting::On, "cpython", Does::DebugsAsyncio),
    runtime(
        "PYTHONMALLOC",
        Setting::Is(&["debug", "malloc_debug", "pymalloc_debug", "mimalloc_debug"]),
        "cpython",
        Does::ChecksAllocations,
    ),
    runtime("NODE_OPTIONS", Setting::Word(&["--jitless"]), "node", Does::NoCompiler),
    runtime("NODE_OPTIONS", Setting::Word(&["--cpu-prof"]), "node", Does::Profiles),
    runtime("NODE_OPTIONS", Setting::Word(&["--heap-prof"]), "node", Does::ProfilesHeap),
    runtime("NODE_DEBUG", Setting::On, "node", Does::WritesDebugOutput),
    runtime("NODE_V8_COVERAGE", Setting::On, "node", Does::CountsCode),
    runtime("JAVA_TOOL_OPTIONS", Setting::Word(&["-Xint"]), "java", Does::NoCompiler),
    runtime("JAVA_TOOL_OPTIONS", Setting::Word(&["-Djavax.net.debug="]), "java", Does::WritesDebugOutput),
    runtime("JDK_JAVA_OPTIONS", Setting::Word(&["-Xint"]), "java", Does::NoCompiler),
    runtime("JDK_JAVA_OPTIONS", Setting::Word(&["-Djavax.net.debug="]), "java", Does::WritesDebugOutput),
    runtime("_JAVA_OPTIONS", Setting::Word(&["-Xint"]), "java", Does::NoCompiler),
    runtime("_JAVA_OPTIONS", Setting::Word(&["-Djavax.net.debug="]), "java", Does::WritesDebugOutput),
    runtime("JAVA_TOOL_OPTIONS", Setting::Word(&WEAK), "java", Does::WeakCompiler),
    runtime("JDK_JAVA_OPTIONS", Setting::Word(&WEAK), "java", Does::WeakCompiler),
    runtime("_JAVA_OPTIONS", Setting::Word(&WEAK), "java", Does::WeakCompiler),
    runtime("JAVA_TOOL_OPTIONS", Setting::Word(&["-Xcheck:jni"]), "java", Does::ChecksNativeCalls),
    runtime("JDK_JAVA_OPTIONS", Setting::Word(&["-Xcheck:jni"]), "java", Does::ChecksNativeCalls),
    runtime("_JAVA_OPTIONS", Setting::Word(&["-Xcheck:jni"]), "java", Does::ChecksNativeCalls),
    runtime("JAVA_TOOL_OPTIONS", Setting::Word(&["-XX:-UseAES", "-XX:-UseAESIntrinsics"]), "java", Does::NoAes),
    runtime("JDK_JAVA_OPTIONS", Setting::Word(&["-XX:-UseAES", "-XX:-UseAESIntrinsics"]), "java", Does::NoAes),
    runtime("_JAVA_OPTIONS", Setting::Word(&["-XX:-UseAES", "-XX:-UseAESIntrinsics"]), "java", Does::NoAes),
    runtime("PERL5OPT", Setting::Word(&["-d", "-d:NYTProf", "-d:DProf"]), "perl", Does::Profiler),
    Switch {
        slows: Part::Function("Perl_hv_common"),
        ..runtime("PERL_HASH_SEED", Setting::There, "perl", Does::FixesHashSeed)
    },
    runtime("RUBYOPT", Setting::Word(&["-rdebug", "-rtracer", "-rprofile"]), "ruby", Does::Profiler),
    option(&["-Xdev"], "-Xnodev", "cpython", Does::Development),
    option(&["-Xtracemalloc", "-Xtracemalloc="], "-Xnotracemalloc", "cpython", Does::Traces),
    option(&["--jitless"], "--no-jitless", "node", Does::NoCompiler),
    option(&["--no-opt"], "--opt", "node", Does::WeakCompiler),
    option(&["--cpu-prof"], "--no-cpu-prof", "node", Does::Profiles),
    option(&["--heap-prof"], "--no-heap-prof", "node", Does::ProfilesHeap),
    option(&["-Xint"], "-Xmixed", "java", Does::NoCompiler),
    option(&["-Djavax.net.debug="], "-Xmixed", "java", Does::WritesDebugOutput),
    option(&WEAK, "-XX:TieredStopAtLevel=4", "java", Does::WeakCompiler),
    option(&["-Xcheck:jni"], "-Xmixed", "java", Does::ChecksNativeCalls),
    option(&["-XX:-UseAES"], "-XX:+UseAES", "java", Does::NoAes),
    option(&["-XX:-UseAESIntrinsics"], "-XX:+UseAESIntrinsics", "java", Does::NoAes),
    runtime("G_SLICE", Setting::Is(&["always-malloc", "debug-blocks"]), "", Does::ChecksAllocations),
    started("GOMAXPROCS", Setting::Count(""), "go", Does::LimitsCpus),
    runtime("JAVA_TOOL_OPTIONS", Setting::Count(CPUS), "java", Does::LimitsCpus),
    runtime("JDK_JAVA_OPTIONS", Setting::Count(CPUS), "java", Does::LimitsCpus),
    runtime("_JAVA_OPTIONS", Setting::Count(CPUS), "java", Does::LimitsCpus),
    Switch { setting: Setting::Count(CPUS), ..option(&[], "-XX:ActiveProcessorCount=-1", "java", Does::LimitsCpus) },
    started(
        "GODEBUG",
        Setting::Word(&["cpu.all=off", "cpu.aes=off", "cpu.pclmulqdq=off", "cpu.avx2=off", "cpu.sse41=off"]),
        "go",
        Does::NoInstructions,
    ),
    loader(
        "GNUTLS_CPUID_OVERRIDE",
        Setting::Is(&["1", "0x1"]),
        Part::Library("libnettle"),
        Does::NoInstructionsForGnutls,
    ),
    loader("OPENSSL_ia32cap", Setting::On, Part::Library("libcrypto"), Does::NoInstructionsForOpenssl),
    loader("MALLOC_PERTURB_", Setting::On, Part::All, Does::FillsMemory),
    loader("GLIBC_TUNABLES", Setting::Word(&["glibc.malloc.perturb="]), Part::All, Does::FillsMemory),
    loader("GLIBC_TUNABLES", Setting::Word(&["glibc.malloc.check="]), Part::All, Does::ChecksAllocations),
    loader("GLIBC_TUNABLES", Setting::Word(&["glibc.malloc.tcache_count=0"]), Part::All, Does::NoMallocCache),
    loader("GLIBC_TUNABLES", Setting::Word(&["glibc.cpu.hwcaps="]), Part::All, Does::NoInstructions),
];

impl Switch {
    /// The variable that it is set in, if it is.
    pub fn variable(&self) -> Option<&'static str> {
        match self.set_in {
            SetIn::Variable(name) => Some(name),
            SetIn::Option { .. } => None,
        }
    }

    /// How it is written in a variable's value: `NAME`, or `NAME=WORD` for each of its words in the value.
    fn in_value(&self, variable: &str, value: &str) -> Vec<String> {
        let is_on = !value.is_empty() && value != "0";
        let words: Vec<&str> = match self.setting {
            Setting::On => return Vec::from_iter(is_on.then(|| variable.to_string())),
            Setting::There => return vec![variable.to_string()],
            Setting::Is(_) => vec![value],
            Setting::Word(_) | Setting::Count(_) => value.split(separator(variable)).collect(),
        };
        let own = words.into_iter().filter(|word| word.len() <= LONGEST_WORD && self.has(word));
        own.map(|word| format!("{variable}={word}")).collect()
    }

    /// Whether a word of the variable's value is the switch.
    fn has(&self, word: &str) -> bool {
        match self.setting {
            Setting::On | Setting::There => word.is_empty(),
            Setting::Is(values) => values.contains(&word),
            Setting::Count(before) => word.strip_prefix(before).is_some_and(|number| count(number).is_some()),
            Setting::Word(words) => {
                words.iter().any(|known| word == *known || known.ends_with('=') && word.starts_with(known))
            }
        }
    }

    /// Whether this is how it is written.
    fn is(&self, written: &str) -> bool {
        let Some(of) = self.variable() else { return self.has(written) };
        let (variable, word) = written.split_once('=').unwrap_or((written, ""));
        variable == of && self.has(word)
    }
}

/// The number that a switch is set to; none where it is no number, or 0.
pub fn count(written: &str) -> Option<u32> {
    written.rsplit('=').next()?.parse().ok().filter(|&count| count > 0)
}

/// No option that is known is longer.
const LONGEST_WORD: usize = 100;

/// What stands between two words of a variable.
fn separator(variable: &str) -> char {
    match variable {
        "GLIBC_TUNABLES" => ':',
        "GODEBUG" => ',',
        _ => ' ',
    }
}

/// The switches in an environment as `/proc/PID/environ` has it (each variable ends with a zero byte), with a space between two; empty
/// where there is none.
pub fn in_environment(environment: &[u8]) -> String {
    let mut found: Vec<String> = Vec::new();
    for variable in environment.split(|byte| *byte == 0) {
        let Ok(variable) = std::str::from_utf8(variable) else { continue };
        let Some((name, value)) = variable.split_once('=') else { continue };
        for switch in KNOWN.iter().filter(|switch| switch.variable() == Some(name)) {
            for written in switch.in_value(name, value) {
                if !found.contains(&written) {
                    found.push(written);
                }
            }
        }
    }
    found.join(" ")
}

/// Options of runtimes behind which their value stands as an argument of its own.
const VALUE_FOLLOWS: [&str; 18] = [
    "-X",
    "-W",
    "-r",
    "--require",
    "--import",
    "--loader",
    "-C",
    "--conditions",
    "-cp",
    "-classpath",
    "--class-path",
    "--module-path",
    "--add-modules",
    "--add-opens",
    "--add-exports",
    "--add-reads",
    "--limit-modules",
    "--patch-module",
];

/// Options behind which the program stands: what follows belongs to it.
const PROGRAM_FOLLOWS: [&str; 10] = ["-c", "-m", "-e", "-p", "-jar", "--module", "--eval", "--print", "--", "-"];

/// The switches among a command's own options, its name before them, with a space between two; empty where there is none. Which
/// runtime it is does not matter: [`of`] keeps what that reads.
pub fn in_arguments(command: &[String]) -> String {
    let mut found: Vec<String> = Vec::new();
    let mut arguments = command.iter().skip(1).map(String::as_str);
    while let Some(argument) = arguments.next().filter(|argument| argument.starts_with('-')) {
        if PROGRAM_FOLLOWS.contains(&argument) {
            break;
        }
        // As one word, as it can be written as well: `-X dev`, `-Xdev`.
        let value = if VALUE_FOLLOWS.contains(&argument) { arguments.next().unwrap_or_default() } else { "" };
        let option = format!("{argument}{value}");
        let is_switch = |switch: &Switch| switch.variable().is_none() && switch.is(&option);
        let is_short = option.len() <= LONGEST_WORD && !option.contains(' ');
        if is_short && !found.contains(&option) && KNOWN.iter().any(is_switch) {
            found.push(option);
        }
    }
    found.join(" ")
}

/// The switches that a process ran with and that its runtime reads, each with how it was written.
pub fn of(process: &Process) -> Vec<(&'static Switch, &str)> {
    let known =
        |written: &str| KNOWN.iter().find(|switch| switch.is(written) && process.runtime.starts_with(switch.runtime));
    process.switches.split(' ').filter_map(|written| Some((known(written)?, written))).collect()
}

/// A variable's value without a switch in it; none where nothing is left.
pub fn without(value: &str, written: &str) -> Option<String> {
    let (variable, word) = written.split_once('=')?;
    let separator = separator(variable);
    let left: Vec<&str> = value.split(separator).filter(|part| *part != word && !part.is_empty()).collect();
    (!left.is_empty()).then(|| left.join(&separator.to_string()))
}

#[cfg(test)]
mod tests;
