//! Requests that one thread reads and a pool of others works off: on real programs, with a pool that is too small and with one
//! that is not.

use crate::asked::answer;
use crate::stage::Stage;
use case::{Answer, Finding};
use std::process::Command;
use testing::skip;

/// An event loop whose blocking calls an executor makes.
const EXECUTOR: &str = r"
import asyncio, sys, time
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(int(sys.argv[1]))
def look(): time.sleep(0.02)
async def serve(reader, writer):
    while await reader.read(4096):
        await asyncio.get_running_loop().run_in_executor(pool, look)
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
async def main():
    async with await asyncio.start_server(serve, sys.argv[2], int(sys.argv[3])) as server: await server.serve_forever()
asyncio.run(main())
";

/// Threads of an executor that read requests themselves, and sleep as a Java machine does: in a lock, for a time.
const JAVA: &str = r#"
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
public class Pool {
    public static void main(String[] words) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(words[1], Integer.parseInt(words[2])), 64);
        server.createContext("/", exchange -> {
            try { Thread.sleep(20); } catch (InterruptedException error) { }
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("ok".getBytes());
            exchange.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(words[0])));
        server.start();
    }
}"#;

/// Looks a name up for each request, on libuv's pool.
const NAMES: &str = r"
const http = require('http'), dns = require('dns');
let count = 0;
http.createServer(function serve(request, answer) {
    dns.lookup('host' + count++ + '.example', { family: 4 }, () => answer.end('ok'));
}).listen(+process.argv[3], process.argv[2]);
";

/// Says every address after 20 ms, to whoever asks at the same time.
const RESOLVER: &str = r"
import socket, threading, time
asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
asked.bind(('127.0.0.78', 53))
def answer(question, by):
    time.sleep(0.02)
    head = question[:2] + b'\x81\x80' + question[4:6] + b'\0\1\0\0\0\0' + question[12:]
    asked.sendto(head + b'\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x7f\0\0\1', by)
while True: threading.Thread(target=answer, args=asked.recvfrom(512), daemon=True).start()
";

fn exhausted(answer: &Answer) -> Option<&Finding> {
    answer.findings.iter().find(|finding| finding.name == "pool-exhausted")
}

#[test]
fn requests_that_wait_for_an_executors_threads_are_found_and_where_it_has_enough_nobody_is_accused() {
    for (threads, is_small) in [("3", true), ("12", false)] {
        let stage = Stage::new();
        std::fs::write(stage.path("server.py"), EXECUTOR).expect("written");
        let server = format!("python3 {} {threads}", stage.path("server.py").display());
        let Some(answer) = answer(&stage, &server, (12, 15), &[]) else { return };
        let found = exhausted(&answer);
        assert_eq!(found.is_some(), is_small, "{threads}: {:#?}", answer.findings);
        let Some(finding) = found else { continue };
        assert!(finding.title.contains("for the 3 threads to which the server hands them over"), "{finding:#?}");
        // Of four turns of 20 ms one is a request's own.
        assert!((0.6..0.8).contains(&finding.cost.share_of_wall), "{finding:#?}");
        assert_eq!((finding.place[0].function.as_str(), finding.place[0].line), ("look", 5), "{finding:#?}");
    }
}

#[test]
#[ignore = "long: make stories"]
fn requests_whose_names_one_thread_of_libuvs_pool_looks_up_are_found() {
    let stage = Stage::new();
    if Command::new("node").arg("-v").output().is_err() {
        return skip("node is not installed");
    }
    std::fs::write(stage.path("server.js"), NAMES).expect("written");
    std::fs::write(stage.path("resolver.py"), RESOLVER).expect("written");
    std::fs::write(stage.path("resolv.conf"), "nameserver 127.0.0.78\n").expect("written");
    let script = "cd $(dirname $0)\npython3 resolver.py &\n\
                  mount --make-rprivate / && mount --bind resolv.conf /etc/resolv.conf\nexec node server.js $1 $2\n";
    std::fs::write(stage.path("serve.sh"), script).expect("written");
    let server = format!("unshare --mount bash {}", stage.path("serve.sh").display());
    let Some(answer) = answer(&stage, &server, (12, 15), &["--env", "UV_THREADPOOL_SIZE=1"]) else { return };
    let finding = exhausted(&answer).unwrap_or_else(|| panic!("{:#?}", answer.findings));
    assert!(finding.title.contains("for the one thread to which"), "{finding:#?}");
    assert!(finding.cost.share_of_wall > 0.6 && finding.mechanism[1].contains("mostly in poll"), "{finding:#?}");
}

#[test]
#[ignore = "long: make stories"]
fn requests_that_lie_unread_while_javas_few_threads_sleep_are_found() {
    for (threads, is_small) in [("3", true), ("16", false)] {
        let stage = Stage::new();
        std::fs::write(stage.path("Pool.java"), JAVA).expect("written");
        let folder = stage.path("");
        match Command::new("javac").arg("-d").arg(&folder).arg(stage.path("Pool.java")).status() {
            Err(_) => return skip("javac is not installed"),
            Ok(status) => assert!(status.success()),
        }
        let server = format!("java -Dsun.net.httpserver.nodelay=true -cp {} Pool {threads}", folder.display());
        let Some(answer) = answer(&stage, &server, (12, 15), &[]) else { return };
        assert_eq!(exhausted(&answer).is_some(), is_small, "{threads}: {:#?}", answer.findings);
    }
}
