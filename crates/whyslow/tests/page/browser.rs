//! A headless Chromium, driven over its debugging pipe: loads a file, clicks, types, and remembers every request, every
//! console message and every dialogue.

use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::stat::Mode;
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use testing::skip;

/// Where Debian and others put it.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// No answer of Chromium takes so long, not even on a busy machine; in milliseconds.
const PATIENCE: u16 = 60_000;

/// How a page is looked at.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Width of the window, in CSS pixels.
    pub width: u32,
    /// Whether the system prefers dark colours.
    pub dark: bool,
    /// Whether scripts run.
    pub scripts: bool,
}

/// A wide window, light, with scripts.
pub const WIDE: View = View { width: 1280, dark: false, scripts: true };

/// A browser with one tab.
pub struct Browser {
    child: Child,
    commands: File,
    answers: BufReader<File>,
    session: String,
    last_id: u64,
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts one; none where no Chromium is installed, which is said.
    pub fn start() -> Option<Browser> {
        let is_there =
            |name: &&&str| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
        let Some(name) = NAMES.iter().find(is_there) else {
            skip("needs chromium");
            return None;
        };
        let profile = tempfile::tempdir().expect("a folder for the profile");
        let pipes = ["commands", "answers"].map(|name| profile.path().join(name));
        for pipe in &pipes {
            nix::unistd::mkfifo(pipe, Mode::S_IRUSR | Mode::S_IWUSR).expect("a named pipe");
        }
        // Chromium reads commands from descriptor 3 and answers on 4; a shell puts them there. Root needs --no-sandbox.
        let script = "exec \"$0\" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
            --disable-background-networking --disable-component-update --hide-scrollbars \
            --user-data-dir=\"$1\" --remote-debugging-pipe about:blank 3<\"$2\" 4>\"$3\"";
        let child = Command::new("sh")
            .args(["-c", script, name])
            .arg(profile.path().join("profile"))
            .args(&pipes)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromium starts");
        let commands = OpenOptions::new().write(true).open(&pipes[0]).expect("the commands' pipe");
        let answers = BufReader::new(File::open(&pipes[1]).expect("the answers' pipe"));
        let mut browser = Browser {
            child,
            commands,
            answers,
            session: String::new(),
            last_id: 0,
            events: Vec::new(),
            _profile: profile,
        };
        browser.attach();
        Some(browser)
    }

