//! What a program always writes: learned from runs with nothing attached, word by word.
//!
//! A word that is the same in all of them has to be the same in any other run. Where only figures within a word differ, as in
//! `took=0.44s`, those are free and the rest has to hold; where more of it does, as in a name drawn at random, the word is free.
//! Figures that say by their unit, their label or the heading of their table that they measure time or rate are free from the start:
//! rounded they can be the same in all runs with nothing attached, and that they change is what an intervention is for. So is what
//! tells when the program ran: the time of day, and seconds since 1970.

use std::time::{SystemTime, UNIX_EPOCH};

/// What a program always writes.
pub struct Learned {
    places: Vec<Place>,
}

/// A word's place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// It is always this word.
    Fixed(String),
    /// It always looks like this, with other figures: those that are always the same, and none for the others.
    Shaped { shape: String, figures: Vec<Option<String>> },
    /// It is another one each time.
    Free,
}

/// Units of time and rate, as they stand behind a figure.
const UNITS: [&str; 28] = [
    "ns", "us", "µs", "μs", "ms", "msec", "s", "sec", "secs", "second", "seconds", "m", "min", "mins", "minutes", "h",
    "hz", "khz", "mhz", "rps", "qps", "tps", "ops", "iops", "bps", "kbps", "mbps", "gbps",
];
/// Words before a figure that say that it is a time or a rate, whatever its unit.
const LABELS: [&str; 20] = [
    "time",
    "elapsed",
    "duration",
    "latency",
    "took",
    "median",
    "mean",
    "avg",
    "average",
    "stdev",
    "percentile",
    "throughput",
    "speed",
    "rps",
    "qps",
    "second",
    "sec",
    "seconds",
    "ms",
    "us",
];

/// As a clock counts them.
const HOURS: u32 = 24;
/// Minutes of an hour, and seconds of a minute.
const MINUTES: u32 = 60;
/// In seconds: runs that are compared are minutes apart.
const A_DAY: u64 = 24 * 60 * 60;

impl Learned {
    /// From at least one text; none where they do not even have equally many words.
    pub fn from(texts: &[Vec<u8>]) -> Option<Learned> {
        let texts = texts.iter().map(|text| String::from_utf8_lossy(text)).collect::<Vec<_>>();
        let all = texts.iter().map(|text| text.split_whitespace().collect::<Vec<_>>()).collect::<Vec<_>>();
        let first = all.first()?;
        if all.iter().any(|words| words.len() != first.len()) {
            return None;
        }
        let times = under_times(&texts[0]);
        let place = |at: usize| {
            if is_unit_alone(first, at) {
                return Place::Free;
            }
            let mut measures = measures(first, at);
            measures.iter_mut().zip(tells_when(first[at])).for_each(|(free, when)| *free |= when || times[at]);
            Place::of(&all.iter().map(|words| words[at]).collect::<Vec<_>>(), &measures)
        };
        Some(Learned { places: (0..first.len()).map(place).collect() })
    }

    /// Whether there is anything that has to hold.
    pub fn says_something(&self) -> bool {
        let is_fixed = |place: &Place| match place {
            Place::Fixed(_) => true,
            Place::Shaped { figures, .. } => figures.iter().any(Option::is_some),
            Place::Free => false,
        };
        self.places.iter().any(is_fixed)
    }

    /// Whether another text is what the program always writes.
    pub fn holds(&self, text: &[u8]) -> bool {
        self.difference(text).is_none()
    }

    /// The first word of another text that is not what the program always writes; empty where it ends too early.
    pub fn difference(&self, text: &[u8]) -> Option<String> {
        let text = String::from_utf8_lossy(text);
        let mut words = text.split_whitespace();
        let other = self.places.iter().find_map(|place| {
            let word = words.next().unwrap_or("");
            (!place.holds(word)).then(|| word.to_string())
        });
        other.or_else(|| words.next().map(str::to_string))
    }
}

