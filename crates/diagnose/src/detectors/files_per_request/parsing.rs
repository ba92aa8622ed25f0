//! What parses: CPU samples in the parsers of the common formats and of sources, by the names of functions, modules and scripts.

use crate::analysis::Analysis;
use crate::detectors::work_in_requests;
use case::tables::{Location, Sample};

/// Functions that take a text apart begin with these,
const PARSERS: [&str; 29] = [
    "encoding/json.",
    "encoding/xml.",
    "encoding/csv.",
    "encoding/gob.",
    "gopkg.in/yaml.",
    "com.fasterxml.jackson.",
    "com.google.gson.",
    "org.yaml.snakeyaml.",
    "java.io.ObjectInputStream.",
    "java.util.Properties.load",
    "v8::internal::JsonParser",
    "Builtins_JsonParse",
    "serde_json::de::",
    "serde_json::read::",
    "php_json_",
    "php_var_unserialize",
    "JSON_parse",
    "cParser_parse",
    "r_object",
    "yaml_parser_",
    "XML_Parse",
    "xmlParse",
    "xmlSAXParse",
    "simdjson::",
    // Of sources: PHP, Perl, Ruby, CPython.
    "compile_file",
    "zendparse",
    "Perl_yyparse",
    "rb_parser_compile",
    "_PyPegen_run_parser",
];

/// the files of modules of such functions, where those have no names,
const MODULES: [&str; 9] = [
    "/_json.",
    "/_pickle.",
    "/_csv.",
    "/_yaml.",
    "/pyexpat.",
    "/_elementtree.",
    "/libexpat.",
    "/libyaml",
    "/json/ext/parser.",
];

/// and files of scripts that do it have these in their names.
const SCRIPTS: [&str; 9] = [
    "/json/decoder.py",
    "/json/scanner.py",
    "/yaml/",
    "/tomllib/",
    "/configparser.py",
    "/csv.py",
    "/pickle.py",
    "/xml/etree/",
    "/js-yaml/",
];

/// Whether a function takes a text apart.
pub(super) fn is_parser(function: &str) -> bool {
    PARSERS.iter().any(|name| function.starts_with(name))
}

/// The samples of requests in which something is parsed: rows; none where that is not done all through the run.
pub(super) fn samples(analysis: &Analysis) -> Vec<usize> {
    let parses = |frame: &Location| {
        is_parser(&frame.function)
            || MODULES.iter().any(|name| frame.module.contains(name))
            || SCRIPTS.iter().any(|name| frame.file.contains(name))
    };
    let is_parsing = |sample: &Sample| {
        [sample.stack, sample.script_stack].iter().any(|&stack| analysis.code.frames(stack).any(parses))
    };
    work_in_requests(analysis, 0.0, is_parsing).map_or_else(Vec::new, |work| work.rows)
}
