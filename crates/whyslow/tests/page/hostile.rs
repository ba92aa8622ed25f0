//! Every string from outside is hostile: markup and scripts put through each end up as text.

use super::browser::{Browser, WIDE};
use super::subject::nagle;
use crate::stage::Stage;
use case::views::Views;
use case::views::{Difference, SideViews};
use case::{Answer, Case, Comparison, Recording, Sweep};
use report::{Body, Document, page};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::Path;

/// What is appended to every string: ends of attributes, elements and scripts, handlers, and marks that turn writing.
const HOSTILE: &str = "'\"></title></style></script><script>window.pwned=1;alert(1)</script>\
    <img src=x onerror=\"window.pwned=1\"><svg onload=window.pwned=1>javascript:window.pwned=1{{7*7}}\u{202e}\u{2028}`";

/// Fields that hold one of a few words of ours.
const OURS: [&str; 19] = [
    "kind",
    "status",
    "verdict",
    "outcome",
    "state",
    "purpose",
    "unit",
    "end",
    "stopped",
    "wait",
    "transport",
    "segment",
    "value_kind",
    "per",
    "thing",
    "handshake",
    "group",
    "when",
    "work",
];

/// A document with every string of it made hostile. Equal strings stay equal, since pages join by name.
fn poisoned<T: Serialize + DeserializeOwned>(document: &T) -> T {
    let mut value = serde_json::to_value(document).expect("JSON");
    poison(&mut value);
    serde_json::from_value(value).expect("the same shape")
}

fn poison(value: &mut Value) {
    match value {
        Value::String(text) => text.push_str(HOSTILE),
        Value::Array(items) => items.iter_mut().for_each(poison),
        Value::Object(fields) => {
            fields.iter_mut().filter(|(name, _)| !OURS.contains(&name.as_str())).for_each(|(_, field)| poison(field));
        }
        _ => {}
    }
}

/// Opens a page and sees that nothing of it ran: not at once, not when everything is opened, touched and clicked.
fn is_inert(browser: &mut Browser, file: &Path) {
    browser.open(file, WIDE);
    browser.evaluate(
        "document.querySelectorAll('details').forEach(one => one.open = true); \
         for (const kind of ['mouseenter', 'mouseover', 'mousemove', 'focus', 'click']) \
         document.querySelectorAll('main *').forEach(one => { if (one.tagName !== 'A') \
         one.dispatchEvent(new MouseEvent(kind, {bubbles: true, clientX: 40, clientY: 40})); }); true",
    );
    browser.settle();
    assert_eq!(browser.problems(), Vec::<String>::new());
    assert_eq!(browser.evaluate("window.pwned === undefined"), true, "a script from outside ran");
    let foreign = "[...document.querySelectorAll('img, iframe, object, embed, form, base, [onerror], [onload]')] \
        .concat([...document.querySelectorAll('a')].filter(one => /^javascript:/i.test(one.href))) \
        .map(one => one.outerHTML.slice(0, 120))";
    assert_eq!(browser.evaluate(foreign), json!([]));
    let outside = browser.requests().into_iter().filter(|url| !url.starts_with("file://") && url != "about:blank");
    assert_eq!(outside.collect::<Vec<_>>(), Vec::<String>::new());
}

/// Writes a page, sees that it is inert, and that it says what was put into it.
fn shows_only_text(browser: &mut Browser, folder: &Path, name: &str, document: &Document) {
    let file = folder.join(format!("{name}.html"));
    std::fs::write(&file, page(document)).expect("written");
    is_inert(browser, &file);
    let text = browser.text("document.body.textContent");
    assert!(text.contains("window.pwned=1;alert(1)"), "{name}: the strings are not on the page");
}

#[test]
fn a_page_whose_every_string_is_hostile_is_inert() {
    let (Some(subject), Some(mut browser)) = (nagle(), Browser::start()) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let case = Case::open(&subject.case).expect("the case");
    let recording = Recording::load(&case).expect("the recording");
    let answer: Answer = case.kept("answer.json").expect("readable").expect("an answer");
    let views: Views = poisoned(&diagnose::Analysis::new(&recording).views(&answer));
    let sides = |names: &[&str]| {
        names.iter().map(|name| SideViews { name: (*name).to_string(), views: views.clone() }).collect()
    };
    let answer = poisoned(&answer);
    let of_run = Document {
        body: Body::Answer(&answer),
        sides: sides(&[""]),
        differences: Vec::new(),
        arms: Vec::new(),
        manifest: None,
    };
    shows_only_text(&mut browser, folder.path(), "run", &of_run);
    let comparison: Comparison = poisoned(&comparison());
    let differences = vec![Difference { a: "A".into(), b: HOSTILE.into(), flame: views.processor.clone() }];
    let body = Body::Comparison(&comparison);
    let of_both = Document { body, sides: sides(&["A", "B"]), differences, arms: Vec::new(), manifest: None };
    shows_only_text(&mut browser, folder.path(), "comparison", &of_both);
    let sweep: Sweep = poisoned(&sweep(&answer));
    let (body, sides) = (Body::Sweep(&sweep), sides(&[HOSTILE]));
    let of_sweep = Document { body, sides, differences: Vec::new(), arms: Vec::new(), manifest: None };
    shows_only_text(&mut browser, folder.path(), "sweep", &of_sweep);
}

