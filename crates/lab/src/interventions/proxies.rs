//! Interventions by a proxy of the system's that is put between: nginx, in a network of the subject's, with settings of ours.

use super::{Intervention, NotHere, Prediction, Request, intervention};
use crate::aspect::Aspect;
use crate::proxy;
use crate::treatment::{End, Proxy, ProxyTask, Treatment};
use case::Recording;
use case::RequestKind;
use case::facts::{Metric, Observation};
use case::tables::{Connection, HttpMessage, direction, role};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// As many servers of a finding get a proxy.
const MOST_SERVERS: usize = 4;
/// So many requests share a connection at most where it is nearly one for each: what the sham opens.
const NEARLY_EACH: f64 = 1.25;
/// Why nothing is refuted by a proxy that gains nothing.
const GOES_ON_CONNECTING: &str = "the program goes on connecting, to the proxy now, and what that costs stays";

intervention! {
    /// # pooling-proxy
    ///
    /// ## What it does
    /// Puts an HTTP proxy (nginx) beside the program that asks. The proxy keeps its connections to the server, whatever the
    /// program does with its own, which lead to the proxy only, over loopback. The kernel leads connects for the server to
    /// the proxy (cgroup/connect4, connect6). In its sham the same proxy opens a connection for each request.
    ///
    /// ## What it reaches
    /// Programs that speak HTTP/1 without TLS, in any language, and a process for each request as well. Where the shim
    /// kept-connections reaches a program, that is tried instead. Not programs of which two requests share a connection: the
    /// sham would open more than they do. Needs nginx on the host and a cgroup of version 2.
    ///
    /// ## How we know it took effect
    /// The proxy notes each request that it passed on.
    ///
    /// ## What it cannot prove
    /// That a program that goes on connecting, to the proxy now, pays nothing for that: what is saved is the way to the
    /// server and what accepting costs there. So a gain proves the cause, and where there is none it is left open.
    pub const POOLING_PROXY: Intervention = Intervention {
        name: "pooling-proxy",
        summary: "puts a proxy between that keeps its connections to the server",
        predictions: &[Prediction::gains("P07"), Prediction::gains("P17")],
        overruled_by: GOES_ON_CONNECTING,
        may_change: &[Aspect::Resets],
        treat: |request, treatment| {
            let finding = request.finding;
            let observed = finding.map_or(&[][..], |finding| &finding.observed);
            if observed.iter().any(|one| matches!(one, Observation::Logins { .. })) {
                return Err(NotHere("needs connections without a login: only the program can go on with a session".into()));
            }
            let is_reached = !request.is_made_without_libc() && !is_one_each(request);
            if finding.is_some_and(|finding| finding.id == "P07") && is_reached {
                return Err(NotHere("is for programs that kept-connections does not reach".into()));
            }
            put_beside_asker(&asked_once_each(request)?, &[ProxyTask::KeepConnections].into(), treatment);
            Ok(())
        },
        applied: |counters| counters.of_proxy(|task| *task == ProxyTask::KeepConnections),
    };
}

intervention! {
    /// # draining-proxy
    ///
    /// ## What it does
    /// Puts an HTTP proxy (nginx) beside the program that asks. The proxy reads each answer to its end, although the program
    /// has gone, and keeps its connections to the server. The kernel leads connects for the server to the proxy
    /// (cgroup/connect4, connect6). In its sham the same proxy opens a connection for each request and closes it as soon as
    /// the program is gone.
    ///
    /// ## What it reaches
    /// Programs that speak HTTP/1 without TLS, in any language. Needs nginx on the host and a cgroup of version 2.
    ///
    /// ## How we know it took effect
    /// The proxy notes each request that it passed on.
    ///
    /// ## What it cannot prove
    /// That reading to the end is cheaper than closing: what is left of a long answer still crosses the network, only nobody
    /// waits for it. How much of each answer the program reads before it goes hangs on how fast that comes, so that it is not
    /// compared.
    pub const DRAINING_PROXY: Intervention = Intervention {
        name: "draining-proxy",
        summary: "puts a proxy between that reads answers to their end and keeps connections",
        predictions: &[Prediction::gains("P19")],
        overruled_by: GOES_ON_CONNECTING,
        may_change: &[Aspect::Resets, Aspect::Bytes],
        treat: |request, treatment| {
            let tasks = [ProxyTask::KeepConnections, ProxyTask::ReadAnswers].into();
            put_beside_asker(&asked_once_each(request)?, &tasks, treatment);
            Ok(())
        },
        applied: |counters| counters.of_proxy(|task| *task == ProxyTask::ReadAnswers),
    };
}

