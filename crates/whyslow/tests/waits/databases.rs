//! Waits for a database, and for what it waits for.

use super::*;

#[test]
#[ignore = "long: make stories"]
fn a_pool_with_one_connection_leads_to_the_server_behind_it() {
    let stage = Stage::new();
    let source = r#"
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.Executors;
public class Pool {
    static Socket only;
    static synchronized void ask() throws java.io.IOException {
        only.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes());
        only.getInputStream().read(new byte[4096]);
    }
    public static void main(String[] words) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        only = new Socket("127.0.0.1", Integer.parseInt(words[2]));
        HttpServer server = HttpServer.create(new InetSocketAddress(words[0], Integer.parseInt(words[1])), 64);
        server.createContext("/", exchange -> {
            ask();
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("ok".getBytes());
            exchange.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.start();
    }
}"#;
    std::fs::write(stage.path("Pool.java"), source).expect("written");
    std::fs::write(stage.path("upstream.py"), UPSTREAM).expect("written");
    let folder = stage.path("");
    match Command::new("javac").arg("-d").arg(&folder).arg(stage.path("Pool.java")).status() {
        Err(_) => return skip("javac is not installed"),
        Ok(status) => assert!(status.success()),
    }
    let (port, upstream) = (free_port(), free_port());
    let script = format!(
        "cd {}\npython3 upstream.py {upstream} 0.02 &\n\
         until (: </dev/tcp/127.0.0.1/{upstream}) 2>/dev/null; do sleep 0.05; done\n\
         exec java -Dsun.net.httpserver.nodelay=true -cp . Pool $1 {port} {upstream}\n",
        folder.display()
    );
    std::fs::write(stage.path("serve.sh"), script).expect("written");
    let serve = format!("bash {} {{server}}", stage.path("serve.sh").display());
    let client = CLIENT.replace(r"not answer.endswith(b'\r\n\r\nok')", r"not answer.endswith(b'ok')");
    let Some(answer) = answered_to(&stage, &client, &serve, port, "20", "4") else { return };
    expect_sleep_at_the_end(&answer, "upstream.py");
    let booked = booked_on(&answer, |by| sleeps_in(by, "upstream.py"));
    assert!(booked > 0.5, "{booked} of {:#?}", answer.ledger);
}

#[test]
#[ignore = "long: make stories"]
fn a_go_server_leads_to_the_disk_that_its_database_waits_for() {
    let stage = Stage::new();
    let database = r"
import os, socket, sys, threading
listener = socket.create_server(('127.0.0.1', int(sys.argv[1])))
file = os.open(sys.argv[2], os.O_CREAT | os.O_WRONLY)
def serve(connection):
    while connection.recv(4096):
        for _ in range(8):
            os.write(file, b'x' * 60000)
            os.fsync(file)
        connection.sendall(b'OK')
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
";
    let source = r#"package main
import ("net"; "net/http"; "os")
func main() {
    database, err := net.Dial("tcp", "127.0.0.1:" + os.Args[2])
    if err != nil { panic(err) }
    http.HandleFunc("/", func(answer http.ResponseWriter, _ *http.Request) {
        database.Write([]byte("SET"))
        database.Read(make([]byte, 10))
        answer.Write([]byte("ok"))
    })
    panic(http.ListenAndServe(os.Args[1], nil))
}
"#;
    std::fs::write(stage.path("database.py"), database).expect("written");
    std::fs::write(stage.path("main.go"), source).expect("written");
    let mut compiler = Command::new("go");
    compiler.args(["build", "-o"]).arg(stage.path("store")).arg(stage.path("main.go"));
    match compiler.env("GO111MODULE", "off").status() {
        Err(_) => return skip("go is not installed"),
        Ok(status) => assert!(status.success()),
    }
    let (port, behind) = (free_port(), free_port());
    let folder = stage.path("");
    let script = format!(
        "cd {}\npython3 database.py {behind} data &\n\
         until (: </dev/tcp/127.0.0.1/{behind}) 2>/dev/null; do sleep 0.05; done\nexec ./store $1:{port} {behind}\n",
        folder.display()
    );
    std::fs::write(stage.path("serve.sh"), script).expect("written");
    let serve = format!("bash {} {{server}}", stage.path("serve.sh").display());
    let client = CLIENT.replace(r"not answer.endswith(b'\r\n\r\nok')", r"not answer.endswith(b'ok')");
    let Some(answer) = answered_to(&stage, &client, &serve, port, "60", "1") else { return };
    let nodes = answer.waits.as_ref().expect("waits were followed").nodes();
    let syncs = nodes.filter(|node| matches!(&node.activity, Activity::Blocked { call, .. } if call == "fsync"));
    let syncs: Vec<&WaitNode> = syncs.filter(|node| node.end == Some(End::Server)).collect();
    assert!(syncs.iter().any(|node| is_at(node, "database.py")), "{:#?}", answer.waits);
    let is_sync = |by: &Awaited| matches!(&by.doing, Doing::Blocked { call, .. } if call == "fsync");
    assert!(booked_on(&answer, is_sync) > 0.0, "{:#?}", answer.ledger);
}
