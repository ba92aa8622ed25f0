// Takes uploads and answers with their length.
//
// Usage: server.mjs ADDRESS PORT append|collect

import { createServer } from "node:http";

const [address, port, how] = process.argv.slice(2);

function append(request, done) {
  let body = Buffer.alloc(0);
  request.on("data", (part) => {
    body = Buffer.concat([body, part]); // copies all that was there
  });
  request.on("end", () => done(body));
}

function collect(request, done) {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => done(Buffer.concat(parts)));
}

const receive = how === "append" ? append : collect;
createServer((request, response) => receive(request, (body) => response.end(`${body.length}\n`))).listen(+port, address);