intervention! {
    /// # compressing-proxy
    ///
    /// ## What it does
    /// Puts an HTTP proxy (nginx) beside the server that compresses text (gzip, level 1) for clients that ask for that. Where
    /// they do not, another one beside the client asks for it and unpacks what comes. The kernel leads connects for the
    /// server to the proxies (cgroup/connect4, connect6). In its sham the same proxies pass everything on as it is.
    ///
    /// ## What it reaches
    /// Programs that speak HTTP/1 without TLS, in any language. Needs nginx on the host, a cgroup of version 2 and, for the
    /// proxy beside the server, a server of ours (--server).
    ///
    /// ## How we know it took effect
    /// The proxies note each answer that came or went compressed.
    ///
    /// ## What it cannot prove
    /// How fast the server or the client itself would do it: the CPU time of the proxies is counted as the server's.
    pub const COMPRESSING_PROXY: Intervention = Intervention {
        name: "compressing-proxy",
        summary: "puts a proxy between that compresses text on its way",
        predictions: &[Prediction::gains("P70")],
        may_change: &[Aspect::Bytes],
        treat: |request, treatment| {
            let asked = asked(request)?;
            let asks_for_it = asked.asks_for_compressed;
            if asks_for_it && !request.has_server {
                return Err(NotHere("needs the server, too (--server): what a peer elsewhere sends is its own".into()));
            }
            if !asks_for_it {
                put_beside_asker(&asked, &[ProxyTask::AskForCompressed].into(), treatment);
            }
            if request.has_server {
                for before in asked.servers {
                    let tasks = [ProxyTask::Compress].into();
                    let (end, listens_on) = (End::Server, before.ip());
                    let closes = asked.requests_each <= NEARLY_EACH;
                    treatment.proxies.push(Proxy { end, listens_on, before, tasks, closes, is_inert: false });
                }
            }
            Ok(())
        },
        applied: |counters| counters.of_proxy(|task| matches!(task, ProxyTask::Compress | ProxyTask::AskForCompressed)),
    };
}

intervention! {
    /// # caching-proxy
    ///
    /// ## What it does
    /// Puts an HTTP proxy (nginx) between a server and another one that it asks, which keeps the answer to the address that
    /// is asked for each time. All other addresses pass. The kernel leads connects for the other server to the proxy
    /// (cgroup/connect4, connect6). In its sham the same proxy keeps nothing.
    ///
    /// ## What it reaches
    /// Programs that speak HTTP/1 without TLS, in any language. Needs nginx on the host and a cgroup of version 2.
    ///
    /// ## How we know it took effect
    /// The proxy notes each answer that it had kept.
    ///
    /// ## What it cannot prove
    /// That an answer may be kept. Trials in which clients get other answers than they did prove nothing, but an answer that
    /// changes once an hour, or with who asks, can look the same in all of them.
    pub const CACHING_PROXY: Intervention = Intervention {
        name: "caching-proxy",
        summary: "puts a proxy between that keeps the answer that is fetched each time",
        predictions: &[Prediction::gains("P71")],
        treat: |request, treatment| {
            let tasks = [ProxyTask::Cache(fetched(request)?)].into();
            put_beside_asker(&asked(request)?, &tasks, treatment);
            Ok(())
        },
        applied: |counters| counters.of_proxy(|task| matches!(task, ProxyTask::Cache(_))),
    };
}

