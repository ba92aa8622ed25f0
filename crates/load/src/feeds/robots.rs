//! robots.txt (RFC 9309): what a server does not want to be asked for.

use serde::{Deserialize, Serialize};

/// Rules are kept up to so many: a file may have no end.
const MOST_RULES: usize = 1000;
/// A pattern longer than this matches nothing.
const LONGEST_PATTERN: usize = 1024;
/// Who we are to robots.txt.
const PRODUCT: &str = "whyslow";

/// A rule: whether what matches the pattern may be asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rule {
    pub allows: bool,
    pub pattern: String,
}

/// The rules for us: of the groups with our name, or else of those for all.
pub(crate) fn rules(text: &str) -> Vec<Rule> {
    let (mut ours, mut all) = (Vec::new(), Vec::new());
    let (mut is_ours, mut is_all, mut has_ours, mut in_rules) = (false, false, false, false);
    for line in text.trim_start_matches('\u{feff}').lines() {
        let line = line.split('#').next().unwrap_or_default();
        let Some((key, value)) = line.split_once(':') else { continue };
        let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
        match key.as_str() {
            "user-agent" => {
                if in_rules {
                    (is_ours, is_all, in_rules) = (false, false, false);
                }
                is_all |= value == "*";
                is_ours |= value.eq_ignore_ascii_case(PRODUCT);
                has_ours |= is_ours;
            }
            "allow" | "disallow" => {
                in_rules = true;
                let rule = Rule { allows: key == "allow", pattern: value.to_string() };
                let is_sound = !value.is_empty() && value.len() <= LONGEST_PATTERN;
                if is_ours && is_sound && ours.len() < MOST_RULES {
                    ours.push(rule);
                } else if is_all && is_sound && all.len() < MOST_RULES {
                    all.push(rule);
                }
            }
            _ => {}
        }
    }
    if has_ours { ours } else { all }
}

/// Whether a path may be asked for: the longest pattern that matches decides, and of two as long the one that allows.
pub(crate) fn allow(rules: &[Rule], path: &str) -> bool {
    let matching = rules.iter().filter(|rule| matches(&rule.pattern, path));
    matching.max_by_key(|rule| (rule.pattern.len(), rule.allows)).is_none_or(|rule| rule.allows)
}

/// Whether a path begins as a pattern says, where `*` is anything and a `$` at the end is the end.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, ends) = pattern.strip_suffix('$').map_or((pattern, false), |pattern| (pattern, true));
    let mut parts = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts = parts.collect::<Vec<_>>();
    let Some((last, middle)) = parts.split_last() else { return !ends || rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    if ends { rest.ends_with(last) } else { rest.contains(last) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_with_our_name_counts_or_else_the_one_for_all() {
        let text = "User-agent: *\nDisallow: /all\n\nuser-agent: other\nUser-Agent: WhySlow # us\nDisallow: /us\nAllow: /us/but\n\n\
            User-agent: third\nDisallow: /third";
        let ours = rules(text);
        assert!(allow(&ours, "/all") && !allow(&ours, "/us/x") && allow(&ours, "/us/but/x") && allow(&ours, "/third"));
        let all = rules("User-agent: *\nDisallow: /all\nUser-agent: x\nDisallow: /");
        assert!(!allow(&all, "/all/x") && allow(&all, "/other"));
        assert!(allow(&rules("User-agent: *\nDisallow:\n"), "/") && allow(&rules("<html>"), "/"));
    }

    #[test]
    fn patterns_have_stars_and_ends() {
        let cases = [
            ("/a", "/abc", true),
            ("/*.xml$", "/feed.xml", true),
            ("/*.xml$", "/feed.xml?x", false),
            ("/*/feed", "/a/b/feed/x", true),
            ("/a$", "/a", true),
            ("/a$", "/ab", false),
            ("/a*b*c", "/a-b-b-c", true),
            ("/a*b*c", "/a-c-b", false),
        ];
        for (pattern, path, matching) in cases {
            assert_eq!(matches(pattern, path), matching, "{pattern} {path}");
        }
    }
}
