//! How a link is asked for, and shown: `mtu=1500,rate=10mbit,burst=128k,queue=htb`, `mtu=1500,delay=20ms,loss=1%`.

use super::{Link, LinkError, Queue};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Ethernet's own, where none is asked for.
const DEFAULT_MTU: u32 = 1500;
/// The least that IPv4 must carry (RFC 791), and the most that a virtual Ethernet device takes.
const MTU_RANGE: std::ops::RangeInclusive<u32> = 68..=65_535;
/// The kernel hands a virtual device segments of up to 64 KiB at a time, headers not counted; a token bucket that cannot
/// hold two of them stalls. (A class of htb goes into debt instead.)
pub(super) const LEAST_BURST_BYTES: u64 = 128 * 1024;
/// The kernel keeps a burst as 32 bits of time in units of 64 ns: more than 4 min of anything is none.
pub(super) const MOST_BURST_BYTES: u64 = 1 << 30;

/// A packet takes no longer than this to anywhere: TCP's first retransmission comes after 1 s.
const MOST_DELAY: Duration = Duration::from_secs(10);
/// Above this nothing gets through in a time that anybody waits.
const MOST_LOSS_PERCENT: f64 = 50.0;

const KEYS: &str = "mtu, rate, burst, queue, delay, loss, buffer and path-mtu";

impl FromStr for Link {
    type Err = LinkError;

    fn from_str(text: &str) -> Result<Link, LinkError> {
        let mut link = Link {
            mtu: DEFAULT_MTU,
            rate: None,
            burst: None,
            queue: Queue::TokenBucket,
            delay: Duration::ZERO,
            loss: 0,
            buffer: None,
            path_mtu: None,
        };
        let mut needs_rate = None;
        for part in text.split(',') {
            let Some((key, value)) = part.split_once('=') else {
                return wrong(format!("`{part}` is not of the form key=value; the keys are {KEYS}"));
            };
            match key.trim() {
                "mtu" => link.mtu = mtu(value)?,
                "rate" => link.rate = Some(value.parse().map_err(LinkError::Specification)?),
                "burst" => link.burst = Some(burst(value)?),
                "queue" => link.queue = queue(value)?,
                "delay" => link.delay = time(value)?,
                "loss" => link.loss = loss(value)?,
                "buffer" => link.buffer = Some(time(value)?),
                "path-mtu" => link.path_mtu = Some(mtu(value)?),
                other => return wrong(format!("a link has no `{other}`; the keys are {KEYS}")),
            }
            needs_rate = needs_rate.or(Some(key.trim()).filter(|key| ["burst", "queue", "buffer"].contains(key)));
        }
        if let (Some(key), None) = (needs_rate, link.rate) {
            return wrong(format!("`{key}` only applies to a rate, and none is given: add rate=10mbit"));
        }
        if link.path().is_some() && link.queue == Queue::Hierarchical {
            return wrong("`queue=htb` does not go with delay, loss, buffer and path-mtu: leave it out".to_string());
        }
        match link.burst.filter(|_| link.path().is_none()) {
            Some(burst) if link.queue == Queue::TokenBucket && burst < LEAST_BURST_BYTES => wrong(format!(
                "a token bucket of {} would stall: the kernel passes it up to 64 KiB at a time, and it needs room \
                 for two; use burst=128k or more, or queue=htb",
                Size(burst)
            )),
            _ => Ok(link),
        }
    }
}

fn mtu(text: &str) -> Result<u32, LinkError> {
    match text.trim().parse() {
        Ok(mtu) if MTU_RANGE.contains(&mtu) => Ok(mtu),
        _ => wrong(format!("`{text}` is not an MTU: bytes from {} to {}", MTU_RANGE.start(), MTU_RANGE.end())),
    }
}

fn burst(text: &str) -> Result<u64, LinkError> {
    match size(text) {
        Some(bytes) if (1..=MOST_BURST_BYTES).contains(&bytes) => Ok(bytes),
        _ => wrong(format!("`{text}` is not a burst: bytes, or a number and k or m, as in 128k; 1024m at most")),
    }
}

/// `20ms`, `500us`, `1s`.
fn time(text: &str) -> Result<Duration, LinkError> {
    let units = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let read =
        units.iter().find_map(|(name, unit)| Some(text.trim().strip_suffix(name)?.trim().parse::<f64>().ok()? * unit));
    match read {
        Some(seconds) if (0.0..=MOST_DELAY.as_secs_f64()).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => wrong(format!("`{text}` is not a time on a link: a number and us, ms or s, as in 20ms; 10s at most")),
    }
}

/// `1%`, as packets in a million.
fn loss(text: &str) -> Result<u32, LinkError> {
    match text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok()) {
        Some(percent) if (0.0..=MOST_LOSS_PERCENT).contains(&percent) => Ok((percent * 10_000.0).round() as u32),
        _ => wrong(format!("`{text}` is not a loss: a share of the packets, as in 1%; {MOST_LOSS_PERCENT} % at most")),
    }
}

fn queue(text: &str) -> Result<Queue, LinkError> {
    match text.trim() {
        "tbf" => Ok(Queue::TokenBucket),
        "htb" => Ok(Queue::Hierarchical),
        other => wrong(format!("there is no queue `{other}`; the queues are tbf and htb")),
    }
}