intervention! {
    /// # shed-requests
    ///
    /// ## What it does
    /// Puts an HTTP proxy (nginx) beside the program that asks, which answers the few requests behind which the others wait
    /// itself: 200, with nothing, at once. The server never gets them. The kernel leads connects for the server to the proxy
    /// (cgroup/connect4, connect6). In its sham the same proxy passes everything on. It is judged by the median, which is one
    /// of the other requests with it and without it: those that are answered are an eighth of all at most.
    ///
    /// ## What it reaches
    /// Programs that speak HTTP/1 without TLS, in any language, and take an empty answer. Needs nginx on the host and a
    /// cgroup of version 2.
    ///
    /// ## How we know it took effect
    /// The proxy notes each request that it answered itself.
    ///
    /// ## What it cannot prove
    /// Why those requests take the server so long: only that the others wait for them. It does their work for nobody, which
    /// is no remedy.
    pub const SHED_REQUESTS: Intervention = Intervention {
        name: "shed-requests",
        summary: "puts a proxy between that answers the requests which hold up the others",
        predictions: &[Prediction::gains("P18"), Prediction::gains("P50")],
        judged_by: Some(Metric::Median),
        may_change: &[Aspect::Bytes],
        treat: |request, treatment| {
            let observed = request.finding.map_or(&[][..], |finding| &finding.observed);
            let held_up = observed.iter().find_map(|one| match one {
                Observation::HeldUp { by: RequestKind::Http { method, path }, .. } => Some((method, path)),
                _ => None,
            });
            let (method, path) =
                held_up.ok_or_else(|| NotHere("needs requests that wait behind few of another kind".into()))?;
            let task = answered(method, path).ok_or_else(|| NotHere(format!("cannot tell {method} {path} from others")))?;
            let recording = request.recording.ok_or_else(|| NotHere("needs a recording".into()))?;
            let is_clients = |pid: u32| recording.processes.iter().any(|row| row.pid == pid && row.role != "server");
            let asking = recording.connections.iter().filter(|row| row.role == role::CLIENT && is_clients(row.pid));
            put_beside_asker(&asked_on(request, recording, &asking.collect::<Vec<_>>())?, &[task].into(), treatment);
            Ok(())
        },
        applied: |counters| counters.of_proxy(|task| matches!(task, ProxyTask::Answer { .. })),
    };
}

/// The task of answering requests of a kind, as settings of nginx can name it: its path's numbers are `:n`.
fn answered(method: &str, path: &str) -> Option<ProxyTask> {
    let is_plain = |part: &str| part.chars().all(|one| one.is_ascii_alphanumeric() || "_.~-".contains(one));
    let is_method = !method.is_empty() && method.chars().all(|one| one.is_ascii_uppercase());
    let parts: Option<Vec<String>> = path
        .split('/')
        .map(|part| match part {
            ":n" => Some("[0-9]+".to_string()),
            part => is_plain(part).then(|| part.replace('.', "[.]")),
        })
        .collect();
    // A path that was cut ends in three dots.
    let is_whole = path.starts_with('/') && !path.ends_with("...");
    let path = format!("^{}$", parts.filter(|_| is_method && is_whole)?.join("/"));
    Some(ProxyTask::Answer { method: method.to_string(), path })
}

/// Who asks whom, of the connections of a finding.
struct Asked {
    /// The end that asks.
    asker: End,
    servers: BTreeSet<SocketAddr>,
    /// Whether most requests say that compressed answers can be read.
    asks_for_compressed: bool,
    /// How many requests a connection carries on average.
    requests_each: f64,
}

/// The same, where a connection carries one request: an inert proxy opens one for each.
fn asked_once_each(request: &Request) -> Result<Asked, NotHere> {
    let asked = asked(request)?;
    if asked.requests_each > NEARLY_EACH {
        return Err(NotHere("needs a connection for nearly every request: here more of them share one".into()));
    }
    Ok(asked)
}

/// A proxy in the asker's network, before each of those that it asks.
fn put_beside_asker(asked: &Asked, tasks: &BTreeSet<ProxyTask>, treatment: &mut Treatment) {
    for &before in &asked.servers {
        let listens_on = match before.ip() {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        };
        let tasks = tasks.clone();
        let closes = asked.requests_each <= NEARLY_EACH;
        treatment.proxies.push(Proxy { end: asked.asker, listens_on, before, tasks, closes, is_inert: false });
    }
}

fn asked(request: &Request) -> Result<Asked, NotHere> {
    let recording = request.recording.ok_or_else(|| NotHere("needs a recording that shows who asks whom".into()))?;
    asked_on(request, recording, &connections(request, recording))
}