/// A comparison with something in every list.
fn comparison() -> Comparison {
    let code = json!({"function": "f", "module": "m", "a_ns": 10, "b_ns": 2000, "samples": 9});
    let side = json!({"command": ["a"], "server": ["s"], "changes": ["env.X=1"], "cases": ["a-1"], "exchanges": 1.0, "exit": 0});
    let empty = serde_json::to_value(Comparison::default()).expect("JSON");
    let filled = json!({
        "a": side, "b": side, "summary": "slower", "per": "run", "output": "same", "warnings": ["few samples"],
        "metrics": [{"metric": "wall_ns", "a": 1e6, "b": 2e6, "ratio": 2.0, "low": 1.9, "high": 2.1, "pairs": 9, "outcome": "more"}],
        "ledger": [{"name": "CPU: user", "a_ns": 10, "b_ns": 2000}],
        "libraries": [code], "functions": [code], "chain": [code],
        "calls": [{"call": "read", "about": "p", "a_count": 1.0, "b_count": 5.0, "a_ns": 1, "b_ns": 900}],
        "gates": [{"condition": "wall > 1x", "metric": "wall_ns", "limit": 1.0, "ratio": 2.0, "low": 1.9, "high": 2.1, "state": "failed"}],
    });
    merged(empty, &filled)
}

/// A sweep with something in every list.
fn sweep(answer: &Answer) -> Sweep {
    let point = |value: f64| {
        json!({"value": value, "label": "v", "measured": value * 1e6, "low": value * 9e5, "high": value * 1.1e6, "rate": 1.0,
            "trials": 3, "problem": "cut"})
    };
    let empty = serde_json::to_value(Sweep::default()).expect("JSON");
    let filled = json!({
        "command": ["c", "{x}"], "parameter": "x", "metric": "wall_ns", "summary": "grows", "warnings": ["left out"],
        "points": [point(1.0), point(2.0), point(4.0), point(8.0)],
        "cliffs": [{"below": 2.0, "above": 4.0, "level_below": 2e6, "level_above": 4e6, "p": 0.001, "reason": "why", "segment": null}],
        "growth": {"exponent": 2.0, "low": 1.9, "high": 2.1, "from": 1.0, "to": 8.0, "out_of_hand": true,
            "chain": [{"function": "f", "module": "m", "exponent": 2.0, "share": 0.9}]},
        "regimes": [{"from": 1.0, "to": 2.0, "at": 1.0, "case": "at-1", "findings": answer.findings, "summary": "s"}],
    });
    merged(empty, &filled)
}

/// A document with some fields replaced.
fn merged<T: DeserializeOwned>(mut whole: Value, part: &Value) -> T {
    for (name, value) in part.as_object().into_iter().flatten() {
        whole[name] = value.clone();
    }
    serde_json::from_value(whole).expect("a document")
}

/// A program that names its folder, script, process, thread, file, HTTP target, host and TLS server after markup.
const PROGRAM: &str = r#"
import os, shutil, socket, ssl, subprocess, sys, threading, time
HOSTILE = '<img src=x onerror=window.pwned=1>'
# A target has no blanks; markup needs none either.
TARGET = '<img/src=x/onerror=window.pwned=1>'
open('/proc/self/comm', 'w').write('<svg onload=1>')
shutil.copy('/bin/sleep', '<svg onload=1>')
subprocess.run(['./<svg onload=1>', '0.01'])
listener = socket.create_server(('127.0.0.1', 0))
def serve():
    while True:
        connection, _ = listener.accept()
        while connection.recv(4096):
            time.sleep(0.005)
            try: connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
            except OSError: break
thread = threading.Thread(target=serve, daemon=True)
thread.start()
open(f'/proc/self/task/{thread.native_id}/comm', 'w').write('<b onclick=1>')
for turn in range(20):
    client = socket.create_connection(listener.getsockname())
    client.sendall(f'GET /{TARGET}?q=1 HTTP/1.1\r\nHost: "{HOSTILE}\r\nUser-Agent: {HOSTILE}\r\n\r\n'.encode())
    client.recv(4096)
    client.close()
    with open(HOSTILE + str(turn % 3), 'w') as file:
        file.write('x'); file.flush(); os.fsync(file.fileno())
context = ssl.create_default_context()
context.check_hostname = False
try: context.wrap_socket(socket.create_connection(listener.getsockname()), server_hostname='<script>alert(1)<script>.test')
except (OSError, UnicodeError): pass
"#;

#[test]
fn a_program_that_names_everything_after_markup_is_shown_as_text() {
    let stage = Stage::new();
    if !stage.can_record() {
        return;
    }
    let Some(mut browser) = Browser::start() else { return };
    let folder = stage.path("<script>alert(2)<script>");
    std::fs::create_dir(&folder).expect("a folder");
    let program = folder.join("<img src=x onerror=alert(3)>.py");
    std::fs::write(&program, PROGRAM).expect("the program");
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_string());
    let directory = folder.display().to_string();
    let ran = stage.run(&[
        "run",
        "--no-prove",
        "-o",
        "case",
        "--directory",
        &directory,
        "--",
        &python,
        &program.display().to_string(),
    ]);
    assert!(matches!(ran.code, 0 | 1 | 3), "{}", ran.stderr);
    let file = stage.path("case/report.html");
    is_inert(&mut browser, &file);
    let text = browser.text("document.body.textContent");
    for name in [
        "<img src=x onerror=alert(3)>.py",
        "<script>alert(2)<script>",
        "<svg onload=1>",
        "/<img/src=x/onerror=window.pwned=1>",
    ] {
        assert!(text.contains(name), "`{name}` is not on the page");
    }
}