impl Place {
    fn of(words: &[&str], measures: &[bool]) -> Place {
        let (first, shape) = (words[0], shape(words[0]));
        if words.iter().all(|word| *word == first) && !measures.contains(&true) {
            return Place::Fixed(first.to_string());
        }
        if words.iter().any(|word| self::shape(word) != shape) {
            return Place::Free;
        }
        let all = words.iter().map(|word| figures(word)).collect::<Vec<_>>();
        let steady =
            |at: usize| (!measures[at] && all.iter().all(|own| own[at] == all[0][at])).then(|| all[0][at].to_string());
        Place::Shaped { shape, figures: (0..all[0].len()).map(steady).collect() }
    }

    fn holds(&self, word: &str) -> bool {
        match self {
            Place::Fixed(fixed) => word == fixed,
            Place::Shaped { shape: usual, figures: known } => {
                let own = figures(word);
                shape(word) == *usual
                    && own.len() == known.len()
                    && known.iter().zip(own).all(|(known, own)| known.as_ref().is_none_or(|known| known == own))
            }
            Place::Free => true,
        }
    }
}

/// Which figures of a word measure time or rate.
fn measures(words: &[&str], at: usize) -> Vec<bool> {
    let word = words[at];
    let before = at.checked_sub(1).map_or("", |at| words[at]);
    let after = words.get(at + 1).copied().unwrap_or("");
    let spans = spans(word);
    let measure = |place: usize| {
        let (begin, end) = spans[place];
        let next = spans.get(place + 1).map_or(word.len(), |next| next.0);
        let has_letters = |text: &str| text.chars().any(char::is_alphabetic);
        let behind = &word[end..next];
        let unit = if has_letters(behind) || next < word.len() { behind } else { after };
        let label = if has_letters(&word[..begin]) { &word[..begin] } else { before };
        has_letters(&word[begin..end]) || is_unit(unit) || is_label(label)
    };
    (0..spans.len()).map(measure).collect()
}

/// Of each word, whether it stands in a paragraph below a heading that names a unit of time, as `Connection Times (ms)`.
fn under_times(text: &str) -> Vec<bool> {
    let names_unit = |word: &str| word.starts_with('(') && word.trim_end_matches(':').ends_with(')') && is_unit(word);
    let mut is_under = false;
    let mut words = Vec::new();
    for line in text.lines() {
        is_under &= !line.trim().is_empty();
        words.extend(line.split_whitespace().map(|_| is_under));
        is_under |= spans(line).is_empty() && line.split_whitespace().any(names_unit);
    }
    words
}

