// Compresses a file each time that it is asked for, in a thread of libuv's pool.
//
// Usage: server.mjs ADDRESS PORT FILE

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { gzip } from "node:zlib";

const [address, port, file] = process.argv.slice(2);
const content = readFileSync(file);

createServer((_, response) => {
  gzip(content, { level: 9 }, (_, compressed) => {
    response.setHeader("Content-Encoding", "gzip");
    response.end(compressed);
  });
}).listen(+port, address);
