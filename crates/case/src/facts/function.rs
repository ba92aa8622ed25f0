//! What a field that names a function says. An address stands in the place of a name that is not known.

use std::borrow::Cow;

/// Between a module and an offset in it.
const OFFSET: &str = "+0x";
/// Behind it where all unnamed functions of a module share one entry.
const ANY: &str = "...";

/// Behind the name of a copy that a compiler made for one use.
const CLONE: &str = " [clone ";
/// What may follow the parameters of a member function.
const QUALIFIED: &str = " const";
/// Its name may hold any of the brackets.
const OPERATOR: &str = "operator";

/// A function, as the fields `function` of a place, of a comparison and of a profile name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function<'n> {
    /// Nothing is known, or the field speaks of a whole library.
    Unknown,
    /// By its name.
    Named(&'n str),
    /// `module+0xoffset`: its name is not known.
    At(&'n str),
    /// `module+0x...`: all of a module whose names are not known.
    Unnamed(&'n str),
}

impl Function<'_> {
    /// What a field says.
    pub fn of(field: &str) -> Function<'_> {
        match field.rsplit_once(OFFSET) {
            _ if field.is_empty() => Function::Unknown,
            Some((_, ANY)) => Function::Unnamed(field),
            Some(_) => Function::At(field),
            None => Function::Named(field),
        }
    }

    /// Whether it is known by a name.
    pub fn is_named(self) -> bool {
        matches!(self, Function::Named(_))
    }

    /// Whether a module and an offset, or a module alone, stand in the place of its name.
    pub fn is_address(self) -> bool {
        matches!(self, Function::At(_) | Function::Unnamed(_))
    }

    /// A name in C++ as it is called in a sentence: without parameters, what it returns and what a template was made for. Other
    /// names, and those of operators and of what is in a function, as they are.
    pub fn short(field: &str) -> Cow<'_, str> {
        let signature = field.split(CLONE).next().unwrap_or(field).trim_end_matches(QUALIFIED);
        let Some(head) = before_parameters(signature).filter(|_| !signature.contains(OPERATOR)) else {
            return Cow::Borrowed(field);
        };
        let plain = without_templates(head);
        // What it returns comes first.
        let mut depth = 0_i32;
        let last_blank = plain.char_indices().rev().find(|&(_, letter)| {
            depth += i32::from(matches!(letter, ')' | '}')) - i32::from(matches!(letter, '(' | '{'));
            letter == ' ' && depth == 0
        });
        let name = last_blank.map_or(plain.as_str(), |(at, _)| &plain[at + 1..]);
        if name.is_empty() { Cow::Borrowed(field) } else { Cow::Owned(name.to_string()) }
    }

    /// The field for a function without a name, at an offset in a module.
    pub fn at(module: &str, offset: u64) -> String {
        format!("{module}{OFFSET}{offset:x}")
    }

    /// The field for all functions of a module that have no name.
    pub fn unnamed(module: &str) -> String {
        format!("{module}{OFFSET}{ANY}")
    }
}

/// What stands before the parentheses that a name ends with; none where it does not.
fn before_parameters(signature: &str) -> Option<&str> {
    let mut depth = 0_i32;
    let opening = signature.char_indices().rev().find(|&(_, letter)| {
        depth += i32::from(letter == ')') - i32::from(letter == '(');
        depth <= 0
    });
    let head = opening.filter(|&(_, letter)| letter == '(' && signature.ends_with(')')).map(|(at, _)| &signature[..at]);
    head.filter(|head| !head.is_empty())
}

fn without_templates(head: &str) -> String {
    let mut depth = 0_i32;
    let is_outside = |letter: &char| {
        depth += i32::from(*letter == '<');
        let is_outside = depth == 0;
        depth -= i32::from(*letter == '>');
        is_outside
    };
    head.chars().filter(is_outside).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        assert_eq!(Function::of(&Function::at("x.so", 64)), Function::At("x.so+0x40"));
        assert_eq!(Function::of(&Function::unnamed("x.so")), Function::Unnamed("x.so+0x..."));
        assert_eq!(Function::of("load"), Function::Named("load"));
        assert_eq!(Function::of(""), Function::Unknown);
    }

    #[test]
    fn of_a_name_in_cpp_the_qualified_name_is_left() {
        for (whole, short) in [
            ("node::SpinEventLoopInternal(node::Environment*)", "node::SpinEventLoopInternal"),
            (
                "v8::Handle<v8::String> v8::Table::Look<v8::Key<char>, v8::Isolate>(v8::Isolate*, v8::Key<char>*)",
                "v8::Table::Look",
            ),
            ("v8::FeedbackVector::GetKind(v8::FeedbackSlot) const", "v8::FeedbackVector::GetKind"),
            ("a::Parser<unsigned char>::Value<false>(int (*)(char)) [clone .isra.0]", "a::Parser::Value"),
            ("(anonymous namespace)::load(char const*)", "(anonymous namespace)::load"),
        ] {
            assert_eq!(Function::short(whole), short);
        }
        for name in [
            "books.<locals>.<dictcomp>",
            "<module>",
            "main.(*Ledger).book",
            "<T as core::fmt::Display>::fmt",
            "std::function<void ()>::operator()() const",
            "(anonymous)",
            "load",
            "x.so+0x40",
            "",
        ] {
            assert_eq!(Function::short(name), name);
        }
    }
}
