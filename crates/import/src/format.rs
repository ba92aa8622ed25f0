//! The formats: those that are built in, and which of them a file has.

use crate::entry::Entry;
use crate::json_line::JsonLine;
use crate::pattern::{Pattern, PatternError};

/// What a line is taken apart by.
#[derive(Clone, Debug)]
pub struct Format {
    /// Its name: `combined`, `json`, or the format string.
    pub name: String,
    way: Way,
}

#[derive(Clone, Debug)]
enum Way {
    Pattern(Pattern),
    Json,
}

/// Formats written as one string, those first that say more: of two that read the same lines the first is taken.
const STRINGS: [(&str, &str); 8] = [
    (
        "combined",
        r#"$remote_addr $ident $user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent""#,
    ),
    (
        "vhost_combined",
        r#"$vhost $remote_addr $ident $user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent""#,
    ),
    ("common", r#"$remote_addr $ident $user [$time_local] "$request" $status $body_bytes_sent"#),
    (
        "alb",
        r#"$type $time_iso8601 $elb $client $target_address $part_of_time $part_of_time $part_of_time $status $target_status $received $bytes_sent "$request" "$http_user_agent""#,
    ),
    (
        "envoy",
        r#"[$time_iso8601] "$request" $status $flags $details $failure "$reason" $received $bytes_sent $duration_ms $upstream "$forwarded" "$http_user_agent""#,
    ),
    (
        "envoy",
        r#"[$time_iso8601] "$request" $status $flags $received $bytes_sent $duration_ms $upstream "$forwarded" "$http_user_agent""#,
    ),
    (
        "haproxy",
        r#"$syslog]: $client [$time_local] $frontend $backend $times $status $bytes_sent $cookie $set_cookie $state $connections $queues_and_heads "$request""#,
    ),
    (
        "haproxy",
        r#"$client [$time_local] $frontend $backend $times $status $bytes_sent $cookie $set_cookie $state $connections $queues_and_heads "$request""#,
    ),
];

/// Lines of a file that are tried before its format is settled.
const TRIED: usize = 100;
/// A format that says more is preferred where it reads this share of the lines that another does: some are cut.
const NEARLY_ALL: f64 = 0.9;

impl Format {
    /// The name of one that is built in, or a format string.
    ///
    /// # Errors
    /// Where it is neither.
    pub fn read(text: &str) -> Result<Format, PatternError> {
        if text == "json" {
            return Ok(Format { name: text.into(), way: Way::Json });
        }
        let string = STRINGS.iter().find(|(name, _)| *name == text).map_or(text, |(_, string)| string);
        Ok(Format { name: text.into(), way: Way::Pattern(Pattern::compile(string)?) })
    }

    /// The one that reads a file's first lines, and of several the one that says most; none where none reads any.
    pub fn detect(lines: &[&[u8]]) -> Option<Format> {
        let lines = lines.iter().filter(|line| !line.is_empty()).take(TRIED).copied().collect::<Vec<_>>();
        let json = Format { name: "json".into(), way: Way::Json };
        let of_string = |(name, string): (&str, &str)| {
            Some(Format { name: name.into(), way: Way::Pattern(Pattern::compile(string).ok()?) })
        };
        let all = STRINGS.into_iter().filter_map(of_string).chain([json]);
        let read = |format: &Format| lines.iter().filter(|line| format.reads(line)).count();
        let scored = all.map(|format| (read(&format), format)).collect::<Vec<_>>();
        let most = scored.iter().map(|(read, _)| *read).max().filter(|most| *most > 0)?;
        let nearly = (most as f64 * NEARLY_ALL).ceil() as usize;
        scored.into_iter().find(|(read, _)| *read >= nearly).map(|(_, format)| format)
    }

    /// Takes a line apart and hands on what it says; whether it is of this format.
    pub fn parse(&self, line: &[u8], mut to: impl FnMut(&Entry)) -> bool {
        match &self.way {
            Way::Pattern(pattern) => pattern.parse(line).as_ref().map(to).is_some(),
            Way::Json => {
                let read = JsonLine::read(line);
                let entry = read.as_ref().and_then(JsonLine::entry);
                entry.as_ref().map(&mut to).is_some()
            }
        }
    }

    /// Whether a line is of this format beyond doubt: a free text could be taken apart by chance, but not into an address.
    fn reads(&self, line: &[u8]) -> bool {
        let mut is_sound = false;
        self.parse(line, |entry| {
            let is_known = crate::address::of(entry.client).is_some();
            is_sound = (is_known || entry.client == b"-") && entry.time.is_some();
        });
        is_sound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of each format: its name, and what it says of when, who, what, the status, bytes, milliseconds and agent.
    type Said = (i64, &'static str, &'static str, u16, u64, Option<u64>, &'static str);
    const LINES: [(&str, &str, Said); 12] = [
        (
            "common",
            r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326"#,
            (971_211_336, "127.0.0.1", "/apache_pb.gif", 200, 2_326, None, ""),
        ),
        (
            "combined",
            r#"198.51.100.7 - - [10/Oct/2000:20:55:36 +0000] "GET /p?q=%20 HTTP/1.1" 404 - "https://example.org/" "Mozilla/5.0 (X11)""#,
            (971_211_336, "198.51.100.7", "/p?q=%20", 404, 0, None, "Mozilla/5.0 (X11)"),
        ),
        (
            "combined",
            r#"2001:db8::7 - - [10/Oct/2000:20:55:36 +0000] "\x16\x03\x01" 400 157 "-" "-" 0.001 more"#,
            (971_211_336, "2001:db8::7", "", 400, 157, None, "-"),
        ),
        (
            "vhost_combined",
            r#"www.example.org:80 198.51.100.7 - - [10/Oct/2000:20:55:36 +0000] "GET / HTTP/1.1" 200 12 "-" "curl/8.5.0""#,
            (971_211_336, "198.51.100.7", "/", 200, 12, None, "curl/8.5.0"),
        ),
        (
            "haproxy",
            r#"Oct 10 20:55:36 lb haproxy[14389]: 10.0.1.2:33317 [10/Oct/2000:20:55:36.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} "GET /index.html HTTP/1.1""#,
            (971_211_336, "10.0.1.2:33317", "/index.html", 200, 2_750, Some(109), ""),
        ),
        (
            "haproxy",
            r#"2001:db8::2:33317 [10/Oct/2000:20:55:36.655] in~ in/<NOSRV> -1/-1/-1/-1/0 -1 0 - - CR-- 1/1/0/0/0 0/0 "<BADREQ>""#,
            (971_211_336, "2001:db8::2:33317", "", 0, 0, Some(0), ""),
        ),
        (
            "json",
            r#"{"level":"info","ts":971211336.5241024,"msg":"handled request","request":{"remote_ip":"203.0.113.4","remote_port":"41342","proto":"HTTP/2.0","method":"GET","host":"localhost","uri":"/a","headers":{"User-Agent":["curl/7.82.0"]}},"duration":0.012,"size":10900,"status":200,"resp_headers":{"Size":["1"],"Status":["9"]}}"#,
            (971_211_336, "203.0.113.4", "/a", 200, 10_900, Some(12), "curl/7.82.0"),
        ),
        (
            "json",
            r#"{"time_iso8601":"2000-10-10T20:55:36+00:00","remote_addr":"203.0.113.4","request":"GET /b\u0020c HTTP/1.1","status":"200","body_bytes_sent":"5","request_time":"0.250","http_user_agent":"a \"b\""}"#,
            (971_211_336, "203.0.113.4", "/b c", 200, 5, Some(250), "a \"b\""),
        ),
        (
            "json",
            r#"{"start_time":"2000-10-10T20:55:36.100Z","path":"/e","response_code":503,"duration":17,"bytes_sent":9,"downstream_remote_address":"10.1.1.1:9","user_agent":null}"#,
            (971_211_336, "10.1.1.1:9", "/e", 503, 9, Some(17), ""),
        ),
        (
            "alb",
            r#"https 2000-10-10T20:55:36.186641Z app/my-lb/50dc6c495c0c9188 192.168.131.39:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 "GET https://www.example.com:443/x HTTP/1.1" "curl/7.46.0" ECDHE TLSv1.2 arn:aws"#,
            (971_211_336, "192.168.131.39:2817", "https://www.example.com:443/x", 200, 57, Some(171), "curl/7.46.0"),
        ),
        (
            "envoy",
            r#"[2000-10-10T20:55:36.310Z] "POST /api/v1/locations HTTP/2" 204 - 154 12 226 100 "10.0.35.28, 10.1.1.1" "nsq2http" "cc21d9b0-cf5c" "locations" "tcp://10.0.2.1:80""#,
            (971_211_336, "10.0.35.28", "/api/v1/locations", 204, 12, Some(226), "nsq2http"),
        ),
        (
            "envoy",
            r#"[2000-10-10T20:55:36.310Z] "GET /s HTTP/1.1" 200 - via_upstream - "-" 0 15 2 1 "-" "curl/8" "1" "h" "10.0.2.1:80""#,
            (971_211_336, "-", "/s", 200, 15, Some(2), "curl/8"),
        ),
    ];

    #[test]
    fn every_format_is_detected_and_says_what_its_line_says() {
        for (name, line, said) in LINES {
            let format = Format::detect(&[line.as_bytes()]).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(format.name, name, "{line}");
            let mut seen = None;
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            format.parse(line.as_bytes(), |entry| {
                seen = Some((entry.time.unwrap(), text(entry.client), text(entry.target), text(entry.agent)));
                let figures = (entry.status, entry.bytes, entry.took_ns.map(|ns| ns / 1_000_000));
                assert_eq!(figures, (said.3, said.4, said.5), "{line}");
            });
            assert_eq!(seen.unwrap(), (said.0, said.1.into(), said.2.into(), said.6.into()), "{line}");
        }
    }

    #[test]
    fn one_odd_line_at_the_beginning_does_not_decide_the_format() {
        let mut lines = vec![LINES[1].1.as_bytes(); 20];
        lines.extend([b"<garbage>".as_slice(), LINES[0].1.as_bytes()]);
        assert_eq!(Format::detect(&lines).unwrap().name, "combined");
        assert!(Format::detect(&[b"Oct 10 20:55:36 host sshd[1]: Connection closed"]).is_none());
        assert!(Format::detect(&[br#"{"level":"info","msg":"started"}"#]).is_none());
    }

    #[test]
    fn no_line_of_noise_is_read_in_a_way_that_fails() {
        let mut random = fastrand::Rng::with_seed(3);
        let formats: Vec<Format> =
            LINES.iter().map(|(_, line, _)| Format::detect(&[line.as_bytes()]).unwrap()).collect();
        for turn in 0..100_000 {
            let (_, line, _) = LINES[turn % LINES.len()];
            let mut line = line.as_bytes().to_vec();
            for _ in 0..random.usize(1..4) {
                let at = random.usize(..line.len());
                match random.u8(..4) {
                    0 => line[at] = random.u8(..),
                    1 => drop(line.drain(at..)),
                    2 => line.insert(at, *random.choice(b"\" []\\{}-:\xff").unwrap()),
                    _ => drop(line.remove(at)),
                }
                if line.is_empty() {
                    break;
                }
            }
            formats[turn % LINES.len()].parse(&line, |entry| {
                crate::address::of(entry.client);
            });
        }
    }
}
