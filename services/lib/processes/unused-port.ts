/** A free loopback port, for servers that cannot choose one and report it. */
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ephemeral ports: one of those could be given to a connection between this look and its use. */
const FROM = 20_000;
const TO = 32_000;
/**
 * Between the look and the use seconds may pass, in which the port looks free to others, too: processes that start eighteen services
 * side by side look in different parts, and none gives out a port twice.
 */
const PARTS = 16;
const PART = (TO - FROM) / PARTS;

const givenOut = new Set<number>();

export async function unusedPort(): Promise<number> {
  const from = FROM + (process.pid % PARTS) * PART;
  for (;;) {
    const port = from + Math.floor(Math.random() * PART);
    if (givenOut.has(port)) continue;
    if (givenOut.size >= PART / 2) givenOut.clear();
    givenOut.add(port);
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
