//! Names of generated code with the file and the line of the function in them, as runtimes write them for profilers.
//!
//! V8 writes `JS:*look /srv/server.js:3:14`, CPython `py::look:/srv/server.py`, LuaJIT `TRACE_7::server.lua:12`: what is not of
//! such a form is a name and nothing else. Lines are those on which functions begin.

use crate::resolver::Named;

/// How V8 marks which of its compilers a function went through.
const MARKS: [char; 4] = ['~', '^', '*', '+'];

/// What a function that has no name of its own is called.
const ANONYMOUS: &str = "(anonymous)";

/// The function, its file and its line, as far as the name says them.
pub(super) fn parsed(name: String, function_offset: u64) -> Named {
    let found = of_script(&name).or_else(|| of_interpreter(&name));
    match found {
        Some((function, file, line)) => Named {
            function: if function.is_empty() { ANONYMOUS.to_owned() } else { function.to_owned() },
            function_offset,
            file: file.strip_prefix("file://").unwrap_or(file).to_owned(),
            line,
            ..Named::default()
        },
        None => Named { function: name, function_offset, ..Named::default() },
    }
}

/// `TAG:MARK NAME PATH:LINE:COLUMN`, the path from the last blank before which a mark stands no more.
fn of_script(name: &str) -> Option<(&str, &str, u32)> {
    let (tag, rest) = name.split_once(':')?;
    let rest = rest.strip_prefix(MARKS).unwrap_or(rest);
    let is_word = !tag.is_empty() && tag.chars().all(|letter| letter.is_ascii_alphanumeric());
    // Names have no blank in them but for `get` and `set`, paths may have.
    let at = rest.find(" /").or_else(|| rest.find(" file:")).or_else(|| rest.find(" node:"))?;
    let (function, path) = (&rest[..at], &rest[at + 1..]);
    let (before, column) = path.rsplit_once(':')?;
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    let (file, line) = before.rsplit_once(':')?;
    number(column)?;
    is_word.then_some((function, file, number(line)?))
}

/// `py::NAME:PATH`, which says no line.
fn of_interpreter(name: &str) -> Option<(&str, &str, u32)> {
    let (function, file) = name.strip_prefix("py::")?.split_once(':')?;
    (!file.is_empty()).then_some((function, file, 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn said(name: &str) -> (String, String, u32) {
        let named = parsed(name.to_owned(), 7);
        assert_eq!(named.function_offset, 7);
        (named.function, named.file, named.line)
    }

    #[test]
    fn a_name_says_where_its_function_begins() {
        let of = |function: &str, file: &str, line| (function.to_string(), file.to_string(), line);
        assert_eq!(said("JS:*look /srv/server.js:3:14"), of("look", "/srv/server.js", 3));
        assert_eq!(said("JS:~ /srv/my server.js:5:34"), of("(anonymous)", "/srv/my server.js", 5));
        assert_eq!(said("JS:^get size file:///srv/a.mjs:9:1"), of("get size", "/srv/a.mjs", 9));
        assert_eq!(
            said("JS:~emit node:events:460:44"),
            of("emit", "node:events", 460),
            "what came with the runtime has no path"
        );
        assert_eq!(said("py::look:/srv/server.py"), of("look", "/srv/server.py", 0));
    }

    #[test]
    fn what_says_no_place_is_a_name() {
        for name in
            ["Builtin:ArrayMap", "RegExp:a/b /c:1", "Ljava/lang/String;::hashCode", "JS:*f /a.js:0:0", "a:b c:1:2"]
        {
            assert_eq!(said(name), (name.to_string(), String::new(), 0));
        }
    }

    proptest! {
        #[test]
        fn any_name_is_taken(name in ".{0,40}") {
            parsed(name, 0);
        }

        #[test]
        fn nearly_right_names_are_taken(name in "(JS|py:)?:[~*]?[a-z ]{0,5} ?/?[a-z:]{0,6}:?[0-9]{0,12}:?[0-9]{0,12}") {
            parsed(name, 0);
        }
    }
}
