// Asks for a page again and again; with `each`, by an agent of its own for each request.
// Usage: client.mjs ADDRESS PORT CERTIFICATE|none each|one REQUESTS
import { readFileSync } from "node:fs";

const [address, port, certificate, agents, requests] = process.argv.slice(2);
const { Agent, get } = await import(certificate === "none" ? "node:http" : "node:https");
const tls = certificate === "none" ? {} : { ca: readFileSync(certificate), servername: "casebook.test" };
const settings = { keepAlive: true, ...tls };
const shared = new Agent(settings);

function page() {
  const agent = agents === "one" ? shared : new Agent(settings);
  return new Promise((done, failed) => {
    get({ host: address, port, path: "/hello", agent }, (answer) => answer.resume().on("end", done)).on("error", failed);
  });
}

for (let number = 0; number < Number(requests); number++) {
  await page();
  // The socket is the agent's again only after this turn of the loop.
  await new Promise((next) => setImmediate(next));
}
console.log(`${requests} pages`);
process.exit(0);