/// Which figures of a word tell when the program ran. Runs that are minutes apart show other ones, and those with nothing attached
/// may all lie within one.
fn tells_when(word: &str) -> Vec<bool> {
    let spans = spans(word);
    let texts = spans.iter().map(|&(begin, end)| &word[begin..end]).collect::<Vec<_>>();
    let is_below = |at: usize, most: u32| {
        let whole = texts.get(at).and_then(|text| text.split(['.', ',']).next()).unwrap_or_default();
        whole.len() == 2 && whole.parse::<u32>().is_ok_and(|number| number < most)
    };
    let is_followed = |at: usize| {
        let next = spans.get(at + 1).filter(|next| next.0 == spans[at].1 + 1);
        is_below(at, MINUTES) && is_below(at + 1, MINUTES) && next.is_some() && word[spans[at].1..].starts_with(':')
    };
    let begins = |at: usize| is_followed(at) && is_below(at, HOURS) && !at.checked_sub(1).is_some_and(is_followed);
    // Hours and minutes, and seconds behind them.
    let is_of_a_clock = |at: usize| {
        let back = |by: usize| at.checked_sub(by).is_some_and(begins);
        begins(at) || back(1) || (back(2) && is_followed(at - 1))
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    (0..spans.len()).map(|at| is_of_a_clock(at) || is_since_1970(texts[at], now)).collect()
}

/// Whether a figure can be a moment of the same day as `now`, in seconds since 1970 or a thousandth, millionth or billionth of them:
/// a figure of something else hardly ever begins with these digits.
fn is_since_1970(figure: &str, now: u64) -> bool {
    let whole = figure.split(['.', ',']).next().unwrap_or("");
    let seconds = whole.get(..10).and_then(|seconds| seconds.parse::<u64>().ok());
    matches!(whole.len(), 10 | 13 | 16 | 19) && seconds.is_some_and(|seconds| seconds.abs_diff(now) < A_DAY)
}

/// Whether a word is the unit of the figure before it: another unit is another figure.
fn is_unit_alone(words: &[&str], at: usize) -> bool {
    let ends_in_figure = |word: &str| spans(word).last().is_some_and(|span| span.1 == word.len());
    is_unit(words[at]) && at > 0 && ends_in_figure(words[at - 1])
}

fn is_unit(text: &str) -> bool {
    let text = text.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    // `req/s`, `MB/sec`: whatever it is, so much of it a second.
    let per = text.rsplit_once('/').map(|(_, per)| per);
    UNITS.contains(&text.as_str()) || per.is_some_and(|per| ["s", "sec", "second"].contains(&per))
}

fn is_label(text: &str) -> bool {
    let text = text.to_lowercase();
    let is_percentile = |word: &str| word.strip_prefix('p').is_some_and(|rest| rest.parse::<f64>().is_ok());
    let mut words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.any(|word| LABELS.contains(&word) || is_percentile(word))
}

/// A word with each figure replaced by one mark.
fn shape(word: &str) -> String {
    let mut shape = String::with_capacity(word.len());
    let mut at = 0;
    for (begin, end) in spans(word) {
        shape.push_str(&word[at..begin]);
        shape.push('#');
        at = end;
    }
    shape + &word[at..]
}

/// The figures in a word.
fn figures(word: &str) -> Vec<&str> {
    spans(word).into_iter().map(|(begin, end)| &word[begin..end]).collect()
}

/// Where a word's figures begin and end: runs of digits, decimals with their point, times with their unit, as `1m3.2s`.
fn spans(word: &str) -> Vec<(usize, usize)> {
    let bytes = word.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_point =
        |at: usize| at > 0 && matches!(bytes.get(at), Some(b'.' | b',')) && is_digit(at - 1) && is_digit(at + 1);
    let mut spans: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !is_digit(at) {
            at += 1;
            continue;
        }
        let begin = at;
        while is_digit(at) || is_point(at) {
            at += 1;
        }
        let unit = word[at..].chars().take_while(|letter| letter.is_alphabetic()).map(char::len_utf8).sum::<usize>();
        let is_attached = UNITS.contains(&word[at..at + unit].to_lowercase().as_str());
        at += if is_attached { unit } else { 0 };
        match spans.last_mut() {
            // The next figure of the same time.
            Some(last) if last.1 == begin => last.1 = at,
            _ => spans.push((begin, at)),
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(plain: &[&str], other: &str) -> bool {
        let plain = plain.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>();
        Learned::from(&plain).expect("as many words").holds(other.as_bytes())
    }

    #[test]
    fn a_count_that_never_varied_has_to_hold_and_one_that_did_is_free() {
        let plain = ["200 ok, 0 failed, 17 retried", "200 ok, 0 failed, 16 retried"];
        assert!(holds(&plain, "200 ok, 0 failed, 3 retried"));
        assert!(!holds(&plain, "0 ok, 200 failed, 17 retried"));
        assert!(!holds(&plain, "200 ok, 0 failed"));
        assert!(!holds(&plain, "200 ok, 0 failed, 17 retried more"));
        assert!(!holds(&plain, "200 ok, 0 errors, 17 retried"));
        let learned = Learned::from(&plain.map(Vec::from)).expect("as many words");
        assert_eq!(learned.difference(b"200 ok, 12 failed, 17 retried").as_deref(), Some("12"));
    }

    #[test]
    fn times_and_rates_are_free_even_where_rounding_makes_them_the_same() {
        for (plain, other) in [
            ("median 44.00 ms", "median 0.20 ms"),
            ("took=44ms n=20", "took=1ms n=20"),
            ("p95: 44", "p95: 1"),
            ("p95=44,p99=45", "p95=1,p99=2"),
            ("Requests/sec: 23", "Requests/sec: 4800"),
            ("23 req/s", "4800 req/s"),
            ("elapsed_ms: 44", "elapsed_ms: 2"),
            ("done in 4s", "done in 1s"),
            ("p50 44.1ms ok", "p50 812µs ok"),
            ("median 44 ms of 20", "median 812 us of 20"),
            ("real 1m3.2s", "real 3.1s"),
        ] {
            assert!(holds(&[plain, plain, plain], other), "{plain}");
        }
        assert!(!holds(&["took=44ms n=20"], "took=1ms n=19"));
        assert!(!holds(&["20 items in 44 ms"], "19 items in 44 ms"));
        assert!(!holds(&["0 % failed"], "100 % failed"));
    }

    #[test]
    fn a_table_of_times_is_free_and_what_stands_below_it_is_not() {
        let table = |connect: u32, failed: u32| {
            format!("Done: 20\n\nConnection Times (ms)\n  min max\nConnect: 0 {connect}\n\nFailed: {failed}\n")
        };
        assert!(holds(&[&table(1, 0), &table(1, 0)], &table(4, 0)));
        assert!(!holds(&[&table(1, 0), &table(1, 0)], &table(1, 7)));
        let summary = |least: u32| format!("latency summary (msec):\n  avg min\n  7 {least}\n");
        assert!(holds(&[&summary(2)], &summary(3)));
        let sizes = |least: u32| format!("sizes (kB):\n  avg min\n  7 {least}\n");
        assert!(!holds(&[&sizes(2)], &sizes(3)), "those are no times");
    }

    #[test]
    fn what_tells_when_a_program_ran_is_free_though_all_runs_beside_it_lie_within_a_minute() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        let seconds = |ago: u64| format!("done {}", now - ago);
        let id = |ago: u64| format!("id={}535 done", now - ago);
        for (plain, other) in [
            ("done at 04:23:58", "done at 05:07:01"),
            ("2026-11-26T04:23:58.311Z done", "2026-11-26T04:24:01.007Z done"),
            ("[04:23] done", "[04:24] done"),
            (seconds(85).as_str(), seconds(0).as_str()),
            (id(85).as_str(), id(0).as_str()),
        ] {
            assert!(holds(&[plain, plain, plain], other), "{plain}");
        }
        assert!(
            !holds(&["2026-11-26T04:23:58Z done"], "2026-11-27T04:23:58Z done"),
            "a date is none of the time of day"
        );
        assert!(!holds(&["10:200 ok"], "10:150 ok") && !holds(&["sum 9795667159"], "sum 9795667158"));
        assert!(!holds(&["12 of 34"], "11 of 34") && !holds(&["3:1 for us"], "1:3 for us"));
        // As many bytes as there were seconds since 1970 two years ago, and what no clock shows.
        let bytes = |less: u64| format!("sum {}", now - 2 * 365 * A_DAY - less);
        assert!(
            !holds(&[&bytes(0)], &bytes(1))
                && !holds(&["31:70 won"], "31:71 won")
                && !holds(&["40:50 won"], "40:51 won")
        );
    }

    #[test]
    fn names_drawn_at_random_are_free_and_padding_is_no_difference() {
        let plain = ["session fe12 of  10", "session ab of 10", "session 9c of 10"];
        assert!(holds(&plain, "session 7 of 10"));
        assert!(!holds(&plain, "session 7 of 11"));
        assert!(Learned::from(&["a b".into(), "a".into()]).is_none());
    }

    #[test]
    fn what_only_varies_says_nothing() {
        let says = |plain: &[&str]| {
            let plain = plain.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>();
            Learned::from(&plain).expect("as many words").says_something()
        };
        assert!(!says(&[""]) && !says(&["0.4123", "0.4001"]) && !says(&["x", "y"]) && !says(&["44ms"]));
        assert!(says(&["done"]) && says(&["n=5", "n=5"]));
    }
}
