/** `npm run servers`: downloads the servers for tests and benchmarks, so that later runs work offline. */
import { fetchServers } from "../test/support/servers.ts";

for (const [name, path] of Object.entries(await fetchServers())) process.stdout.write(`${name}: ${path}\n`);
