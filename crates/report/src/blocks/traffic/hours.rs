//! Requests by day and hour: what comes by day and by night, on which days of the week, and what does not.

use super::words::called;
use crate::block::{Block, Section};
use crate::chart::{Px, Size};
use crate::document::Document;
use crate::grid::Row;
use crate::part::{Part, Table, under};
use crate::text::count;
use askama::Template;
use case::{Traffic, TrafficDay};

pub(crate) const BLOCK: Block = Block {
    html: Some(html),
    ..Block::of(Section::OverTime, |document| {
        document.traffic().filter(|traffic| is_shown(traffic)).map(rows).unwrap_or_default()
    })
};

/// Rows in the terminal.
const MOST_ROWS: usize = 21;
/// Columns of hours, which a row's digits stand under.
const CLOCK: &str = "0h    6h    12h   18h   ";
/// The days of the week, beginning with that of 1970-01-01.
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const DAY: i64 = 86_400;

/// One day alone is shown well enough over time.
fn is_shown(traffic: &Traffic) -> bool {
    traffic.days.len() > 1
}

fn most(traffic: &Traffic) -> u64 {
    traffic.days.iter().flat_map(|day| &day.requests).copied().max().unwrap_or(0).max(1)
}

/// `2024-05-10 Fri`
fn date(day: &TrafficDay) -> String {
    let number = u64::try_from(day.start_s.div_euclid(DAY)).unwrap_or(0);
    let (year, month, of_month) = case::date(number);
    format!("{year}-{month:02}-{of_month:02} {}", WEEKDAYS[(number % 7) as usize])
}

fn rows(traffic: &Traffic) -> Vec<Part> {
    let most = most(traffic);
    // What is in the busiest hour's tenth tenth is 9; an hour without any is a point.
    let digit = |requests: &u64| match requests {
        0 => '.',
        _ => char::from(b'0' + (u128::from(*requests) * 10 / u128::from(most)).min(9) as u8),
    };
    let row = |day: &TrafficDay| {
        let all: u64 = day.requests.iter().sum();
        Row::new(date(day), [day.requests.iter().map(digit).collect::<String>(), count(all)])
    };
    let table = Table::of("day", [CLOCK, "requests"], traffic.days.iter().map(row).collect()).words(1).most(MOST_ROWS);
    let how = format!("One digit per hour: tenths of the {} requests in the busiest hour.", count(most));
    under("Requests by hour of the day (UTC)", [Part::Paragraph(how), Part::Table(table)])
}

#[derive(Template)]
#[template(
    source = r#"<figure>
{% for map in maps %}<svg class="hours {{ map.size.class() }}" viewBox="0 0 {{ map.size.width() }} {{ map.height }}" role="img" aria-label="{{ caption }}">
{% for (x, label) in map.clock %}<text class="clock" x="{{ x }}" y="12">{{ label }}</text>
{% endfor %}{% for (y, label) in map.days %}<text class="day" x="{{ map.left }}" dx="-6" y="{{ y }}" dy="-4">{{ label }}</text>
{% endfor %}{% for cell in map.cells %}<rect class="hour" x="{{ cell.x }}" y="{{ cell.y }}" width="{{ map.width }}" height="{{ map.tall }}" fill-opacity="{{ cell.strength }}"><title>{{ cell.said }}</title></rect>
{% endfor %}{% for (x, y) in map.onsets %}<rect class="onset" x="{{ x }}" y="{{ y }}" width="{{ map.width }}" height="{{ map.tall }}"/>
{% endfor %}</svg>
{% endfor %}<figcaption>{{ caption }}</figcaption>
</figure>
"#,
    ext = "html"
)]
struct Maps {
    caption: String,
    maps: Vec<Map>,
}

/// One size of the map.
struct Map {
    size: Size,
    left: Px,
    height: Px,
    /// How wide and how tall an hour is.
    width: Px,
    tall: Px,
    clock: Vec<(Px, String)>,
    /// The lower end of each day's row, and its name.
    days: Vec<(Px, String)>,
    cells: Vec<Cell>,
    onsets: Vec<(Px, Px)>,
}

/// One hour.
struct Cell {
    x: Px,
    y: Px,
    /// Its share of the busiest one, as two decimals.
    strength: String,
    said: String,
}

/// Where the hours begin below.
const TOP: f64 = 20.0;
const RIGHT: f64 = 8.0;

fn html(document: &Document) -> String {
    let Some(traffic) = document.traffic().filter(|traffic| is_shown(traffic)) else { return String::new() };
    let began = traffic.suspects.iter().filter(|suspect| suspect.onset.is_some());
    let began = began.map(|suspect| called(&suspect.name, suspect.claim)).collect::<Vec<_>>();
    let outlined =
        if began.is_empty() { String::new() } else { format!(" Outlined: where {} began or grew.", began.join(", ")) };
    let caption = format!("Requests per hour, UTC; {} in the busiest.{outlined}", count(most(traffic)));
    let maps = Size::BOTH.map(|size| map(traffic, size)).into();
    Maps { caption, maps }.render().unwrap_or_default()
}

fn map(traffic: &Traffic, size: Size) -> Map {
    let (left, tall, every) = match size {
        Size::Wide => (112.0, 20.0, 3),
        Size::Narrow => (54.0, 15.0, 6),
    };
    let width = (size.width() - left - RIGHT) / 24.0;
    let most = most(traffic);
    let x = |hour: usize| left + width * hour as f64;
    let y = |day: usize| TOP + tall * day as f64;
    let mut cells = Vec::new();
    for (row, day) in traffic.days.iter().enumerate() {
        for (hour, requests) in day.requests.iter().enumerate() {
            let strength = format!("{:.2}", *requests as f64 / most as f64);
            let said = format!("{} {hour:02}:00: {}", date(day), count(*requests));
            cells.push(Cell { x: Px(x(hour)), y: Px(y(row)), strength, said });
        }
    }
    let first_s = traffic.days.first().map_or(0, |day| day.start_s);
    let place = |at_s: i64| {
        let hours = usize::try_from(at_s.checked_sub(first_s)?.div_euclid(3_600)).ok()?;
        (hours / 24 < traffic.days.len()).then(|| (Px(x(hours % 24)), Px(y(hours / 24))))
    };
    let onsets = traffic.suspects.iter().filter_map(|suspect| place(suspect.onset.as_ref()?.at_s));
    let name = |(row, day): (usize, &TrafficDay)| {
        let date = date(day);
        // On a telephone the day of the month and of the week: the month is in the caption of what is above.
        let short = date.get(8..).unwrap_or_default();
        (Px(y(row + 1)), if size == Size::Wide { date } else { short.to_string() })
    };
    Map {
        size,
        left: Px(left),
        height: Px(y(traffic.days.len()) + 4.0),
        width: Px(width),
        tall: Px(tall),
        clock: (0..24).step_by(every).map(|hour| (Px(x(hour) + width / 2.0), format!("{hour:02}"))).collect(),
        days: traffic.days.iter().enumerate().map(name).collect(),
        cells,
        onsets: onsets.collect(),
    }
}
