//! What fields are called: nginx's variables, Apache's directives, keys in JSON.

use crate::entry::Field;

const SECOND: u64 = 1_000_000_000;
const MILLISECOND: u64 = 1_000_000;
const MICROSECOND: u64 = 1_000;

/// A variable of nginx. A few that nginx does not have are for the formats that are built in.
pub fn of_nginx(name: &str) -> Field {
    match name {
        "remote_addr" | "realip_remote_addr" | "client" => Field::Client,
        "forwarded" => Field::Forwarded,
        "time_local" | "time_iso8601" | "msec" => Field::Time,
        "request" => Field::Request,
        "request_method" => Field::Method,
        "request_uri" | "uri" | "document_uri" => Field::Target,
        "status" => Field::Status,
        "body_bytes_sent" | "bytes_sent" => Field::Bytes,
        "request_time" | "part_of_time" => Field::Took(SECOND),
        "duration_ms" => Field::Took(MILLISECOND),
        "times" => Field::Times,
        "http_user_agent" => Field::Agent,
        _ => Field::Other,
    }
}

/// A directive of Apache's.
pub fn of_apache(name: &str, letter: char) -> Field {
    match (letter, name) {
        ('h' | 'a', _) => Field::Client,
        ('t', "" | "sec" | "msec" | "usec" | "begin:sec") => Field::Time,
        // strftime: only a whole date is of use.
        ('t', format) if format.contains("%d/%b/%Y:%T") || format.contains("%Y-%m-%dT") || format == "%s" => {
            Field::Time
        }
        ('r', _) => Field::Request,
        ('m', _) => Field::Method,
        ('U', _) => Field::Target,
        ('s', _) => Field::Status,
        ('b' | 'B' | 'O', _) => Field::Bytes,
        ('D', _) | ('T', "us") => Field::Took(MICROSECOND),
        ('T', "ms") => Field::Took(MILLISECOND),
        ('T', _) => Field::Took(SECOND),
        ('i', name) if name.eq_ignore_ascii_case("user-agent") => Field::Agent,
        _ => Field::Other,
    }
}

/// A key in JSON. A time whose name does not say its unit is in seconds.
pub fn of_json(key: &str) -> Field {
    let mut lower = [0; 32];
    let Some(lower) = lower.get_mut(..key.len()) else { return Field::Other };
    lower.copy_from_slice(key.as_bytes());
    lower.make_ascii_lowercase();
    match &lower[..] {
        b"remote_addr"
        | b"remote_ip"
        | b"client_ip"
        | b"clientip"
        | b"client"
        | b"ip"
        | b"remote_host"
        | b"clientaddr"
        | b"clienthost"
        | b"remoteip"
        | b"downstream_remote_address" => Field::Client,
        b"time" | b"ts" | b"timestamp" | b"@timestamp" | b"time_local" | b"time_iso8601" | b"msec" | b"start_time"
        | b"startutc" => Field::Time,
        b"request" | b"requestline" | b"request_line" => Field::Request,
        b"method" | b"request_method" | b"requestmethod" | b"http_method" => Field::Method,
        b"uri" | b"request_uri" | b"requestpath" | b"requesturl" | b"path" | b"url" | b"target" => Field::Target,
        b"status" | b"status_code" | b"response_code" | b"downstreamstatus" | b"code" => Field::Status,
        b"size"
        | b"bytes"
        | b"bytes_sent"
        | b"body_bytes_sent"
        | b"response_size"
        | b"responsesize"
        | b"downstreamcontentsize" => Field::Bytes,
        b"request_time" | b"elapsed" | b"latency" | b"duration" => Field::Took(SECOND),
        b"duration_ms" | b"request_time_ms" | b"latency_ms" | b"elapsed_ms" | b"response_time_ms" => {
            Field::Took(MILLISECOND)
        }
        b"duration_us" | b"request_time_us" | b"latency_us" => Field::Took(MICROSECOND),
        b"duration_ns" | b"latency_ns" => Field::Took(1),
        b"user-agent" | b"user_agent" | b"http_user_agent" | b"useragent" | b"agent" | b"request_user-agent" => {
            Field::Agent
        }
        _ => Field::Other,
    }
}