/// The same, of some connections.
fn asked_on(request: &Request, recording: &Recording, connections: &[&Connection]) -> Result<Asked, NotHere> {
    if proxy::program().is_none() {
        return Err(NotHere("needs nginx on this host (sudo apt install nginx-light)".into()));
    }
    let ids: BTreeSet<u32> = connections.iter().flat_map(|row| [row.id, row.peer]).filter(|id| *id != 0).collect();
    if recording.handshakes.iter().any(|row| ids.contains(&row.connection)) {
        return Err(NotHere("needs connections without TLS: what is encrypted passes no proxy".into()));
    }
    let heads = recording.http_messages.iter().filter(|row| ids.contains(&row.connection));
    let requests: Vec<&HttpMessage> = heads.filter(|row| row.status == 0).collect();
    if requests.is_empty() {
        return Err(NotHere("needs HTTP/1, and none was seen on these connections".into()));
    }
    let address = |row: &&Connection| {
        let (host, port) = match row.role {
            role::SERVER => (&row.local_address, row.local_port),
            _ => (&row.remote_address, row.remote_port),
        };
        Some(SocketAddr::new(host.parse().ok()?, port))
    };
    let servers: BTreeSet<SocketAddr> = connections.iter().filter_map(address).collect();
    if servers.is_empty() || servers.len() > MOST_SERVERS {
        return Err(NotHere(format!("needs one to {MOST_SERVERS} servers that are asked over TCP")));
    }
    let is_of_server = |pid: u32| recording.processes.iter().any(|row| row.pid == pid && row.role == "server");
    let by_servers = connections.iter().filter(|row| row.role != role::SERVER && is_of_server(row.pid)).count();
    let asker = if by_servers * 2 > connections.len() { End::Server } else { End::Client };
    if asker == End::Server && !request.has_server {
        return Err(NotHere("needs the server, too (--server)".into()));
    }
    let compressed = requests.iter().filter(|row| row.is_compressed).count();
    let sent = requests.iter().filter(|row| row.direction == direction::OUT).count();
    let requests_each = sent as f64 / connections.len().max(1) as f64;
    Ok(Asked { asker, servers, asks_for_compressed: compressed * 2 > requests.len(), requests_each })
}

/// The connections that a finding rests on, directly or by its calls.
fn connections<'r>(request: &Request, recording: &'r Recording) -> Vec<&'r Connection> {
    let all = &recording.connections;
    let named: BTreeSet<u32> = match request.finding.map(|finding| &finding.evidence) {
        Some(evidence) if evidence.table == "connections" => {
            evidence.rows.iter().filter_map(|row| all.get(*row as usize)).map(|row| row.id).collect()
        }
        _ => request.calls().map(|call| call.connection).collect(),
    };
    all.iter().filter(|row| named.contains(&row.id)).collect()
}

/// Whether each of the processes connects about once.
fn is_one_each(request: &Request) -> bool {
    let processes: BTreeSet<u32> = request.calls().map(|call| call.pid).collect();
    processes.len() * 2 > request.calls().count()
}

