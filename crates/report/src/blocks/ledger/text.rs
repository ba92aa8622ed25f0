//! The ledger of a run in letters: one line an account, its share and its time beside a bar; and as a table.

use super::run::is_of_the_run;
use crate::bar::bar;
use crate::grid::Row;
use crate::part::{Part, Table, under};
use crate::style::Style;
use crate::text::{clean, shorten, wrap};
use case::{Account, AccountTime, Answer, Nanos};

/// Accounts below this share are folded into one line.
const LEAST_SHARE: f64 = 0.01;
/// Accounts below this share are added up in one row of the table.
const LEAST_ROW: f64 = 0.005;
/// More lines than this are a table and no picture.
const MOST_LINES: usize = 9;
/// Columns beside the bar and the name: share, time and the gaps between.
const NUMBER_COLUMNS: usize = 20;
/// Names longer than this go on in a second line; in the narrowest text they leave no bar, and the numbers speak alone.
const NAME_COLUMNS: usize = 50;

/// What is left of a name on its second line is cut here.
const REST_COLUMNS: usize = 74;

/// One line to be drawn.
struct Line {
    name: String,
    /// What of its name finds no room beside the numbers.
    rest: String,
    time: Nanos,
}

/// The ledger as text; empty where there is none.
pub(super) fn text(answer: &Answer, style: Style) -> String {
    let ledger = &answer.ledger;
    if ledger.total == 0 {
        return String::new();
    }
    let lines = lines(answer);
    let total = Nanos(ledger.total);
    let names = lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
    let bar_columns = style.columns().saturating_sub(names + NUMBER_COLUMNS);
    let mut text = format!("Where the time went ({total} in total):\n");
    for line in lines {
        let share = line.time.share_of(total);
        let bar = bar("#", share.0, bar_columns, style);
        let numbers = format!("{:>6}  {:>7}", share.to_string(), line.time.to_string());
        let row = format!("  {:<names$} {numbers}  {bar}", line.name);
        text.push_str(row.trim_end());
        text.push('\n');
        if !line.rest.is_empty() {
            text += &format!("    {}\n", line.rest);
        }
    }
    text
}

/// The ledger as a table: accounts, largest first; small ones in one row.
pub(super) fn parts(answer: &Answer) -> Vec<Part> {
    let ledger = &answer.ledger;
    if ledger.total == 0 {
        return Vec::new();
    }
    let total = Nanos(ledger.total);
    let row = |name: &str, time: Nanos| Row::new(name, [time.share_of(total).to_string(), time.to_string()]);
    let accounts = ledger.explained();
    let is_large = |time: Nanos| time.share_of(total).0 >= LEAST_ROW;
    let (large, small): (Vec<_>, Vec<_>) = accounts.into_iter().partition(|account| is_large(Nanos(account.ns)));
    let mut rows = large.iter().map(|account| row(&called(account, answer), Nanos(account.ns))).collect::<Vec<_>>();
    if !small.is_empty() {
        let sum = small.iter().map(|account| Nanos(account.ns)).sum();
        rows.push(row(&format!("other ({} accounts)", small.len()), sum));
    }
    rows.push(row(&Account::Unexplained.name(), Nanos(ledger.unexplained)));
    rows.push(row("total", total));
    under("Where the time went", [Part::Table(Table::of("Account", ["Share", "Time"], rows))])
}

/// The accounts worth a line, largest first, then what is folded together, then what no account explains.
fn lines(answer: &Answer) -> Vec<Line> {
    let ledger = &answer.ledger;
    let accounts = ledger.explained();
    let is_large = |ns: u64| Nanos(ns).share_of(Nanos(ledger.total)).0 >= LEAST_SHARE;
    let shown = accounts.iter().take(MOST_LINES).filter(|account| is_large(account.ns)).count();
    let line = |name: &str, ns: u64| {
        let (name, rest) = in_two(&clean(name));
        Line { name, rest, time: Nanos(ns) }
    };
    let mut lines =
        accounts[..shown].iter().map(|account| line(&called(account, answer), account.ns)).collect::<Vec<_>>();
    match &accounts[shown..] {
        [] => {}
        [one] => lines.push(line(&called(one, answer), one.ns)),
        rest => {
            let sum = rest.iter().map(|account| account.ns).sum();
            lines.push(line(&format!("other ({} accounts)", rest.len()), sum));
        }
    }
    lines.push(line(&Account::Unexplained.name(), ledger.unexplained));
    lines
}

/// An account by the name that fits the run.
fn called(one: &AccountTime, answer: &Answer) -> String {
    if is_of_the_run(&one.account, answer) { one.account.name_of_run() } else { one.name.clone() }
}

/// A name in at most two lines, the first broken between words.
fn in_two(name: &str) -> (String, String) {
    let wrapped = wrap(name, NAME_COLUMNS, "", "");
    let Some((first, rest)) = wrapped.trim_end().split_once('\n') else {
        return (shorten(wrapped.trim_end(), NAME_COLUMNS), String::new());
    };
    (shorten(first, NAME_COLUMNS), shorten(&rest.replace('\n', " "), REST_COLUMNS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::answer as examples;

    #[test]
    fn accounts_have_bars_and_small_ones_are_folded() {
        let expected = "\
Where the time went (11.0 s in total):
  held back until the peer's ACK   93 %   10.3 s  ############################
  server thinking                 4.2 %   462 ms  #
  other (2 accounts)              1.2 %   132 ms
  unexplained                     1.3 %   146 ms
";
        assert_eq!(text(&examples::slow(), Style::default()), expected);
    }

    #[test]
    fn without_requests_nothing_is_between_them() {
        let mut answer = examples::slow();
        answer.ledger.accounts[0] =
            AccountTime::new(Account::CpuOutside { module: Some("libz.so.1".into()) }, 9_000_000_000);
        assert!(text(&answer, Style::default()).contains("  CPU between requests: libz.so.1"));
        answer.exchanges = 0;
        assert!(text(&answer, Style::default()).contains("  CPU: libz.so.1"));
    }

    #[test]
    fn no_line_is_longer_than_80_columns_whatever_the_names() {
        let mut answer = examples::slow();
        answer.ledger.accounts[0].name = "long ".repeat(40);
        assert!(text(&answer, Style::default()).lines().all(|line| line.chars().count() <= 80));
    }
}
