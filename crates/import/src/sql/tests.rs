use super::*;

fn rows() -> Vec<TrafficRow> {
    let agent = |name: &str, requests| TrafficRow {
        part: "agent".into(),
        agent: name.into(),
        requests,
        first_s: 90_000,
        took: case::Nanos(1_500_000_000),
        ..TrafficRow::default()
    };
    vec![agent("Bot", 7), agent("Browser", 3)]
}

fn ask(query: &str) -> Result<Selected, String> {
    let mut table = Table::new().expect("a table");
    table.add(&rows(), [Some("web1"), None]).expect("rows");
    table.select(query, 1_000).map_err(|error| error.to_string())
}

fn cells(query: &str) -> Vec<Vec<SelectedCell>> {
    ask(query).expect("an answer").rows
}

#[test]
fn rows_are_asked_by_the_names_of_their_columns_and_by_host() {
    let query = "SELECT agent, sum(requests) AS requests, sum(took) / 1e9, host, day FROM traffic
        WHERE part = 'agent' GROUP BY agent ORDER BY requests DESC;";
    let answer = ask(query).expect("an answer");
    assert_eq!(answer.columns[..2], ["agent", "requests"]);
    let row = |agent: &str, requests| {
        let host = SelectedCell::Text("web1".into());
        let agent = SelectedCell::Text(agent.into());
        vec![agent, SelectedCell::Integer(requests), SelectedCell::Real(1.5), host, SelectedCell::Nothing(())]
    };
    assert_eq!(answer.rows, [row("Bot", 7), row("Browser", 3)]);
    assert!(!answer.cut);
}

#[test]
fn the_questions_that_are_shipped_are_answered() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/sql");
    let mut asked = 0;
    for file in std::fs::read_dir(folder).expect("questions").map(|entry| entry.expect("an entry").path()) {
        if file.extension().is_some_and(|ending| ending == "sql") {
            ask(&std::fs::read_to_string(&file).expect("text"))
                .unwrap_or_else(|why| panic!("{}: {why}", file.display()));
            asked += 1;
        }
    }
    assert!(asked >= 7, "{asked}");
    let hours = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/sql/hours.sql"));
    let hours = cells(&hours.expect("text").replace("'time'", "'agent'"));
    let [day, hour] = [86_400, 1].map(SelectedCell::Integer);
    assert_eq!(hours[0][..2], [day, hour]);
}

#[test]
fn nothing_is_changed_attached_set_or_read_besides() {
    for query in [
        "DROP TABLE traffic",
        "DELETE FROM traffic",
        "INSERT INTO traffic (agent) VALUES ('x') RETURNING agent",
        "CREATE TABLE other AS SELECT * FROM traffic",
        "ATTACH '/tmp/whyslow-sql-test' AS other",
        "VACUUM INTO '/tmp/whyslow-sql-test'",
        "PRAGMA hard_heap_limit = 0",
        "SELECT * FROM pragma_hard_heap_limit",
        "SELECT load_extension('/tmp/x')",
        "BEGIN",
        "COMMIT",
    ] {
        let said = ask(query).expect_err(query);
        assert!(!said.is_empty(), "{query}");
    }
    assert!(!Path::new("/tmp/whyslow-sql-test").exists());
    assert_eq!(ask("DROP TABLE traffic"), Err("only SELECT is answered: a question changes nothing".into()));
}

#[test]
fn what_is_no_question_is_said_in_the_engines_words() {
    assert_eq!(ask("SELECT agents FROM traffic"), Err("no such column: agents".into()));
    assert_eq!(ask("SELEKT 1"), Err("near \"SELEKT\": syntax error".into()));
    assert_eq!(ask("SELECT 1; SELECT 2"), Err("it is more than one question".into()));
    assert_eq!(ask(" -- nothing"), Err("SQL is empty or comment only".into()));
}

#[test]
fn an_answer_without_end_is_cut_and_one_without_bounds_refused() {
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    let answer = ask(endless).expect("an answer");
    assert_eq!((answer.rows.len(), answer.cut), (1_000, true));
    assert_eq!(ask("SELECT zeroblob(1000000000)"), Err("string or blob too big".into()));
}

#[test]
fn a_cubes_place_says_host_and_day() {
    let path = Path::new("/cubes/host=web1/day=2024-05-01/cube.parquet");
    assert_eq!(PLACES.map(|place| said(path, place)), [Some("web1"), Some("2024-05-01")]);
    assert_eq!(said(Path::new("/hostess=x/cube.parquet"), "host"), None);
}
