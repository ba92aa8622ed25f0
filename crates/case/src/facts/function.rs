//! What a field that names a function says. An address stands in the place of a name that is not known.

/// Between a module and an offset in it.
const OFFSET: &str = "+0x";
/// Behind it where all unnamed functions of a module share one entry.
const ANY: &str = "...";

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

    /// The field for a function without a name, at an offset in a module.
    pub fn at(module: &str, offset: u64) -> String {
        format!("{module}{OFFSET}{offset:x}")
    }

    /// The field for all functions of a module that have no name.
    pub fn unnamed(module: &str) -> String {
        format!("{module}{OFFSET}{ANY}")
    }
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
}