    fn attach(&mut self) {
        // The tab that is in front: one in the background is never drawn. It may take a moment to be there.
        let target = loop {
            let targets = self.call("Target.getTargets", &json!({}));
            let tab =
                targets["targetInfos"].as_array().into_iter().flatten().find(|one| one["type"] == "page").cloned();
            if let Some(tab) = tab {
                break tab;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let attached = self.call("Target.attachToTarget", &json!({"targetId": target["targetId"], "flatten": true}));
        self.session = attached["sessionId"].as_str().expect("a session").to_string();
        self.call("Page.bringToFront", &json!({}));
        for domain in ["Page", "Runtime", "Network", "Log"] {
            self.call(&format!("{domain}.enable"), &json!({}));
        }
        self.call("Page.setLifecycleEventsEnabled", &json!({"enabled": true}));
    }

    /// Sends a command and waits for its answer; what happens meanwhile is remembered.
    pub fn call(&mut self, method: &str, parameters: &Value) -> Value {
        let id = self.send(method, parameters);
        loop {
            let message = self.next_message();
            if message["id"] == json!(id) {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.take_event(message);
        }
    }

    fn send(&mut self, method: &str, parameters: &Value) -> u64 {
        self.last_id += 1;
        let mut command = json!({"id": self.last_id, "method": method, "params": parameters});
        if !self.session.is_empty() {
            command["sessionId"] = json!(self.session);
        }
        self.commands.write_all(format!("{command}\0").as_bytes()).expect("chromium listens");
        self.last_id
    }

    fn next_message(&mut self) -> Value {
        if self.answers.buffer().is_empty() {
            let mut pipe = [PollFd::new(self.answers.get_ref().as_fd(), PollFlags::POLLIN)];
            assert_eq!(poll(&mut pipe, PATIENCE), Ok(1), "chromium has said nothing for a minute");
        }
        let mut bytes = Vec::new();
        self.answers.read_until(0, &mut bytes).expect("chromium answers");
        assert_eq!(bytes.pop(), Some(0), "chromium has ended");
        serde_json::from_slice(&bytes).expect("chromium speaks JSON")
    }

    /// A dialogue would stop the page for good: it is closed, and remembered.
    fn take_event(&mut self, event: Value) {
        let is_dialogue = event["method"] == "Page.javascriptDialogOpening";
        self.events.push(event);
        if is_dialogue {
            self.send("Page.handleJavaScriptDialog", &json!({"accept": false}));
        }
    }

    /// Opens a file, and waits until it is loaded and drawn.
    pub fn open(&mut self, file: &Path, view: View) {
        self.open_at(file, "", view);
    }

    /// The same, at an anchor of it.
    pub fn open_at(&mut self, file: &Path, anchor: &str, view: View) {
        self.events.clear();
        let scheme = if view.dark { "dark" } else { "light" };
        let metrics = json!({"width": view.width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", &features);
        self.call("Emulation.setScriptExecutionDisabled", &json!({"value": !view.scripts}));
        // From another page, so that a second anchor of the same file loads it anew.
        self.go_to("about:blank");
        self.go_to(&format!("file://{}{anchor}", file.display()));
        if view.scripts {
            self.settle();
        }
    }

    /// Navigates, and waits until what was asked for is loaded: events of the page before have another loader.
    fn go_to(&mut self, address: &str) {
        let loader = self.call("Page.navigate", &json!({"url": address}))["loaderId"].clone();
        let is_loaded = |event: &Value| {
            event["method"] == "Page.lifecycleEvent"
                && event["params"]["loaderId"] == loader
                && event["params"]["name"] == "load"
        };
        while !self.events.iter().any(is_loaded) {
            let event = self.next_message();
            self.take_event(event);
        }
    }

    /// Waits for two frames to be drawn; where none are, because nothing changes, for a moment.
    pub fn settle(&mut self) {
        self.evaluate(
            "new Promise(done => { requestAnimationFrame(() => requestAnimationFrame(done)); setTimeout(done, 150); }) \
             .then(() => true)",
        );
    }

    /// The value of an expression in the page; of a promise, what it comes to.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", &asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// The same as text.
    pub fn text(&mut self, expression: &str) -> String {
        self.evaluate(expression).as_str().unwrap_or_default().to_string()
    }

    /// Clicks where the middle of the first element of a selector is, as a hand would.
    pub fn click(&mut self, selector: &str) {
        let name = json!(selector);
        let place = self.evaluate(&format!(
            "(() => {{ const one = document.querySelector({name}); if (!one) return null; \
             one.scrollIntoView({{block: 'center'}}); const box = one.getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        assert!(place.is_array(), "nothing to click: {selector}");
        self.click_at(place[0].as_f64().expect("x"), place[1].as_f64().expect("y"));
    }

    /// Clicks at a point of the window.
    pub fn click_at(&mut self, x: f64, y: f64) {
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", &event);
        }
        self.settle();
    }

    /// Types text into what has the focus.
    pub fn write(&mut self, text: &str) {
        self.call("Input.insertText", &json!({"text": text}));
        self.settle();
    }

    /// Presses a key by its name: `Enter`, `Escape`, `Tab`.
    pub fn press(&mut self, key: &str) {
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "Tab" => 9,
            other => panic!("no code for {other}"),
        };
        let text = if key == "Enter" { "\r" } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text});
            self.call("Input.dispatchKeyEvent", &event);
        }
        self.settle();
    }

    /// What went wrong in the page, a line each: errors, warnings, refused content, dialogues, uncaught exceptions.
    pub fn problems(&self) -> Vec<String> {
        let is_problem = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.consoleAPICalled") => {
                matches!(event["params"]["type"].as_str(), Some("error" | "warning" | "assert"))
            }
            Some("Log.entryAdded") => {
                matches!(event["params"]["entry"]["level"].as_str(), Some("error" | "warning"))
            }
            Some("Runtime.exceptionThrown" | "Page.javascriptDialogOpening") => true,
            _ => false,
        };
        self.events.iter().filter(is_problem).map(|event| event["params"].to_string()).collect()
    }

    /// What the page asked for, itself included.
    pub fn requests(&self) -> Vec<String> {
        let sent = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        sent.filter_map(|event| event["params"]["request"]["url"].as_str().map(str::to_string)).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
