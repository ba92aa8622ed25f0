//! Rules that turn a part of the traffic away. Names come from whoever wrote the requests: into a rule go only those that
//! mean nothing to a server but themselves.

use case::{AgentKind, Claim, Ranked, Rule, RuleFor};

/// So many networks are written into a rule.
const MOST_NETWORKS: usize = 10;

/// The rules for a family of agents that came from these networks. Who forges an agent is told from the real one by its
/// networks alone.
pub fn rules(name: &str, kind: AgentKind, claim: Claim, networks: &[Ranked]) -> Vec<Rule> {
    match (claim, kind) {
        (Claim::Forged, _) => by_network(networks),
        (_, AgentKind::Silent) => by_silence(),
        _ if is_plain(name) => by_name(name),
        _ => Vec::new(),
    }
}

fn is_plain(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    name.len() >= 3 && name.chars().all(is_plain)
}

fn by_name(name: &str) -> Vec<Rule> {
    let pattern = name.replace('.', "\\.");
    vec![
        rule(RuleFor::Nginx, format!("if ($http_user_agent ~* \"{pattern}\") {{ return 403; }}")),
        rule(RuleFor::Haproxy, format!("http-request deny if {{ req.hdr(User-Agent) -m sub -i {name} }}")),
        rule(RuleFor::Robots, format!("User-agent: {name}\nDisallow: /")),
    ]
}

fn by_silence() -> Vec<Rule> {
    vec![
        rule(RuleFor::Nginx, "if ($http_user_agent = \"\") { return 403; }".into()),
        rule(RuleFor::Haproxy, "http-request deny unless { req.hdr(User-Agent) -m found }".into()),
    ]
}

fn by_network(networks: &[Ranked]) -> Vec<Rule> {
    let known = networks.iter().map(|network| network.name.as_str()).filter(|name| name.contains('/'));
    let known = known.take(MOST_NETWORKS).collect::<Vec<_>>();
    if known.is_empty() {
        return Vec::new();
    }
    let lines = known.iter().map(|network| format!("deny {network};")).collect::<Vec<_>>();
    vec![
        rule(RuleFor::Nginx, lines.join("\n")),
        rule(RuleFor::Haproxy, format!("http-request deny if {{ src {} }}", known.join(" "))),
    ]
}

fn rule(target: RuleFor, text: String) -> Rule {
    Rule { target, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_could_mean_more_is_written_into_no_rule() {
        let of = |name: &str| rules(name, AgentKind::Crawler, Claim::Unchecked, &[]).len();
        assert_eq!(of("ExampleBot"), 3);
        for name in ["x\"; return 200; #bot", "a b", "bot}", "", ".*"] {
            assert_eq!(of(name), 0, "{name}");
        }
    }

    #[test]
    fn who_forges_a_name_is_known_by_networks() {
        let networks = ["203.0.113.0/24", "not known"].map(|name| Ranked { name: name.into(), ..Ranked::default() });
        let rules = rules("ExampleBot", AgentKind::Crawler, Claim::Forged, &networks);
        assert_eq!(rules[0].text, "deny 203.0.113.0/24;");
        assert_eq!(rules.len(), 2);
    }
}
