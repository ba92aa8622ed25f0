//! What one source file declares and mentions: its submodules, its `use` declarations, and paths in its code.
//!
//! Promises: works on tokens, so that what stands in the arguments of a macro is seen like any other code; items under
//! `#[cfg(test)]` are left out.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A path as it was written (`crate`, `a`, `b`), in the file's module or in one declared within the file.
#[derive(Debug)]
pub struct Mention {
    /// The inline modules around it.
    pub within: Vec<String>,
    /// Its segments; of a glob, those before the star.
    pub path: Vec<String>,
    /// The name that it gets here, where it is a `use`.
    pub name: Option<String>,
}

/// What a file holds.
#[derive(Debug, Default)]
pub struct Source {
    /// Submodules in files of their own: the inline modules around the declaration, then the name.
    pub submodules: Vec<Vec<String>>,
    /// All paths.
    pub mentions: Vec<Mention>,
}

impl Source {
    /// Reads the tokens of a file.
    pub fn of(tokens: TokenStream) -> Self {
        let mut source = Self::default();
        source.read(tokens, &mut Vec::new());
        source
    }

    fn read(&mut self, tokens: TokenStream, within: &mut Vec<String>) {
        let tokens = tokens.into_iter().collect::<Vec<_>>();
        let mut at = 0;
        while at < tokens.len() {
            at = match &tokens[at..] {
                [TokenTree::Punct(hash), TokenTree::Group(attribute), ..] if hash.as_char() == '#' => {
                    if is_test(&attribute.stream()) { past_item(&tokens, at + 2) } else { at + 2 }
                }
                [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Punct(_), ..] if word == "mod" => {
                    self.submodules.push([within.as_slice(), &[name.to_string()]].concat());
                    at + 3
                }
                [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Group(body), ..] if word == "mod" => {
                    within.push(name.to_string());
                    self.read(body.stream(), within);
                    within.pop();
                    at + 3
                }
                // `impl Trait + use<'a>` imports nothing.
                [TokenTree::Ident(word), rest, ..] if word == "use" && !is(rest, '<') => {
                    let end = past(&tokens, at, ';');
                    self.declaration(&tokens[at + 1..end], &[], within);
                    end
                }
                [TokenTree::Ident(_), ..] => {
                    let (path, end) = path(&tokens, at);
                    if path.len() > 1 {
                        self.mentions.push(Mention { within: within.clone(), path, name: None });
                    }
                    end
                }
                [TokenTree::Group(group), ..] => {
                    self.read(group.stream(), within);
                    at + 1
                }
                _ => at + 1,
            };
        }
    }

    /// One tree of a `use`, without the word itself, below `prefix`.
    fn declaration(&mut self, tree: &[TokenTree], prefix: &[String], within: &[String]) {
        let (below, end) = match tree.first() {
            Some(TokenTree::Ident(_)) => path(tree, 0),
            _ => (Vec::new(), 0),
        };
        let mut path = [prefix, &below].concat();
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let rest = tree[end..].iter().find(|token| !is(token, ':'));
        let name = match rest {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner = group.stream().into_iter().collect::<Vec<_>>();
                for branch in inner.split(|token| is(token, ',')).filter(|branch| !branch.is_empty()) {
                    self.declaration(branch, &path, within);
                }
                return;
            }
            Some(TokenTree::Ident(word)) if word == "as" => match tree.get(end + 1) {
                Some(TokenTree::Ident(name)) => Some(name.to_string()),
                _ => None,
            },
            Some(star) if is(star, '*') => None,
            _ => path.last().cloned(),
        };
        self.mentions.push(Mention { within: within.to_vec(), path, name });
    }
}

/// The path that starts at a word, and where it ends.
fn path(tokens: &[TokenTree], start: usize) -> (Vec<String>, usize) {
    let mut path = vec![tokens[start].to_string()];
    let mut at = start + 1;
    while let [first, second, TokenTree::Ident(word), ..] = &tokens[at..] {
        if !(is(first, ':') && is(second, ':')) {
            break;
        }
        path.push(word.to_string());
        at += 3;
    }
    (path, at)
}

fn is(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

fn is_test(attribute: &TokenStream) -> bool {
    attribute.to_string().replace(' ', "") == "cfg(test)"
}

/// Where the item that starts at `start` ends: with its body or with a semicolon.
fn past_item(tokens: &[TokenTree], start: usize) -> usize {
    let semicolon = past(tokens, start, ';');
    let is_use = matches!(tokens.get(start), Some(TokenTree::Ident(word)) if word == "use");
    let is_body = |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    match tokens[start..semicolon].iter().position(is_body) {
        Some(body) if !is_use => start + body + 1,
        _ => semicolon,
    }
}

/// The place after the next such sign, else the end.
fn past(tokens: &[TokenTree], start: usize, sign: char) -> usize {
    tokens[start..].iter().position(|token| is(token, sign)).map_or(tokens.len(), |found| start + found + 1)
}
