//! Logs that servers write here and now, whatever they are asked for: all lines are read.

use crate::stage::{Background, Stage, free_port, wait_until};
use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use testing::skip;

/// What agents call themselves; the third says nothing.
const AGENTS: [&str; 4] = ["curl/8.5.0", "say \"hi\" \\ and [more]", "", "b\u{e9}te"];
/// Requests that each makes.
const EACH: u64 = 5;
const ALL: u64 = AGENTS.len() as u64 * EACH;

/// Asks for twenty items.
fn ask(port: u16) {
    wait_until("the server listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    for agent in AGENTS {
        for at in 0..EACH {
            let mut connection = TcpStream::connect(("127.0.0.1", port)).expect("connected");
            let head = if agent.is_empty() { String::new() } else { format!("User-Agent: {agent}\r\n") };
            let request = format!("GET /item/{at}?q=%22 HTTP/1.1\r\nHost: x\r\n{head}Connection: close\r\n\r\n");
            connection.write_all(request.as_bytes()).expect("sent");
            connection.read_to_end(&mut Vec::new()).expect("answered");
        }
    }
}

/// Waits until all is logged, and says what is read: nothing malformed, and all items one route.
fn read(stage: &Stage, file: &str, format: Option<&str>) -> serde_json::Value {
    let lines = || std::fs::read_to_string(stage.path(file)).map_or(0, |text| text.matches("/item/").count());
    wait_until("all is logged", || lines() >= ALL as usize);
    let mut asked = vec!["logs", "--json", file];
    asked.extend(format.into_iter().flat_map(|format| ["--format", format]));
    let said = stage.run(&asked).json();
    assert_eq!(said["malformed"], 0, "{file}: {said}");
    let routes = said["routes"].as_array().expect("routes");
    let items = routes.iter().find(|route| route["name"] == "/item/{n}?").expect("the items");
    assert_eq!(items["demand"]["requests"], ALL, "{file}");
    said
}

/// A program, where it is installed.
fn installed(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|program| program.is_file());
    if found.is_none() {
        skip(&format!("{name} is not installed"));
    }
    found
}

fn start(command: &mut Command) -> Background {
    Background(command.stderr(Stdio::null()).spawn().expect("a server"))
}

#[test]
fn what_nginx_writes_is_read_whatever_its_format() {
    let stage = Stage::new();
    let Some(nginx) = installed("nginx") else { return };
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
    let _server = start(Command::new(nginx).arg("-c").arg(stage.path("nginx.conf")));
    ask(port);
    for (file, format) in [("combined.log", None), ("own.log", Some(own)), ("json.log", None)] {
        let said = read(&stage, file, format);
        assert_eq!(said["total"]["bytes"], 5 * ALL, "{file}");
        let agents = said["agents"].to_string();
        assert!(agents.contains("\"curl\"") && agents.contains("no agent"), "{file}: {agents}");
    }
}

#[test]
fn what_apache_writes_is_read_whatever_its_format() {
    let stage = Stage::new();
    let Some(apache) = installed("apache2") else { return };
    // Debian's modules lie in the library folder beside the one of the programs.
    let modules = apache.parent().and_then(|folder| folder.parent()).expect("a folder").join("lib/apache2/modules");
    let (port, folder) = (free_port(), stage.path(""));
    let (modules, folder) = (modules.display(), folder.display());
    let own = r#"%a %{sec}t.%{msec_frac}t \"%r\" %>s %O \"%{User-Agent}i\" %D"#;
    let configuration = format!(
        "LoadModule mpm_event_module {modules}/mod_mpm_event.so\nLoadModule authz_core_module {modules}/mod_authz_core.so\n\
         ServerName x\nListen 127.0.0.1:{port}\nUser nobody\n\
         Group nogroup\nDocumentRoot {folder}\nPidFile {folder}/pid\nErrorLog {folder}/error.log\nMutex file:{folder}\n\
         DefaultRuntimeDir {folder}\nLogFormat \"%h %l %u %t \\\"%r\\\" %>s %b\" common\n\
         LogFormat \"%h %l %u %t \\\"%r\\\" %>s %O \\\"%{{Referer}}i\\\" \\\"%{{User-Agent}}i\\\"\" combined\n\
         LogFormat \"{own}\" own\nCustomLog {folder}/common.log common\nCustomLog {folder}/combined.log combined\n\
         CustomLog {folder}/own.log own\n"
    );
    std::fs::write(stage.path("httpd.conf"), configuration).expect("written");
    // One process, which ends alone.
    let _server = start(Command::new(apache).args(["-X", "-f"]).arg(stage.path("httpd.conf")));
    ask(port);
    for (file, format) in [("common.log", None), ("combined.log", None), ("own.log", Some(own))] {
        let said = read(&stage, file, format);
        assert!(said["total"]["bytes"].as_u64() > Some(0), "{file}: {said}");
        assert_eq!(said["agents"].to_string().contains("\"curl\""), file != "common.log", "{file}");
    }
}

#[test]
fn what_haproxy_writes_is_read() {
    let stage = Stage::new();
    let Some(haproxy) = installed("haproxy") else { return };
    let port = free_port();
    let configuration = format!(
        "global\n log stdout format raw local0\ndefaults\n mode http\n log global\n option httplog\n timeout client 5s\n \
         timeout server 5s\n timeout connect 5s\nfrontend in\n bind 127.0.0.1:{port}\n \
         http-request return status 200 content-type text/plain string hello\n"
    );
    std::fs::write(stage.path("haproxy.cfg"), configuration).expect("written");
    let log = File::create(stage.path("haproxy.log")).expect("a file");
    let _server = start(Command::new(haproxy).arg("-f").arg(stage.path("haproxy.cfg")).stdout(log));
    ask(port);
    let said = read(&stage, "haproxy.log", None);
    assert!(said["timed"].as_u64() >= Some(ALL) && said["total"]["bytes"].as_u64() > Some(5 * ALL), "{said}");
}

#[test]
fn what_caddy_writes_is_read() {
    let stage = Stage::new();
    let Some(caddy) = installed("caddy") else { return };
    let port = free_port();
    let log = stage.path("caddy.log");
    let configuration = format!(
        "{{\n admin off\n auto_https off\n}}\n:{port} {{\n log {{\n output file {}\n }}\n respond \"hello\"\n}}\n",
        log.display()
    );
    std::fs::write(stage.path("Caddyfile"), configuration).expect("written");
    let mut command = Command::new(caddy);
    command.args(["run", "--adapter", "caddyfile", "--config"]).arg(stage.path("Caddyfile"));
    let _server = start(command.env("HOME", stage.path("")).stdout(Stdio::null()));
    ask(port);
    let said = read(&stage, "caddy.log", None);
    assert_eq!((&said["total"]["bytes"], &said["timed"]), (&(5 * ALL).into(), &ALL.into()));
    assert!(said["agents"].to_string().contains("\"curl\""), "{said}");
}
