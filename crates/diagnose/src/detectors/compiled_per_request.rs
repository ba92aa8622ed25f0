//! P60: patterns, templates and the like that are made ready again for each request.

use super::{Found, Work, common_caller, common_place, detector, rows, work_in_requests};
use crate::analysis::{Analysis, PotentialSaving};
use case::Nanos;
use case::tables::Sample;

detector! {
    /// # compiled-per-request
    ///
    /// ## What it is
    /// What takes long to make and is quick to use is made again for each request: a regular expression is compiled, a
    /// template parsed, a serializer, a parser's factory or a format of numbers and dates put together, a statement planned or compiled
    /// to machine code by a database. As a rule it is always the same one. Or a library's cache of them is too small: Python's `re`
    /// keeps 512 patterns.
    ///
    /// ## Evidence
    /// CPU samples inside functions that make such things, of the common libraries for Go, Java, Python, Node.js, Perl, Ruby,
    /// PHP, Rust, C and C++: a tenth of the requests' time or more, all through the run and not only at its beginning. Of a database's
    /// statements, half: each has to be planned once, and quick ones take little more than that.
    ///
    /// ## What proves it
    /// The same program with what it made the first time. Nothing outside the program can hand that to it, so that this stays a
    /// suspicion.
    ///
    /// ## Remedy
    /// Make it once, when the program starts, and share it: a global variable, a static field, a prepared template. Where there
    /// are many patterns, keep the compiled ones yourself, or join them into one. Prepare statements that come again; let the database
    /// compile only those that run for long (PostgreSQL: jit_above_cost, jit=off).
    ///
    /// ## Not to be confused with
    /// context-per-request (TLS); files-per-request (sources that are read and compiled); superlinear-work (a pattern that takes
    /// long to match); a program that makes a pattern from what it was asked, which has to compile it.
    "P60" "compiled-per-request",
    not_switched: "What was made the first time is the program's own, and nobody else can hand it over.",
    needs: &[Server, Samples]
}

/// Below a tenth of the requests' time nobody would notice that it is gone.
const LEAST: f64 = 0.1;

/// Whoever sends a statement without preparing it has it planned, and no quick one takes much longer than that.
const LEAST_OF_STATEMENTS: f64 = 0.5;

const ONCE: &str = "Make them once, when the program starts, and share them between requests.";

/// Something that is made.
struct Made {
    /// What, in words.
    what: &'static str,
    /// What it is done to: `compiled`.
    done: &'static str,
    /// What functions that make it begin with,
    functions: &'static [&'static str],
    /// and what the files end with in which a script makes it.
    files: &'static [&'static str],
    /// The part of the requests' time from which on it counts.
    least: f64,
    remedy: &'static str,
}

/// All that are known.
const MADE: [Made; 6] = [
    Made {
        what: "Regular expressions",
        done: "compiled",
        functions: &[
            "regexp.compile",
            "regexp.Compile",
            "regexp.MustCompile",
            "regexp/syntax.",
            "java.util.regex.Pattern.compile",
            "java.util.regex.Pattern.<init>",
            "pcre2_compile_",
            "pcre_compile",
            "Perl_re_op_compile",
            "Perl_re_compile",
            "onig_new",
            "onig_compile",
            "regcomp",
            "re_compile_internal",
            "std::__detail::_Compiler",
            "re2::RE2::Init",
            "re2::Compiler::",
            "regex_syntax::",
            "regex_automata::meta::regex::Builder::build",
            "v8::internal::RegExpImpl::Compile",
        ],
        files: &["/re/_compiler.py", "/re/_parser.py", "/sre_compile.py", "/sre_parse.py"],
        least: LEAST,
        remedy: ONCE,
    },
    Made {
        what: "Templates",
        done: "compiled",
        functions: &["text/template/parse.", "text/template.(*Template).Parse", "html/template.(*Template).Parse"],
        files: &[
            "/jinja2/compiler.py",
            "/jinja2/lexer.py",
            "/jinja2/parser.py",
            "/mako/lexer.py",
            "/mako/parsetree.py",
            "/mako/codegen.py",
        ],
        least: LEAST,
        remedy: ONCE,
    },
    Made {
        what: "Serializers and factories of parsers",
        done: "set up",
        functions: &[
            "com.fasterxml.jackson.databind.ObjectMapper.<init>",
            "com.fasterxml.jackson.databind.introspect.",
            "com.google.gson.Gson.<init>",
            "javax.xml.parsers.DocumentBuilderFactory.newInstance",
            "javax.xml.parsers.SAXParserFactory.newInstance",
            "javax.xml.transform.TransformerFactory.newInstance",
            "javax.xml.bind.JAXBContext.newInstance",
            "jakarta.xml.bind.JAXBContext.newInstance",
        ],
        files: &[],
        least: LEAST,
        remedy: ONCE,
    },
    Made {
        what: "Formats of numbers and dates",
        done: "set up",
        functions: &[
            "v8::internal::JSNumberFormat::New",
            "v8::internal::JSDateTimeFormat::New",
            "v8::internal::JSDateTimeFormat::CreateDateTimeFormat",
            "v8::internal::JSCollator::New",
            "v8::internal::JSPluralRules::New",
            "v8::internal::JSRelativeTimeFormat::New",
            "v8::internal::JSListFormat::New",
        ],
        files: &[],
        least: LEAST,
        remedy: ONCE,
    },
    Made {
        what: "Statements",
        done: "compiled to machine code",
        functions: &["llvm_compile_expr", "llvm_get_function", "llvm_compile_module", "llvm_optimize_module"],
        files: &[],
        least: LEAST_OF_STATEMENTS,
        remedy: "Let the database compile only what runs for long: raise jit_above_cost, or set jit to off (PostgreSQL).",
    },
    Made {
        what: "Statements",
        done: "planned",
        functions: &["standard_planner", "pg_plan_quer", "sqlite3RunParser", "sqlite3Prepare", "JOIN::optimize"],
        files: &[],
        least: LEAST_OF_STATEMENTS,
        remedy: "Prepare statements that come again, and let the database keep their plans. What takes long to plan has many tables or \
                 partitions: ask for fewer of them.",
    },
];

