//! What nginx is told: to pass everything on as it is, but for its tasks.

use crate::treatment::{Proxy, ProxyTask};
use std::net::SocketAddr;
use std::path::Path;

/// The file in which it notes, of each request, which of its tasks it did.
pub(super) const NOTES: &str = "notes";

/// Types of text beside text/html, which nginx always compresses.
const TEXTS: &str = "text/plain text/css text/csv text/xml text/javascript application/json application/javascript \
                     application/xml application/xhtml+xml application/rss+xml application/atom+xml application/ld+json \
                     application/problem+json application/vnd.api+json application/x-ndjson image/svg+xml";

/// For all requests. Nothing ends by itself, has a limit or waits on a disk; heads pass as they are.
const COMMON: &str = "\
    keepalive_timeout 1h;
    keepalive_requests 1000000000;
    client_max_body_size 0;
    client_header_buffer_size 16k;
    large_client_header_buffers 8 64k;
    ignore_invalid_headers off;
    underscores_in_headers on;
    merge_slashes off;
    send_timeout 1h;
    proxy_http_version 1.1;
    proxy_set_header Host $http_host;
    proxy_pass_header Server;
    proxy_pass_header Date;
    proxy_max_temp_file_size 0;
    proxy_read_timeout 1h;
    proxy_send_timeout 1h;
";

/// How answers pass: as they come, which nobody waits for.
const AT_ONCE: &str = "\
    proxy_buffering off;
    proxy_buffer_size 64k;
    proxy_buffers 8 64k;
    proxy_busy_buffers_size 128k;
";
/// In pieces that are full, which is what reads answers that nobody waits for: small ones, of which many come with a first flight.
const IN_SMALL_PIECES: &str = "\
    proxy_buffer_size 8k;
    proxy_buffers 64 4k;
    proxy_busy_buffers_size 16k;
";
/// In large ones, which are worth compressing, and writing to a cache.
const IN_LARGE_PIECES: &str = "\
    proxy_buffer_size 64k;
    proxy_buffers 64 64k;
    proxy_busy_buffers_size 256k;
";

/// Whatever the request and the answer say of themselves.
const GZIP: &str = "\
    gzip on;
    gzip_http_version 1.0;
    gzip_proxied any;
    gzip_comp_level 1;
";

