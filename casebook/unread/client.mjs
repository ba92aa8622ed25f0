// Checks that a site's pages are there, by their status; `drop` leaves what follows it, `read` reads it.
// Usage: client.mjs ADDRESS PORT CERTIFICATE|none drop|read PAGES
import { readFileSync } from "node:fs";

const [address, port, certificate, rest, pages] = process.argv.slice(2);
const { Agent, get } = await import(certificate === "none" ? "node:http" : "node:https");
const tls = certificate === "none" ? {} : { ca: readFileSync(certificate), servername: "casebook.test" };
const agent = new Agent({ keepAlive: true, ...tls });

function status(path) {
  return new Promise((done, failed) => {
    get({ host: address, port, path, agent }, (answer) => {
      if (rest === "drop") {
        answer.on("close", () => done(answer.statusCode)).destroy();
      } else {
        answer.resume().on("end", () => done(answer.statusCode));
      }
    }).on("error", failed);
  });
}

let missing = 0;
for (let number = 0; number < Number(pages); number++) {
  missing += (await status(`/pages/${number % 10}.html`)) === 200 ? 0 : 1;
  // The socket is the agent's again only after this turn of the loop.
  await new Promise((next) => setImmediate(next));
}
console.log(`${pages} pages, ${missing} missing`);
process.exit(missing > 0 ? 1 : 0);
