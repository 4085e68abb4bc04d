/** A free loopback port, for servers that cannot choose one and report it. */
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ephemeral ports: one of those could be given to a connection between this look and its use. */
const FROM = 20_000;
const TO = 32_000;

export async function unusedPort(): Promise<number> {
  for (;;) {
    const port = FROM + Math.floor(Math.random() * (TO - FROM));
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
