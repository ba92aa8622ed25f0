// A page of a line. Usage: server.mjs ADDRESS PORT
import { createServer } from "node:http";

const [address, port] = process.argv.slice(2);
createServer((_request, response) => response.end("hello from the casebook\n")).listen(Number(port), address);