/// The address that all questions of a finding are for, as settings of nginx can name it.
fn fetched(request: &Request) -> Result<String, NotHere> {
    let messages = request.recording.map_or(&[][..], |recording| &recording.http_messages);
    let target_of = |call: &case::tables::Call| {
        let begins = |row: &&HttpMessage| {
            (row.connection, row.time, row.direction) == (call.connection, call.start, direction::OUT)
        };
        messages.iter().find(begins).map(|row| row.target.as_str())
    };
    let targets: BTreeSet<&str> = request.calls().filter_map(target_of).collect();
    let is_plain = |target: &&str| {
        target.starts_with('/') && target.chars().all(|one| one.is_ascii_alphanumeric() || "/_.~-".contains(one))
    };
    match targets.into_iter().collect::<Vec<_>>()[..] {
        [target] if is_plain(&target) => Ok(target.to_string()),
        _ => Err(NotHere("needs one address that is fetched each time, of plain letters and digits".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::tests::{finding_at, request};
    use case::Nanos;
    use case::tables::{Call, Handshake, Location, StackFrame, transport};

    /// Ten calls of an end on ten connections to 10.0.0.2, and the heads of what is asked there.
    fn asking(end: End, target: &str, is_compressed: bool) -> (Recording, case::Finding) {
        let (mut recording, mut finding) = finding_at(end);
        let pid = recording.calls[0].pid;
        recording.calls.clear();
        for id in 1..=10 {
            let start = Nanos(u64::from(id) * 1000);
            recording.calls.push(Call { pid, connection: id, start, stack: 1, ..Call::default() });
            let (remote_address, remote_port) = ("10.0.0.2".to_string(), 80);
            let row = Connection { id, pid, remote_address, remote_port, role: role::CLIENT, ..Connection::default() };
            recording.connections.push(Connection { transport: transport::TCP, ..row });
            let (direction, target) = (direction::OUT, target.to_string());
            let head =
                HttpMessage { time: start, connection: id, direction, target, is_compressed, ..HttpMessage::default() };
            recording.http_messages.push(head);
        }
        finding.evidence.rows = (0..10).collect();
        (recording, finding)
    }

    /// The proxies that an intervention asks for, in words; why it does not, without its end.
    fn proxies(
        one: &Intervention,
        id: &str,
        (recording, finding): &(Recording, case::Finding),
    ) -> Result<Vec<String>, String> {
        let (world, mut treatment) = (World::default(), Treatment::default());
        let finding = case::Finding { id: id.to_string(), ..finding.clone() };
        let asked = Request { recording: Some(recording), finding: Some(&finding), ..request(&world) };
        (one.treat)(&asked, &mut treatment).map_err(|NotHere(why)| why)?;
        let words = |one: &Proxy| format!("{} {} {} {:?}", one.end.word(), one.listens_on, one.before, one.tasks);
        Ok(treatment.proxies.iter().map(words).collect())
    }

    /// Tests of what is asked of nginx, which is not everywhere.
    fn has_nginx() -> bool {
        if proxy::program().is_none() {
            testing::skip("nginx is not installed");
        }
        proxy::program().is_some()
    }

    #[test]
    fn requests_that_hold_up_others_are_told_by_their_path() {
        let path = |path: &str| match answered("GET", path) {
            Some(ProxyTask::Answer { path, .. }) => path,
            _ => String::new(),
        };
        assert_eq!(path("/users/:n/a.json"), "^/users/[0-9]+/a[.]json$");
        assert_eq!((path("/x\"{}"), path("/long..."), path("*")), Default::default());
        assert_eq!(answered("GET;", "/"), None);
    }

    #[test]
    fn who_asks_has_the_proxy_beside_itself() {
        if !has_nginx() {
            return;
        }
        let by = |end| proxies(&CACHING_PROXY, "P71", &asking(end, "/rates", false)).expect("tried").join(",");
        assert_eq!(by(End::Client), r#"client 127.0.0.1 10.0.0.2:80 {Cache("/rates")}"#);
        assert_eq!(by(End::Server), r#"server 127.0.0.1 10.0.0.2:80 {Cache("/rates")}"#);
        let quoted = asking(End::Server, "/rates;evil{}", false);
        assert!(proxies(&CACHING_PROXY, "P71", &quoted).is_err_and(|why| why.contains("plain")));
    }

    #[test]
    fn compression_takes_a_proxy_at_each_end_where_the_client_does_not_ask_for_it() {
        if !has_nginx() {
            return;
        }
        let of = |asks| proxies(&COMPRESSING_PROXY, "P70", &asking(End::Client, "/", asks)).expect("tried");
        assert_eq!(of(true), ["server 10.0.0.2 10.0.0.2:80 {Compress}"]);
        assert_eq!(
            of(false),
            ["client 127.0.0.1 10.0.0.2:80 {AskForCompressed}", "server 10.0.0.2 10.0.0.2:80 {Compress}"]
        );
    }

    #[test]
    fn a_pool_is_tried_where_the_shim_does_not_reach_and_never_under_tls() {
        if !has_nginx() {
            return;
        }
        let of = |id, case: &(Recording, case::Finding)| proxies(&POOLING_PROXY, id, case);
        let one_process = asking(End::Client, "/", false);
        assert!(of("P07", &one_process).is_ok(), "its calls come from no C library");
        let mut by_libc = asking(End::Client, "/", false);
        by_libc.0.locations = vec![Location { id: 7, is_libc: true, ..Location::default() }];
        by_libc.0.stacks = vec![StackFrame { stack: 1, location: 7, ..StackFrame::default() }];
        assert!(of("P07", &by_libc).is_err_and(|why| why.contains("kept-connections")));
        let mut kept = asking(End::Client, "/", false);
        kept.0.http_messages.extend(kept.0.http_messages.clone());
        assert!(of("P07", &kept).is_err_and(|why| why.contains("share one")));
        assert!(of("P17", &by_libc).is_ok(), "no shim goes back to a connection that is forgotten");
        let mut encrypted = asking(End::Client, "/", false);
        encrypted.0.handshakes = vec![Handshake { connection: 3, ..Handshake::default() }];
        assert!(of("P07", &encrypted).is_err_and(|why| why.contains("TLS")));
        let mut other = asking(End::Client, "/", false);
        other.0.http_messages.clear();
        assert!(of("P07", &other).is_err_and(|why| why.contains("HTTP/1")));
    }
}
