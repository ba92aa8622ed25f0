//! HotSpot's methods: their names, their files, and which lines their bytecodes are on.

use super::layout::{Layout, MethodLayout};
use super::tables::At;
use crate::resolver::lines::{Lines, line_at};
use crate::resolver::{Form, Resolver};
use crate::scripts::memory::{LONGEST_TEXT, Memory};
use rustc_hash::FxHashMap;

/// The longest table of lines that is read: of a method of 64 KB, in pairs of a byte or some more.
const LONGEST_TABLE: u64 = 1 << 18;

/// What the names of classes contain that are made for lambdas, and for calls by method handles.
const HIDDEN: [&str; 2] = ["$$Lambda", "java/lang/invoke/LambdaForm$"];

/// A method.
#[derive(Clone, Debug)]
pub(super) struct Method {
    /// What says whether it is still the one that was read.
    pub constant: u64,
    /// Class and name: `shop.Cart.price`.
    pub function: String,
    /// Whether it is of a class that the machine made to reach another by, and that Java's own traces leave out.
    pub is_hidden: bool,
    /// The file as compilers find it, below its package's folders: `shop/Cart.java`; empty where it was made without one.
    pub file: String,
    code: u64,
    code_bytes: u32,
    lines: Lines,
    /// The numbers that its lines were given.
    pub numbers: FxHashMap<u32, u32>,
}

impl Method {
    /// The method at an address, unless there is none.
    pub fn read(resolver: &Resolver, memory: Memory<'_>, layout: &Layout, address: u64) -> Option<Method> {
        let of = &layout.method;
        let constant = constant(memory, of, address)?;
        let parts = memory.bytes(constant, of.constant_bytes)?;
        let pool_at = of.pool.of(&parts)?;
        let pool = memory.bytes(pool_at, of.pool_bytes)?;
        let class = memory.bytes(of.holder.of(&pool)?, of.class_bytes)?;
        // A class's pool of constants is of this class, and the class has this pool: what was not a method has neither.
        if of.class_pool.of(&class)? != pool_at {
            return None;
        }
        let length = of.pool_length.of(&pool)?;
        let entry = |index: u64| {
            let at = pool_at.checked_add(of.pool_bytes as u64)?.checked_add(index.checked_mul(8)?)?;
            (1..length).contains(&index).then(|| symbol(memory, of, memory.word(at)?))?
        };
        let class_name = symbol(memory, of, of.class_name.of(&class)?)?;
        let source = of.source_in_pool.and_then(|at| at.of(&pool));
        let source = source.or_else(|| of.source_in_class?.of(&class)).and_then(entry).unwrap_or_default();
        let (code, code_bytes) = (constant.checked_add(of.constant_bytes as u64)?, of.code_bytes.of(&parts)?);
        let end = constant.checked_add(of.constant_words.of(&parts)?.checked_mul(8)?)?;
        let has_lines = of.flags.of(&parts)? & of.has_lines != 0;
        let code_bytes = u32::try_from(code_bytes).ok()?;
        let table = || {
            let at = code.checked_add(u64::from(code_bytes))?;
            memory.bytes(at, usize::try_from(end.checked_sub(at)?.min(LONGEST_TABLE)).ok()?)
        };
        let form = Form::Compressed { code_bytes, numbers: layout.numbers };
        let lines = has_lines.then(table).flatten().and_then(|table| resolver.lines(form, &table, 0));
        Some(Method {
            constant,
            function: format!("{}.{}", class_name.replace('/', "."), entry(of.name.of(&parts)?)?),
            is_hidden: HIDDEN.iter().any(|part| class_name.contains(part)),
            file: file(&class_name, &source),
            code,
            code_bytes,
            lines: lines.unwrap_or_default(),
            numbers: FxHashMap::default(),
        })
    }

    /// The line of a bytecode, by its number; 0 where it has none.
    pub fn line(&self, bytecode: u32) -> u32 {
        if bytecode < self.code_bytes { line_at(&self.lines, bytecode) } else { 0 }
    }

    /// The number of the bytecode at an address.
    pub fn bytecode(&self, address: u64) -> Option<u32> {
        let distance = u32::try_from(address.checked_sub(self.code)?).ok()?;
        (distance < self.code_bytes).then_some(distance)
    }
}

/// Where the part of a method is that does not change.
pub(super) fn constant(memory: Memory<'_>, layout: &MethodLayout, address: u64) -> Option<u64> {
    let At { offset, .. } = layout.constant;
    memory.word(address.checked_add(offset as u64).filter(|_| address != 0)?)
}

/// A name in UTF-8, but for surrogates and zeros.
fn symbol(memory: Memory<'_>, layout: &MethodLayout, address: u64) -> Option<String> {
    let head = memory.bytes(address, layout.symbol_text).filter(|_| address != 0)?;
    let length = usize::try_from(layout.symbol_length.of(&head)?).ok().filter(|length| *length <= LONGEST_TEXT)?;
    let text = memory.bytes(address.checked_add(layout.symbol_text as u64)?, length)?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// The file of a class, below the folders of its package.
fn file(class: &str, source: &str) -> String {
    match class.rsplit_once('/') {
        Some((package, _)) if !source.is_empty() => format!("{package}/{source}"),
        _ => source.to_string(),
    }
}
