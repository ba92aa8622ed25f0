// Answers with a word. Usage: server.mjs ADDRESS PORT
import http from "node:http";

const [address, port] = process.argv.slice(2);
http.createServer((request, response) => {
  response.end("welcome\n");
}).listen(Number(port), address);
