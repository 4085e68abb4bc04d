/**
 * A Postfix policy server (SMTPD_POLICY_README), in the role of a spam filter or quota daemon: receives each request's
 * attributes and answers with one action, which Postfix returns to the client.
 */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";

export type Attributes = Record<string, string>;

export interface PolicyServer {
  /** Line for main.cf: `check_policy_service inet:…`. */
  check: string;
  asked: number;
  stop(): Promise<void>;
}

export async function startPolicy(decide: (attributes: Attributes, no: number) => string): Promise<PolicyServer> {
  const sockets = new Set<Socket>();
  const policy: PolicyServer = {
    check: "",
    asked: 0,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const lines = text.slice(0, end).split("\n");
        text = text.slice(end + 2);
        const attributes = Object.fromEntries(
          lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
        );
        socket.write(`action=${decide(attributes, ++policy.asked)}\n\n`);
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  policy.check = `check_policy_service inet:127.0.0.1:${(server.address() as { port: number }).port}`;
  return policy;
}