/// Bytes as people write them: `65536`, `64k`, `1.5m`, `2g`; k is 1024, as to tc.
pub(crate) fn size(text: &str) -> Option<u64> {
    let lower = text.trim().to_ascii_lowercase();
    let lower = lower.strip_suffix("ib").or(lower.strip_suffix('b')).unwrap_or(&lower);
    let units = [('k', 1_u64 << 10), ('m', 1 << 20), ('g', 1 << 30)];
    let unit = units.iter().find_map(|(letter, bytes)| Some((lower.strip_suffix(*letter)?, *bytes)));
    let (number, unit) = unit.unwrap_or((lower, 1));
    let bytes = number.trim().parse::<f64>().ok()? * unit as f64;
    (bytes >= 0.0 && bytes.is_finite()).then(|| bytes.round() as u64)
}

/// Bytes in the largest unit that divides them.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes.is_multiple_of(1 << 20) => write!(out, "{}m", bytes >> 20),
            bytes if bytes.is_multiple_of(1 << 10) => write!(out, "{}k", bytes >> 10),
            bytes => write!(out, "{bytes}"),
        }
    }
}

fn wrong<T>(reason: String) -> Result<T, LinkError> {
    Err(LinkError::Specification(reason))
}

impl fmt::Display for Link {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "mtu={}", self.mtu)?;
        self.rate.map_or(Ok(()), |rate| write!(out, ",rate={rate}"))?;
        self.burst.map_or(Ok(()), |burst| write!(out, ",burst={}", Size(burst)))?;
        if self.queue == Queue::Hierarchical {
            write!(out, ",queue=htb")?;
        }
        if self.delay > Duration::ZERO {
            write!(out, ",delay={}", Time(self.delay))?;
        }
        if self.loss > 0 {
            write!(out, ",loss={}%", f64::from(self.loss) / 10_000.0)?;
        }
        self.buffer.map_or(Ok(()), |buffer| write!(out, ",buffer={}", Time(buffer)))?;
        self.path_mtu.map_or(Ok(()), |mtu| write!(out, ",path-mtu={mtu}"))
    }
}

/// A time in the largest unit in which it is a whole number.
struct Time(Duration);

impl fmt::Display for Time {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_micros() {
            micros if micros.is_multiple_of(1_000_000) => write!(out, "{}s", micros / 1_000_000),
            micros if micros.is_multiple_of(1_000) => write!(out, "{}ms", micros / 1_000),
            micros => write!(out, "{micros}us"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_read_from_any_of_its_keys_and_shown_as_it_is_typed() {
        let link = |text: &str| text.parse::<Link>().expect("a link").to_string();
        assert_eq!(link("mtu=1400"), "mtu=1400");
        assert_eq!(link("rate=10mbit"), "mtu=1500,rate=10mbit");
        assert_eq!(link("rate=1gbit,mtu=9000"), "mtu=9000,rate=1gbit");
        assert_eq!(link("rate=10mbit,burst=131072"), "mtu=1500,rate=10mbit,burst=128k");
        let all = "mtu=1500,rate=10mbit,burst=64k,queue=htb";
        assert_eq!(link(all), all);
        let ours = "mtu=1500,rate=10mbit,burst=64k,delay=20ms,loss=0.5%,buffer=1s,path-mtu=1400";
        assert_eq!(link(ours), ours);
        assert_eq!(link("loss=0%,delay=1.5ms"), "mtu=1500,delay=1500us");
    }

    #[test]
    fn what_is_wrong_with_a_link_is_named_with_what_is_allowed() {
        let error = |text: &str| text.parse::<Link>().expect_err("refused").to_string();
        assert_eq!(error("jitter=5ms"), format!("a link has no `jitter`; the keys are {KEYS}"));
        assert_eq!(error(""), format!("`` is not of the form key=value; the keys are {KEYS}"));
        assert!(error("delay=20").contains("20ms") && error("delay=11s").contains("10s"));
        assert!(error("loss=0.01").contains("1%") && error("loss=51%").contains("50 %"));
        assert!(error("buffer=1s").contains("add rate="));
        assert!(error("rate=1mbit,queue=htb,delay=1ms").contains("leave it out"));
        assert_eq!(error("mtu=9"), "`9` is not an MTU: bytes from 68 to 65535");
        assert!(error("rate=fast").contains("10mbit"));
        assert!(error("rate=1mbit,burst=lots").contains("128k"));
        assert!(error("rate=1mbit,queue=fq").contains("tbf and htb"));
        assert!(error("burst=1m").contains("add rate="));
    }

    #[test]
    fn a_token_bucket_that_would_stall_is_refused_with_the_way_out() {
        let link = "rate=10mbit,burst=64k".parse::<Link>();
        let error = link.expect_err("refused").to_string();
        assert!(error.contains("64k would stall") && error.contains("queue=htb"), "{error}");
        assert!("rate=10mbit,burst=64k,queue=htb".parse::<Link>().is_ok());
    }

    #[test]
    fn sizes_are_read_as_tc_reads_them() {
        assert_eq!(
            ["64k", "1.5M", "10", "2GiB", "3kb"].map(size),
            [Some(65_536), Some(1_572_864), Some(10), Some(2 << 30), Some(3_072)]
        );
        assert_eq!(["", "k", "-1k", "nan", "inf"].map(size), [None; 5]);
    }
}
