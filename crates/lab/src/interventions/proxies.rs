//! Interventions by a proxy of the system's that is put between: nginx, in a network of the subject's, with settings of ours.

mod asked;

use super::{Intervention, NotHere, Prediction, intervention};
use crate::aspect::Aspect;
use crate::treatment::{End, Proxy, ProxyTask};
use asked::{NEARLY_EACH, asked, asked_on, asked_once_each, fetched, is_one_each, put_beside_asker};
use case::RequestKind;
use case::facts::{Metric, Observation};
use case::tables::role;

/// Why nothing is refuted by a proxy that gains nothing.
const GOES_ON_CONNECTING: &str = "the program goes on connecting, to the proxy now, and what that costs stays";

/// Why shedding requests may gain nothing though they hold up the others.
const OTHERS_ARE_LEFT: &str = "those that are left can wait for each other as well";

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
        summary: "puts a proxy in between that keeps its connections to the server",
        predictions: &[
            Prediction::gains("P07").refutes_nothing(GOES_ON_CONNECTING),
            Prediction::gains("P17").refutes_nothing(GOES_ON_CONNECTING),
        ],
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
        summary: "puts a proxy in between that reads answers to their end and keeps connections",
        predictions: &[Prediction::gains("P19").refutes_nothing(GOES_ON_CONNECTING)],
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
        summary: "puts a proxy in between that compresses text on its way",
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
        summary: "puts a proxy in between that keeps the answer that is fetched each time",
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
    /// Puts an HTTP proxy (nginx) beside the program that asks. It answers the few requests behind which the others wait: at
    /// once, with an empty 200. The server never gets them. The kernel leads connects for the server to the proxy
    /// (cgroup/connect4, connect6). In its sham the same proxy passes everything on. It is judged by the median, which is that
    /// of the other requests either way: those that it answers are an eighth of all at most.
    ///
    /// ## What it reaches
    /// Programs that speak HTTP/1 without TLS, in any language, and take an empty answer. Needs nginx on the host and a
    /// cgroup of version 2.
    ///
    /// ## How we know it took effect
    /// The proxy notes each request that it answered itself.
    ///
    /// ## What it cannot prove
    /// Why those requests take the server so long: only that the others wait for them. It is no remedy: nobody does their work.
    pub const SHED_REQUESTS: Intervention = Intervention {
        name: "shed-requests",
        summary: "puts a proxy in between that answers the requests which hold up the others",
        predictions: &[
            Prediction::gains("P18").refutes_nothing(OTHERS_ARE_LEFT),
            Prediction::gains("P50").refutes_nothing(OTHERS_ARE_LEFT),
        ],
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

#[cfg(test)]
mod tests;
