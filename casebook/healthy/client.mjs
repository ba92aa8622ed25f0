// Fetches a page again and again over one kept connection. Usage: node client.mjs SCHEME ADDRESS PORT CERTIFICATE REQUESTS
import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";

const [scheme, address, port, certificate, requests] = process.argv.slice(2);
const transport = scheme === "https" ? https : http;
const agent = new transport.Agent({ keepAlive: true, maxSockets: 1 });
const options = { agent, host: address, port, path: "/hello", servername: "casebook.test", ca: readFileSync(certificate) };

function fetchOnce() {
  return new Promise((resolve, reject) => {
    const request = transport.get(options, (response) => {
      if (response.statusCode !== 200) reject(new Error(`the server answered ${response.statusCode}`));
      response.resume();
      response.on("end", resolve);
    });
    request.on("error", reject);
  });
}

for (let request = 0; request < Number(requests); request++) await fetchOnce();
agent.destroy();
console.log(`${requests} requests`);
