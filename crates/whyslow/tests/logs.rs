//! `whyslow logs`: a story of a crawler, logs that servers wrote, cubes, and what cannot be read.

mod servers;

use crate::stage::Stage;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// 2024-05-01 00:00 UTC.
const START: u64 = 1_714_521_600;
const DAYS: u64 = 6;
/// The hour of the story in which the crawler comes.
const ONSET: u64 = 83;

/// A number that looks as if by chance, the same each time.
fn chance(seed: u64, below: u64) -> u64 {
    let mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb) % below
}

fn line(second: u64, address: &str, target: &str, bytes: u64, agent: &str) -> String {
    let (day, second) = (1 + (second - START) / 86_400, (second - START) % 86_400);
    let clock = format!("{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60);
    format!("{address} - - [{day:02}/May/2024:{clock} +0000] \"GET {target} HTTP/1.1\" 200 {bytes} \"-\" \"{agent}\"\n")
}

/// One hour of a blog: visitors by day and night, a search engine all along, and a crawler from some hour on, whose name
/// somebody else uses as well.
fn hour(hour: u64) -> String {
    let mut text = String::new();
    let visitors = if (8..22).contains(&(hour % 24)) { 60 } else { 15 };
    for at in 0..visitors + chance(hour, 9) {
        let seed = hour * 1_000 + at;
        let address = format!("198.51.{}.{}", chance(seed, 50), chance(seed + 1, 250));
        let target = format!("/post/{}", chance(seed + 2, 40));
        let agent = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
        text += &line(START + hour * 3_600 + at * 40, &address, &target, 9_000, agent);
    }
    let search = "Mozilla/5.0 (compatible; SearchBot/2.1; +http://search.example/bot)";
    text += &line(START + hour * 3_600 + 7, "192.0.2.9", "/feed", 2_000, search);
    let crawled = if hour >= ONSET { 180 + chance(hour, 20) } else { 0 };
    for at in 0..crawled {
        let address = if at.is_multiple_of(10) { format!("192.0.2.{at}") } else { format!("203.0.113.{}", at % 8) };
        let target = format!("/tag/{}?page={at}", chance(at, 500));
        text +=
            &line(START + hour * 3_600 + at * 15, &address, &target, 12_000, "ExampleBot/1.0 (+http://bot.example)");
    }
    text
}

/// The blog's log, rotated by the day, all but the last packed: how many lines it has.
fn story(stage: &Stage) -> u64 {
    std::fs::create_dir(stage.path("log")).expect("a folder");
    let mut lines = 0;
    for day in 0..DAYS {
        let text = (day * 24..(day + 1) * 24).map(hour).collect::<String>();
        lines += text.lines().count() as u64;
        let age = DAYS - 1 - day;
        let name = if age == 0 { "log/access.log".to_string() } else { format!("log/access.log.{age}") };
        std::fs::write(stage.path(&name), text).expect("written");
        if age > 1 {
            assert!(Command::new("gzip").arg(stage.path(&name)).status().expect("gzip").success());
        }
    }
    std::fs::write(stage.path("log/notes.txt"), "rotate this some day\n").expect("written");
    lines
}

#[test]
fn the_crawler_its_onset_its_share_and_what_blocking_saves_are_named() {
    let stage = Stage::new();
    let lines = story(&stage);
    std::fs::write(stage.path("ranges.txt"), "ExampleBot 203.0.113.0/24\n").expect("written");
    let asked = ["logs", "--json", "--ranges", "ranges.txt", "log", "-o", "page.html"];
    let ran = stage.run(&asked);
    assert_eq!(ran.code, 1, "{ran:?}");
    let said = ran.json();
    assert_eq!((said["lines"].as_u64(), said["malformed"].as_u64()), (Some(lines), Some(0)));
    let names = |list: &Value| {
        let one =
            |one: &Value| format!("{} {}", one["name"].as_str().expect("a name"), one["claim"].as_str().expect("one"));
        list.as_array().expect("a list").iter().map(one).collect::<Vec<_>>()
    };
    assert_eq!(names(&said["suspects"]), ["ExampleBot verified", "ExampleBot forged"]);
    let crawler = &said["suspects"][0];
    let onset = &crawler["onset"];
    let truth = START + ONSET * 3_600;
    assert!(onset["at_s"].as_u64().expect("a time").abs_diff(truth) <= 3_600, "{onset}");
    assert!(onset["low_s"].as_u64() <= Some(truth) && onset["high_s"].as_u64() >= Some(truth), "{onset}");
    assert_eq!(onset["file"], "log/access.log.2.gz");
    assert_eq!(crawler["networks"][0]["name"], "203.0.113.0/24");
    assert_eq!(crawler["routes"][0]["name"], "/tag/{n}?");
    assert!(crawler["share_of_requests"].as_f64() > Some(0.5));
    assert!(crawler["rules"].to_string().contains("$http_user_agent ~* "));
    assert_eq!(said["suspects"][1]["rules"][0]["text"], "deny 192.0.2.0/24;");
    let skipped = said["files"].as_array().expect("files").iter().filter(|file| file["skipped"] == true).count();
    assert_eq!(skipped, 1);
    let page = std::fs::read_to_string(stage.path("page.html")).expect("a page");
    assert!(page.contains("ExampleBot (verified)") && page.contains("class=\"over-time wide plot\""));
    let text = stage.run(&["logs", "log"]).stdout;
    assert!(text.starts_with("ExampleBot (crawler) makes "), "{text}");
    let wide = text.lines().find(|line| line.chars().count() > 80 && !line.contains("http"));
    assert_eq!(wide, None);
}

#[test]
fn a_blog_without_a_crawler_has_nobody_to_turn_away() {
    let stage = Stage::new();
    std::fs::write(stage.path("log"), (0..72).map(hour).collect::<String>()).expect("written");
    let ran = stage.run(&["logs", "log"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.starts_with("No crawler makes up 5 %"), "{}", ran.stdout);
}

#[test]
fn standard_input_is_read_and_a_format_of_ones_own_is_understood() {
    let stage = Stage::new();
    let mut text = String::new();
    for at in 0..50 {
        let _ = writeln!(text, "10.0.0.{at}|2024-05-01T00:00:{at:02}Z|/a/{at}|404|0.5");
    }
    text += "broken\n";
    let format = "$remote_addr|$time_iso8601|$request_uri|$status|$request_time";
    let mut command = stage.whyslow(&["logs", "--json", "--format", format, "-"]);
    let mut running = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("whyslow");
    running.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("written");
    let said: Value = serde_json::from_slice(&running.wait_with_output().expect("ended").stdout).expect("JSON");
    assert_eq!((&said["lines"], &said["malformed"], &said["timed"]), (&51.into(), &1.into(), &50.into()));
    assert_eq!(said["malformed_examples"][0]["text"], "broken");
    assert_eq!((&said["routes"][0]["name"], &said["total"]["took_ns"]), (&"/a/{n}".into(), &25_000_000_000u64.into()));
}

#[test]
fn what_cannot_be_read_is_said_in_three_lines() {
    let stage = Stage::new();
    assert!(stage.run(&["logs", "missing"]).error()[1].contains("missing"));
    assert!(stage.run(&["logs", "--format", "nothing", "x"]).error()[1].contains("neither $variables"));
    std::fs::write(stage.path("log"), hour(0)).expect("written");
    assert!(stage.run(&["logs", "log", "-o", "page.pdf"]).error()[0].contains("-o"));
    std::fs::write(stage.path("prose"), "This is no log.\n").expect("written");
    assert_eq!(stage.run(&["logs", "prose"]).code, 3);
}

#[test]
fn cubes_of_each_day_are_together_what_one_pass_says() {
    let stage = Stage::new();
    story(&stage);
    let whole = stage.run(&["logs", "--json", "log/access.log.1", "log/access.log", "log/access.log.2.gz"]).json();
    for (host, file) in [("a", "access.log"), ("a", "access.log.1"), ("b", "access.log.2.gz")] {
        let cube = format!("cubes/host={host}/day={file}/cube.parquet");
        let ran = stage.run(&["logs", "--json", &format!("log/{file}"), "--cube", &cube]);
        assert!(ran.code <= 1, "{ran:?}");
    }
    let merged = stage.run(&["logs", "merge", "cubes", "--json", "-o", "page.html", "--cube", "all.parquet"]);
    assert_eq!(merged.code, 1, "{merged:?}");
    let merged = merged.json();
    for part in ["lines", "total", "addresses", "agents", "networks", "routes", "series", "days"] {
        assert_eq!(merged[part], whole[part], "{part}");
    }
    let onset = &merged["suspects"][0]["onset"];
    assert_eq!(onset["at_s"], whole["suspects"][0]["onset"]["at_s"]);
    assert_eq!(onset["file"], "b:log/access.log.2.gz");
    assert_eq!(stage.run(&["logs", "merge", "all.parquet", "--json"]).json()["total"], whole["total"]);
    assert!(std::fs::read_to_string(stage.path("page.html")).expect("a page").contains("class=\"hours wide\""));
    let question = "SELECT host, sum(requests) AS requests FROM traffic WHERE part = 'all' GROUP BY host ORDER BY host";
    let asked = stage.run(&["logs", "merge", "cubes", "--sql", question, "--json"]).json();
    let requests = |row: usize| asked["rows"][row][1].as_u64().unwrap_or_default();
    assert_eq!((&asked["rows"][0][0], &asked["rows"][1][0]), (&"a".into(), &"b".into()), "{asked}");
    assert_eq!(Some(requests(0) + requests(1)), whole["total"]["requests"].as_u64());
    let refused = stage.run(&["logs", "merge", "log/access.log"]);
    assert!(refused.error()[1].contains("no Parquet file"), "{refused:?}");
}

#[test]
fn a_question_in_sql_is_answered_as_a_table_and_one_that_changes_anything_refused() {
    let stage = Stage::new();
    std::fs::write(stage.path("log"), hour(ONSET)).expect("written");
    let question = "SELECT agent, requests FROM traffic WHERE part = 'agent' ORDER BY requests DESC LIMIT 1";
    let answer = stage.run(&["logs", "log", "--sql", question]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let lines: Vec<Vec<&str>> = answer.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!((&lines[0][..], lines[1][0]), (&["agent", "requests"][..], "ExampleBot"), "{answer:?}");
    let refused = stage.run(&["logs", "log", "--sql", "DROP TABLE traffic"]);
    assert!(refused.error()[1].contains("only SELECT"), "{refused:?}");
    let misspelt = stage.run(&["logs", "log", "--sql", "SELECT agents FROM traffic"]);
    assert!(misspelt.error()[1].contains("no such column: agents"), "{misspelt:?}");
}

#[test]
fn questions_in_sql_have_the_answers_of_merge_and_of_the_engines_that_are_installed() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contrib/sql/check.py");
    let stage = Stage::new();
    story(&stage);
    for day in ["access.log", "access.log.1"] {
        let cube = format!("cubes/host=a/day={day}/cube.parquet");
        stage.run(&["logs", &format!("log/{day}"), "--cube", &cube]);
    }
    let cubes = stage.path("cubes");
    let checked = Command::new("python3").args([script, env!("CARGO_BIN_EXE_whyslow")]).arg(cubes).output();
    let checked = checked.expect("python3 runs");
    let said = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success(), "{said}{}", String::from_utf8_lossy(&checked.stderr));
    for question in ["agents", "routes", "networks", "hours", "total"] {
        let line = said.lines().find(|line| line.starts_with(&format!("whyslow {question}:")));
        assert!(line.is_some_and(|line| line.ends_with("as whyslow's")), "{said}");
    }
}

#[test]
#[ignore = "long: make stories"]
fn a_log_is_followed_over_rotation_and_an_agents_share_raises_an_alarm() {
    let stage = Stage::new();
    let receiver = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", receiver.local_addr().expect("an address"));
    let rules = format!(
        "[[rule]]\nname = 'crawled'\nwhen = 'share > 30 %'\nagent = '*Bot'\n[[channel]]\nname = 'a'\nwebhook = {{ url = '{url}' }}\n"
    );
    std::fs::write(stage.path("rules.toml"), rules).expect("written");
    std::fs::write(stage.path("log"), hour(0)).expect("written");
    let (told, alarm) = mpsc::channel();
    std::thread::spawn(move || {
        let Ok((mut connection, _)) = receiver.accept() else { return };
        let mut request = Vec::new();
        let mut buffer = [0; 4_096];
        while let Ok(read) = connection.read(&mut buffer)
            && read > 0
        {
            request.extend_from_slice(&buffer[..read]);
            if request.ends_with(b"}") {
                break;
            }
        }
        let _ = connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
        let _ = told.send(String::from_utf8_lossy(&request).into_owned());
    });
    let asked = ["logs", "-f", "log", "--alarms", "rules.toml", "--duration", "14s", "--json"];
    let mut command = stage.whyslow(&asked);
    let following = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("whyslow");
    std::thread::sleep(Duration::from_secs(3));
    let append = |text: &str| {
        let log = std::fs::OpenOptions::new().append(true).create(true).open(stage.path("log"));
        log.and_then(|mut log| log.write_all(text.as_bytes())).expect("written");
    };
    append(&hour(90));
    std::fs::rename(stage.path("log"), stage.path("log.1")).expect("rotated");
    append(&hour(91));
    let ran = following.wait_with_output().expect("ended");
    let said: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    let came = [hour(90), hour(91)].iter().map(|text| text.lines().count()).sum::<usize>();
    assert_eq!((&said["lines"], &said["malformed"]), (&came.into(), &0.into()));
    let message = alarm.recv_timeout(Duration::from_secs(5)).expect("an alarm");
    assert!(message.contains("crawled") && message.contains("ExampleBot"), "{message}");
    let refused = stage.run(&["logs", "--alarms", "rules.toml", "log"]);
    assert_eq!(refused.code, 2, "an alarm about what is over: {refused:?}");
}
