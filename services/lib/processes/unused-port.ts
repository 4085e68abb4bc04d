/** Finds a free loopback port, for servers that cannot choose one and report it. */
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ephemeral ports: those could be assigned to a connection between this check and the port's use. */
const FROM = 20_000;
const TO = 32_000;
/**
 * Seconds may pass between the check and the use, while the port looks free to others, too: processes started in
 * parallel search different ranges, and none returns a port twice.
 */
const PARTS = 16;
const PART = (TO - FROM) / PARTS;

const issuedPorts = new Set<number>();

export async function unusedPort(): Promise<number> {
  const from = FROM + (process.pid % PARTS) * PART;
  for (;;) {
    const port = from + Math.floor(Math.random() * PART);
    if (issuedPorts.has(port)) continue;
    if (issuedPorts.size >= PART / 2) issuedPorts.clear();
    issuedPorts.add(port);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") continue;
      throw error;
    }
    await new Promise((done) => server.close(done));
    return port;
  }
}
