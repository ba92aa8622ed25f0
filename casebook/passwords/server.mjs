// Serves small pages, and checks passwords with as many rounds as it should. Usage: server.mjs ADDRESS PORT loop|pool
import { createServer } from "node:http";
import { pbkdf2, pbkdf2Sync } from "node:crypto";

const [address, port, where] = process.argv.slice(2);
const ROUNDS = 60000;

function check(answer) {
  if (where === "loop") {
    answer(pbkdf2Sync("secret", "salt", ROUNDS, 32, "sha256"));
  } else {
    pbkdf2("secret", "salt", ROUNDS, 32, "sha256", (_, key) => answer(key));
  }
}

createServer((request, response) => {
  const answer = (body) => response.setHeader("Content-Length", body.length).end(body);
  if (request.url === "/login") {
    check((key) => answer(key.toString("hex")));
  } else {
    answer(`<p>${request.url}</p>\n`);
  }
}).listen(Number(port), address);