/// The text of its settings. It listens at an address and asks another one.
pub(super) fn of(proxy: &Proxy, at: SocketAddr, asks: SocketAddr, folder: &Path) -> String {
    let folder = folder.display();
    let (mut maps, mut whole, mut locations) = (String::new(), String::new(), String::new());
    let keeps = !proxy.is_inert && proxy.tasks.contains(&ProxyTask::KeepConnections);
    let connection = if proxy.closes && !keeps { "close" } else { "\"\"" };
    for (place, task) in proxy.tasks.iter().enumerate() {
        let settings = of_task(task, &folder.to_string());
        maps.push_str(&format!("    map {} $done{place} {{ {} }}\n", settings.told_by.0, settings.told_by.1));
        if !proxy.is_inert {
            whole.push_str(&settings.whole);
            locations.push_str(&settings.location);
        }
    }
    let passing = match () {
        () if proxy.tasks.contains(&ProxyTask::ReadAnswers) => IN_SMALL_PIECES,
        () if proxy.tasks.iter().all(|task| matches!(task, ProxyTask::KeepConnections | ProxyTask::Answer { .. })) => {
            AT_ONCE
        }
        () => IN_LARGE_PIECES,
    };
    let noted = (0..proxy.tasks.len()).map(|place| format!("$done{place}")).collect::<String>();
    let noted = if proxy.is_inert { "0".repeat(proxy.tasks.len()) } else { noted };
    format!(
        "daemon off;
master_process off;
pid {folder}/pid;
events {{ worker_connections 4096; }}
http {{
{maps}    log_format done '{noted}';
    access_log {folder}/{NOTES} done;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{COMMON}{passing}    proxy_set_header Connection {connection};
{whole}    upstream asked {{
        server {asks} max_fails=0;
        keepalive 1024;
        keepalive_requests 1000000000;
        keepalive_timeout 1h;
    }}
    server {{
        listen {at};
        location / {{ proxy_pass http://asked; }}
{locations}    }}
}}
"
    )
}

/// What one task takes.
struct Settings {
    /// The variable that tells whether it was done for a request, and the values of `map` that make 1 or 0 of it.
    told_by: (&'static str, &'static str),
    /// For all requests.
    whole: String,
    /// For some of them.
    location: String,
}

fn of_task(task: &ProxyTask, folder: &str) -> Settings {
    let (told_by, whole, location) = match task {
        ProxyTask::KeepConnections => (("$server_port", "default 1;"), String::new(), String::new()),
        // What is to be stored is read although its client has gone; each takes the place of the one before.
        ProxyTask::ReadAnswers => (
            ("$server_port", "default 1;"),
            format!("    proxy_ignore_client_abort on;\n    proxy_store {folder}/stored;\n"),
            String::new(),
        ),
        ProxyTask::Compress => {
            (("$gzip_ratio", "\"\" 0; default 1;"), format!("{GZIP}    gzip_types {TEXTS};\n"), String::new())
        }
        ProxyTask::AskForCompressed => (
            ("$upstream_http_content_encoding", "gzip 1; default 0;"),
            "    gunzip on;\n    proxy_set_header Accept-Encoding gzip;\n".to_string(),
            String::new(),
        ),
        ProxyTask::Cache(address) => (
            ("$upstream_cache_status", "HIT 1; default 0;"),
            format!("    proxy_cache_path {folder}/cache keys_zone=kept:1m use_temp_path=off;\n"),
            cached(address),
        ),
        ProxyTask::Answer { method, path } => {
            (("$upstream_addr", "\"\" 1; default 0;"), String::new(), answered(method, path))
        }
    };
    Settings { told_by, whole, location }
}

/// One address whose answer is kept: its status and its length were the same each time.
fn cached(address: &str) -> String {
    format!(
        "        location = {address} {{
            proxy_pass http://asked;
            proxy_cache kept;
            proxy_cache_key $request_uri;
            proxy_cache_valid 200 1h;
            proxy_ignore_headers Cache-Control Expires Set-Cookie Vary X-Accel-Expires;
        }}
"
    )
}

/// Requests of one kind that never get to the server.
fn answered(method: &str, path: &str) -> String {
    format!(
        "        location ~ \"{path}\" {{
            if ($request_method = {method}) {{ return 200 \"\"; }}
            proxy_pass http://asked;
        }}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::treatment::End;
    use std::net::{IpAddr, Ipv4Addr};

    fn settings(task: ProxyTask, is_inert: bool) -> String {
        let before = "127.0.0.1:80".parse().expect("an address");
        let listens_on = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let closes = task == ProxyTask::KeepConnections;
        let proxy = Proxy { end: End::Server, listens_on, before, tasks: [task].into(), closes, is_inert };
        of(&proxy, "127.0.0.1:9000".parse().expect("an address"), before, Path::new("/f"))
    }

    #[test]
    fn an_inert_proxy_differs_by_its_task_alone() {
        let tasks = [
            (ProxyTask::KeepConnections, "Connection \"\""),
            (ProxyTask::ReadAnswers, "proxy_ignore_client_abort"),
            (ProxyTask::Compress, "gzip on"),
            (ProxyTask::AskForCompressed, "gunzip on"),
            (ProxyTask::Cache("/rates".into()), "location = /rates"),
            (ProxyTask::Answer { method: "GET".into(), path: "^/a$".into() }, "location ~ \"^/a$\""),
        ];
        for (task, acts) in tasks {
            let (acting, inert) = (settings(task.clone(), false), settings(task, true));
            assert!(acting.contains(acts) && !inert.contains(acts), "{acting}{inert}");
            assert!(inert.contains("log_format done '0'"), "{inert}");
        }
    }

    #[test]
    fn connections_are_kept_to_the_server_but_by_what_stands_for_programs_that_do_not() {
        assert!(settings(ProxyTask::KeepConnections, true).contains("Connection close;"));
        assert!(settings(ProxyTask::KeepConnections, false).contains("Connection \"\";"));
        assert!(settings(ProxyTask::Compress, true).contains("Connection \"\";"));
    }
}
