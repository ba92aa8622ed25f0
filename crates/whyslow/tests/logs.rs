//! `whyslow logs`: a story of a crawler, logs that servers wrote, and what cannot be read.

use crate::stage::{Background, Stage, free_port, wait_until};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use testing::skip;

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
    assert!(ran.stdout.starts_with("No crawler makes 5 %"), "{}", ran.stdout);
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
fn what_nginx_writes_is_read_whatever_its_format() {
    let stage = Stage::new();
    if Command::new("nginx").arg("-v").output().is_err() {
        skip("nginx is not installed");
        return;
    }
    let port = free_port();
    let folder = stage.path("");
    let folder = folder.display();
    let own = r#"$msec $remote_addr "$request" $status $body_bytes_sent $request_time "$http_user_agent""#;
    let json = r#"{"time":"$time_iso8601","remote_addr":"$remote_addr","request_uri":"$request_uri","status":$status,"body_bytes_sent":$body_bytes_sent,"request_time":$request_time,"http_user_agent":"$http_user_agent"}"#;
    let configuration = format!(
        "daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;\nevents {{}}\n\
         http {{ log_format own '{own}'; log_format as_json escape=json '{json}';\n\
         access_log {folder}/combined.log combined; access_log {folder}/own.log own; access_log {folder}/json.log as_json;\n\
         client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;\n\
         uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;\n\
         server {{ listen 127.0.0.1:{port}; location / {{ return 200 'hello'; }} }} }}\n"
    );
    std::fs::write(stage.path("nginx.conf"), configuration).expect("written");
    let mut command = Command::new("nginx");
    command.arg("-c").arg(stage.path("nginx.conf")).stderr(Stdio::null());
    let server = Background(command.spawn().expect("nginx"));
    wait_until("nginx listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    for agent in ["curl/8.5.0", "say \"hi\" \\ and [more]", "", "b\u{e9}te"] {
        for at in 0..5 {
            let mut connection = TcpStream::connect(("127.0.0.1", port)).expect("connected");
            let head = if agent.is_empty() { String::new() } else { format!("User-Agent: {agent}\r\n") };
            let request = format!("GET /item/{at}?q=%22 HTTP/1.1\r\nHost: x\r\n{head}Connection: close\r\n\r\n");
            connection.write_all(request.as_bytes()).expect("sent");
            connection.read_to_end(&mut Vec::new()).expect("answered");
        }
    }
    let lines = |name: &str| std::fs::read_to_string(stage.path(name)).map_or(0, |text| text.lines().count());
    wait_until("all is logged", || lines("json.log") >= 20 && lines("own.log") >= 20);
    drop(server);
    for (file, format) in [("combined.log", None), ("own.log", Some(own)), ("json.log", None)] {
        let mut asked = vec!["logs", "--json", file];
        asked.extend(format.into_iter().flat_map(|format| ["--format", format]));
        let said = stage.run(&asked).json();
        assert_eq!(said["malformed"], 0, "{file}: {said}");
        let routes = said["routes"].as_array().expect("routes");
        let items = routes.iter().find(|route| route["name"] == "/item/{n}?").expect("the items");
        assert_eq!((&items["demand"]["requests"], &items["demand"]["bytes"]), (&20.into(), &100.into()), "{file}");
        let agents = said["agents"].to_string();
        assert!(agents.contains("\"curl\"") && agents.contains("no agent"), "{file}: {agents}");
    }
}
