// Answers each line once it has checked whether a visitor's name is one.
//
// Usage: server.mjs ADDRESS PORT nested|plain

import { createServer } from "node:net";

const [address, port, how] = process.argv.slice(2);

// Words with blanks between them. Where one word ends is not said: a text that is no name is taken apart in every way.
const nested = /^(\w+\s?)+$/;
const plain = /^\w[\w\s]*$/;
const name = how === "nested" ? nested : plain;

// The mark at its end is in no name.
const visitor = "Maximiliane Anna Hubers?";

createServer((client) => {
  client.setNoDelay(true);
  client.on("data", () => { // casebook: every way, each time
    name.test(visitor);
    client.write("noted\n");
  });
}).listen(+port, address);
