//! P64: requests wait while a regular expression is matched.

use super::{Found, Work, common_caller, detector, rows, work_in_requests};
use crate::analysis::{Analysis, PotentialSaving};
use case::tables::Sample;
use case::{Kind, Nanos};

detector! {
    /// # regex-matching
    ///
    /// ## What it is
    /// A regular expression takes long to match. As a rule it backtracks: where repetitions are nested or stand beside each
    /// other, as in `(a+)+` or `.*.*=`, and the text does not match in the end, every way to share the text between them is
    /// tried. Time grows with the square of the text's length, or doubles with each character, and whoever sends the text
    /// chooses it.
    ///
    /// ## Evidence
    /// CPU samples inside functions that match, of Python, Node.js, PHP, Perl, Ruby, Java, Go, Rust, PCRE, RE2 and the libraries of C
    /// and C++: a fifth of the requests' time or more, all through the run. They say that time goes into matching, not that
    /// another expression would be quicker: this is an observation.
    ///
    /// ## What proves it
    /// The same program with an expression that cannot backtrack. Nothing outside can put one in its place.
    ///
    /// ## Remedy
    /// Let repetitions exclude each other (`[^"]*"` in place of `.*"`), anchor the expression, use atomic groups or possessive
    /// quantifiers, limit the length of the text; or use an engine whose time is linear (RE2, Go's regexp, Rust's regex).
    /// Where a fixed text is looked for, look for it as a text.
    ///
    /// ## Not to be confused with
    /// compiled-per-request (the expression is compiled again each time); superlinear-work (whatever grows faster than what
    /// it is given); a search through much text, which takes its time with any expression.
    "P64" "regex-matching",
    kind: Kind::Observation,
    not_switched: "What a program looks for is its own, and nothing outside can put another expression in its place.",
    needs: &[Server, Samples]
}

/// Below a fifth of the requests' time another expression, which has to match as well, hardly shows.
const LEAST: f64 = 0.2;

/// What functions that match begin with. Those that compile share their libraries, not these names.
const MATCHERS: [&str; 43] = [
    // CPython, by the width of a character.
    "sre_ucs1_",
    "sre_ucs2_",
    "sre_ucs4_",
    "pcre2_match_",
    "pcre2_jit_match_",
    "pcre2_dfa_match_",
    "pcre_exec",
    "pcre_jit_exec",
    "Perl_regexec_flags",
    // Ruby, and what else uses Onigmo.
    "onig_match",
    "onig_search",
    "rb_reg_search",
    "rb_reg_start_with_p",
    "rb_reg_match",
    // Not what replaces, which may call a function of the program's.
    "java.util.regex.Matcher.find",
    "java.util.regex.Matcher.match",
    "java.util.regex.Matcher.lookingAt",
    "java.util.regex.Matcher.search",
    "java.util.regex.Pattern$",
    "regexp.(*Regexp).doExecute",
    "regexp.(*Regexp).doOnePass",
    "regexp.(*Regexp).backtrack",
    "regexp.(*Regexp).allMatches",
    "regexp.(*machine).",
    // What calls the code that V8 compiles of an expression; again not what replaces.
    "Builtins_RegExpPrototypeTest",
    "Builtins_RegExpPrototypeExec",
    "Builtins_RegExpExec",
    "Builtins_RegExpMatch",
    "Builtins_RegExpSearch",
    "Builtins_RegExpPrototypeSplit",
    "Builtins_RegExpSplit",
    "v8::internal::RegExpImpl::Irregexp",
    "v8::internal::NativeRegExpMacroAssembler::",
    "v8::internal::IrregexpInterpreter::",
    "v8::internal::ExperimentalRegExp::",
    // GNU's.
    "regexec",
    "re_search_internal",
    "re_search_stub",
    "std::__detail::_Executor",
    "re2::RE2::Match",
    "re2::DFA::",
    "re2::NFA::",
    "regex_automata::hybrid::",
];

fn is_matcher(function: &str) -> bool {
    MATCHERS.iter().any(|matcher| function.starts_with(matcher))
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let matches = |sample: &Sample| analysis.code.passes_through(sample.stack, is_matcher);
    let Work { rows: found_rows, samples, wall, share } = work_in_requests(analysis, LEAST, matches)?;
    let count = analysis.exchanges.len().max(1) as u64;
    let place = common_caller(analysis, &samples, is_matcher);
    let what = "Regular expressions take long to match while requests wait".to_string();
    Some(Found {
        title: format!(
            "Matching regular expressions takes {} of every {} request{}",
            Nanos(wall / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words(),
        ),
        what,
        mechanism: vec![
            format!("{share} of the requests' time is spent on that, all through the run: {} samples.", samples.len()),
            "An engine that backtracks tries every way to share a text between nested or adjacent repetitions.".to_string(),
        ],
        saving: PotentialSaving { wall, outside: 0, cpu: wall, affected: count },
        place,
        remedy: "Let repetitions exclude each other ([^\"]*\" in place of .*\"), anchor the expression, limit the length of the text, \
                 or use an engine whose time is linear (RE2)."
            .to_string(),
        rows: rows("samples", found_rows),
        explains: analysis.stretches(&samples),
        ..Found::default()
    })
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, MS, US, WRITE, keep_alive};
    use crate::tests::answer;
    use case::{Answer, Finding, Kind};

    /// Twenty requests of 20 ms; in those from a number on, so many milliseconds go into a function of a library.
    fn working_in(function: &str, work: u64, from: u32) -> Answer {
        let mut fixture = keep_alive(1, 50 * US);
        fixture.stack(7, &[&format!("library!{function}"), "server!is_valid", "server!main"]);
        for number in 0..20 {
            let work = if number < from { 0 } else { work };
            fixture.moves(CLIENT, 1, WRITE, 20);
            fixture.waits_for(CLIENT, 1, (20 - work) * MS, 100);
            fixture.computes(CLIENT, work * MS, 7);
            fixture.waits_for(CLIENT, 1, 10 * US, 100_000);
        }
        answer(&fixture.end())
    }

    fn found(answer: &Answer) -> Option<&Finding> {
        answer.findings.iter().find(|finding| finding.name == "regex-matching")
    }

    #[test]
    fn requests_that_spend_their_time_in_a_matcher_are_found_at_its_caller() {
        let answer = working_in("sre_ucs1_match", 10, 0);
        let finding = found(&answer).expect("found");
        assert_eq!(finding.kind, Kind::Observation);
        assert!((9 * MS..11 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
        assert!(finding.title.contains("is_valid"), "{}", finding.title);
        for function in
            ["pcre2_match_8", "regexp.(*Regexp).backtrack", "v8::internal::RegExpImpl::IrregexpExecRaw(int)"]
        {
            assert!(found(&working_in(function, 10, 0)).is_some(), "{function}");
        }
    }

    #[test]
    fn a_little_matching_compiling_and_what_is_done_once_are_left_alone() {
        assert!(found(&working_in("sre_ucs1_match", 3, 0)).is_none());
        assert!(found(&working_in("pcre2_compile_8", 10, 0)).is_none());
        assert!(found(&working_in("pcre2_match_8", 19, 15)).is_none());
    }
}
