//! What comes into logs that are followed: a screen that is drawn again and again, or a line.

use super::words::{answering, bytes, called, kind};
use crate::figure::three;
use crate::grid::Row;
use crate::part::{self, Part, Table};
use crate::style::Style;
use crate::text::{clean, count, counted};
use case::{AgentFamily, Demand, LiveTraffic, Ranked, Share};

/// Rows of each table: a screen has 24 lines.
const MOST_ROWS: usize = 5;
/// So many agents are named in a line.
const MOST_IN_A_LINE: usize = 3;

/// A screen: who, from where and for what in the last minute.
pub fn live_screen(live: &LiveTraffic, style: Style) -> String {
    let all = &live.total;
    let agent = |one: &AgentFamily| {
        let cells = [kind(one.kind).to_string()].into_iter().chain(figures(&one.demand, live)).chain([failures(one)]);
        Row::new(called(&one.name, one.claim), cells)
    };
    let agents = Table::of(
        "agent",
        ["kind", "requests", "share", "bytes", time(all), "4xx, 5xx"],
        live.agents.iter().map(agent).collect(),
    );
    let parts = [
        Part::Paragraph(format!("{} {}", clock(live.at_ms), sentence(live))),
        Part::Table(agents.words(1).most(MOST_ROWS)),
        ranked("network", &live.networks, live),
        ranked("route", &live.routes, live),
    ];
    part::text::of(&parts, style)
}

/// A line: how much in the last minute, and of whom.
pub fn live_line(live: &LiveTraffic) -> String {
    let share = |one: &AgentFamily| {
        let share = Share(one.demand.requests as f64 / live.total.requests.max(1) as f64);
        format!("{} {share}", called(&one.name, one.claim))
    };
    let who = live.agents.iter().take(MOST_IN_A_LINE).map(share).collect::<Vec<_>>().join(", ");
    let route = live.routes.first().map(|one| format!("; most for {}", clean(&one.name))).unwrap_or_default();
    format!("{} {} {who}{route}", clock(live.at_ms), sentence(live)).trim_end().to_string()
}

/// `14:03:20 UTC`
fn clock(at_ms: u64) -> String {
    let second = at_ms / 1_000 % 86_400;
    format!("{:02}:{:02}:{:02} UTC", second / 3_600, second / 60 % 60, second % 60)
}

fn sentence(live: &LiveTraffic) -> String {
    let seconds = live.length.seconds().max(1.0);
    let malformed = match live.malformed {
        0 => String::new(),
        lines => format!(" {} could not be read.", counted(lines, "line")),
    };
    format!(
        "{} in {seconds:.0} s ({}/s), {} since the beginning.{malformed}",
        counted(live.total.requests, "request"),
        three(live.total.requests as f64 / seconds),
        count(live.so_far.requests),
    )
}

fn ranked(title: &str, rows: &[Ranked], live: &LiveTraffic) -> Part {
    let row = |one: &Ranked| Row::new(one.name.clone(), figures(&one.demand, live));
    let columns = ["requests", "share", "bytes", time(&live.total)];
    Part::Table(Table::of(title, columns, rows.iter().map(row).collect()).most(MOST_ROWS))
}

fn time(all: &Demand) -> &'static str {
    if all.took_ns == 0 { "" } else { "time" }
}

fn figures(demand: &Demand, live: &LiveTraffic) -> [String; 4] {
    let took = if demand.took_ns == 0 { String::new() } else { answering(demand.took_ns) };
    let share = Share(demand.requests as f64 / live.total.requests.max(1) as f64).to_string();
    [count(demand.requests), share, bytes(demand), took]
}

fn failures(family: &AgentFamily) -> String {
    match family.statuses[4] + family.statuses[5] {
        0 => String::new(),
        failed => Share(failed as f64 / family.demand.requests.max(1) as f64).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::{AgentKind, Nanos};

    fn live() -> LiveTraffic {
        let demand = |requests: u64| Demand { requests, bytes: requests * 1_000, took_ns: 0 };
        let agent = |name: &str, requests: u64| AgentFamily {
            name: name.into(),
            kind: AgentKind::Crawler,
            demand: demand(requests),
            ..AgentFamily::default()
        };
        LiveTraffic {
            at_ms: 1_715_263_400_000,
            length: Nanos(60_000_000_000),
            total: demand(120),
            so_far: demand(4_000),
            malformed: 1,
            agents: vec![agent("ExampleBot\u{1b}[2J", 90), agent("curl", 30)],
            networks: Vec::new(),
            routes: vec![Ranked { name: "/tag/{n}?".into(), demand: demand(120), missed: 0 }],
        }
    }

    #[test]
    fn a_line_says_how_much_and_who() {
        let line = live_line(&live());
        let said = "14:03:20 UTC 120 requests in 60 s (2.00/s), 4,000 since the beginning. 1 line could not be read. \
            ExampleBot";
        assert!(line.starts_with(said) && line.ends_with("75 %, curl 25 %; most for /tag/{n}?"), "{line}");
        assert!(!line.contains('\u{1b}'));
    }

    #[test]
    fn a_screen_fits_a_terminal_whatever_comes() {
        let mut live = live();
        live.agents = vec![live.agents[0].clone(); 60];
        live.networks = vec![live.routes[0].clone(); 60];
        live.routes = live.networks.clone();
        let screen = live_screen(&live, Style::default());
        assert!(screen.lines().count() <= 24, "{screen}");
        assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    }
}
