//! Routes: paths folded by their shape, so that `/user/17/cart` and `/user/4/cart` are one.

/// Longer routes are cut.
const LONGEST: usize = 120;
/// So many parts of a path are told apart.
const MOST_PARTS: usize = 8;
/// Words of at least this length in which letters and digits are mixed are made by a machine.
const LEAST_TOKEN: usize = 20;
/// So many digits of base 16 in a row are a digest or an identifier.
const LEAST_HEX: usize = 8;
/// Titles in paths have at least so many words.
const LEAST_WORDS: usize = 4;

/// The route of a target.
pub fn route(target: &[u8]) -> Vec<u8> {
    let mut route = Vec::new();
    fold(target, &mut route);
    route
}

/// Writes the route of a target into `route`, which is emptied first.
pub fn fold(target: &[u8], route: &mut Vec<u8>) {
    route.clear();
    let (path, has_query) = path(target);
    if path.is_empty() {
        route.extend_from_slice(if target.is_empty() { b"(no path)" } else { b"/" });
        return;
    }
    for (place, part) in path.split(|byte| *byte == b'/').enumerate() {
        if place > 0 {
            route.push(b'/');
        }
        if place > MOST_PARTS || route.len() > LONGEST {
            route.extend_from_slice(b"...");
            break;
        }
        fold_part(part, route);
    }
    if has_query {
        route.extend_from_slice(b"?");
    }
}

/// The path of a target without the site before it and the query behind it, and whether it had one.
fn path(target: &[u8]) -> (&[u8], bool) {
    let target = match memchr::memchr(b':', target) {
        Some(at) if target[0] != b'/' && target[at..].starts_with(b"://") => {
            let site = &target[at + 3..];
            &site[memchr::memchr(b'/', site).unwrap_or(site.len())..]
        }
        _ => target,
    };
    match memchr::memchr3(b'?', b'#', b';', target) {
        Some(end) => (&target[..end], target[end] == b'?' && end + 1 < target.len()),
        None => (target, false),
    }
}

/// Writes one part of a path, its ending kept.
fn fold_part(part: &[u8], route: &mut Vec<u8>) {
    let shape = Shape::of(part);
    if shape.digits == 0 && shape.others == 0 && part.len() < LEAST_TOKEN {
        // Most are plain words.
        route.extend_from_slice(part);
        return;
    }
    let (stem, ending) = match memchr::memrchr(b'.', part) {
        Some(at)
            if at > 0
                && (2..=6).contains(&(part.len() - at))
                && part[at + 1..].iter().all(u8::is_ascii_alphanumeric) =>
        {
            part.split_at(at)
        }
        _ => (part, &[][..]),
    };
    let shape = Shape::of(stem);
    let name: &[u8] = if shape.digits == stem.len() && !stem.is_empty() {
        b"{n}"
    } else if shape.is_hex(stem.len()) {
        b"{hex}"
    } else if shape.hyphens + 1 >= LEAST_WORDS && stem.len() >= LEAST_TOKEN {
        b"{title}"
    } else if stem.len() >= LEAST_TOKEN && (shape.digits > 0 || shape.others > 0) {
        b"{token}"
    } else {
        fold_numbers(stem, route);
        b""
    };
    route.extend_from_slice(name);
    route.extend_from_slice(ending);
}

/// Numbers within a word, but for a single digit beside a letter, as in `v2` and `mp4`.
fn fold_numbers(word: &[u8], route: &mut Vec<u8>) {
    let mut at = 0;
    while at < word.len() {
        let length = word[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if length == 0 {
            route.push(word[at]);
            at += 1;
            continue;
        }
        let is_letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphabetic);
        let beside_letter =
            is_letter(at.checked_sub(1).and_then(|before| word.get(before))) || is_letter(word.get(at + length));
        if length == 1 && beside_letter {
            route.push(word[at]);
        } else {
            route.extend_from_slice(b"{n}");
        }
        at += length;
    }
}

/// What a word is made of.
struct Shape {
    digits: usize,
    /// a to f, in one of the two cases or the other.
    hex: usize,
    hyphens: usize,
    /// Neither letters, nor digits, nor `-`, `_` and `.`.
    others: usize,
}

/// What each byte adds to the counts of a shape, which stand side by side in one number: to add them up takes no branches.
const ADDS: [u64; 256] = adds();

/// Each count has so many bits,
const BITS: u32 = 16;
/// and so no longer words are counted: nothing is told by what lies behind.
const MOST_COUNTED: usize = (1 << BITS) - 1;

const fn adds() -> [u64; 256] {
    let mut adds = [0; 256];
    let mut byte = 0;
    while byte < adds.len() {
        adds[byte] = match byte as u8 {
            b'0'..=b'9' => 1,
            b'a'..=b'f' | b'A'..=b'F' => 1 << BITS,
            b'-' => 1 << (2 * BITS),
            b'g'..=b'z' | b'G'..=b'Z' | b'_' | b'.' => 0,
            _ => 1 << (3 * BITS),
        };
        byte += 1;
    }
    adds
}

impl Shape {
    fn of(word: &[u8]) -> Shape {
        let counted = &word[..word.len().min(MOST_COUNTED)];
        let sum: u64 = counted.iter().map(|byte| ADDS[usize::from(*byte)]).sum();
        let count = |place: u32| (sum >> (place * BITS)) as usize & MOST_COUNTED;
        Shape { digits: count(0), hex: count(1), hyphens: count(2), others: count(3) }
    }

    /// A digest or a UUID: nothing but digits of base 16, some of them decimal.
    fn is_hex(&self, length: usize) -> bool {
        let is_uuid = self.hyphens == 4 && length == 36;
        let hyphens = if is_uuid { 4 } else { 0 };
        self.digits > 0 && self.digits + self.hex + hyphens == length && length >= LEAST_HEX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_folded_by_their_shape() {
        let mut route = Vec::new();
        for (target, folded) in [
            ("/", "/"),
            ("/user/17/cart?x=1", "/user/{n}/cart?"),
            ("/api/v2/items/550e8400-e29b-41d4-a716-446655440000", "/api/v2/items/{hex}"),
            ("/static/app-128.js", "/static/app-{n}.js"),
            ("/img/0123456789abcdef.png", "/img/{hex}.png"),
            ("/2024/05/how-to-make-good-bread-at-home", "/{n}/{n}/{title}"),
            ("/page-12/", "/page-{n}/"),
            ("/t/eyJhbGciOiJIUzI1NiJ9eyJzdWIi", "/t/{token}"),
            ("https://example.org:443/a?b", "/a?"),
            ("https://example.org", "/"),
            ("", "(no path)"),
            ("/about-us", "/about-us"),
            ("/caf\u{e9}/menu.html", "/caf\u{e9}/menu.html"),
        ] {
            fold(target.as_bytes(), &mut route);
            assert_eq!(String::from_utf8_lossy(&route), folded, "{target}");
        }
        fold("/x".repeat(1_000).as_bytes(), &mut route);
        assert!(route.len() < 2 * LONGEST);
        // More digits than are counted.
        fold(format!("/{}", "7".repeat(70_000)).as_bytes(), &mut route);
        assert_eq!(String::from_utf8_lossy(&route), "/{token}");
    }
}