impl Made {
    fn is_made_by(&self, function: &str) -> bool {
        self.functions.iter().any(|name| function.starts_with(name))
    }

    /// Whether a sample was taken while it was made.
    fn is_made_in(&self, analysis: &Analysis, sample: &Sample) -> bool {
        let in_script = || {
            let mut frames = analysis.code.frames(sample.script_stack);
            frames.any(|frame| self.files.iter().any(|file| frame.file.ends_with(file)))
        };
        analysis.code.passes_through(sample.stack, |function| self.is_made_by(function)) || in_script()
    }
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let found = MADE.iter().filter_map(|made| detect_one(analysis, made));
    found.max_by_key(|found| found.saving.wall)
}

fn detect_one(analysis: &Analysis, made: &Made) -> Option<Found> {
    let Work { rows: found_rows, samples, wall, share } =
        work_in_requests(analysis, made.least, |sample| made.is_made_in(analysis, sample))?;
    let count = analysis.exchanges.len().max(1) as u64;
    // A script's own line, where it is a script's library that makes it.
    let is_by_script = !made.files.is_empty() && samples.iter().any(|sample| sample.script_stack != 0);
    let place = if is_by_script {
        common_place(analysis, &samples)
    } else {
        common_caller(analysis, &samples, |function| made.is_made_by(function))
    };
    let what = format!("{} are {} while requests wait", made.what, made.done);
    Some(Found {
        title: format!(
            "{what}: {} of every {} request{}",
            Nanos(wall / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words(),
        ),
        what,
        mechanism: vec![
            format!("{share} of the requests' time is spent on that, all through the run: {} samples.", samples.len()),
            "What is made once and kept takes no time in later requests.".to_string(),
        ],
        saving: PotentialSaving { wall, outside: 0, cpu: wall, affected: count },
        place,
        remedy: made.remedy.to_string(),
        rows: rows("samples", found_rows),
        explains: analysis.stretches(&samples),
        ..Found::default()
    })
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, MS, US, WRITE, keep_alive};
    use crate::tests::{answer, names};
    use case::Recording;

    /// Twenty requests of 20 ms; in those that are told to, the program spends so many milliseconds in a function.
    fn working_in(function: &str, work: u64, is_told: impl Fn(usize) -> bool) -> Recording {
        let mut fixture = keep_alive(1, 50 * US);
        fixture.stack(7, &["server!malloc", function, "server!handle", "server!main"]);
        for number in 0..20 {
            let work = if is_told(number) { work } else { 0 };
            fixture.moves(CLIENT, 1, WRITE, 20);
            fixture.waits_for(CLIENT, 1, (20 - work) * MS, 100);
            fixture.computes(CLIENT, work * MS, 7);
            fixture.waits_for(CLIENT, 1, 10 * US, 1_000);
        }
        fixture.end()
    }

    fn is_found(recording: &Recording) -> bool {
        names(recording).contains(&"compiled-per-request".to_string())
    }

    #[test]
    fn patterns_that_each_request_compiles_are_found_at_their_caller() {
        let answer = answer(&working_in("server!regexp/syntax.parse", 10, |_| true));
        let finding = answer.findings.iter().find(|one| one.name == "compiled-per-request").expect("found");
        assert!((9 * MS..11 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
        assert!(finding.title.starts_with("Regular expressions are compiled") && finding.title.contains("handle"));
    }

    #[test]
    fn what_is_made_once_or_takes_little_or_is_only_used_is_left_alone() {
        assert!(is_found(&working_in("node!v8::internal::JSNumberFormat::New", 10, |_| true)));
        assert!(!is_found(&working_in("server!regexp/syntax.parse", 10, |number| number < 5)), "at the beginning");
        assert!(!is_found(&working_in("server!regexp/syntax.parse", 1, |_| true)), "a twentieth");
        assert!(!is_found(&working_in("server!regexp.(*Regexp).doExecute", 10, |_| true)), "matching");
    }

    #[test]
    fn statements_count_where_planning_or_compiling_them_takes_most_of_the_time() {
        for (function, what) in [("standard_planner", "planned"), ("llvm_compile_expr", "compiled to machine code")] {
            let function = format!("postgres!{function}");
            let answer = answer(&working_in(&function, 14, |_| true));
            let finding = answer.findings.iter().find(|one| one.name == "compiled-per-request").expect("found");
            assert!(finding.title.starts_with(&format!("Statements are {what}")), "{}", finding.title);
            assert!(!is_found(&working_in(&function, 6, |_| true)), "quick ones");
        }
    }
}
