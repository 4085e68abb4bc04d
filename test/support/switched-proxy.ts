/** A TCP proxy in front of a server, to be pointed at another one, or at none: a failover, or a network that was cut. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface SwitchedProxy {
  port: number;
  /** Breaks all connections; new ones go to this port, or are refused. */
  switchTo(port: number | undefined): void;
  stop(): Promise<void>;
}

export async function startSwitchedProxy(first: number): Promise<SwitchedProxy> {
  const sockets = new Set<Socket>();
  let target: number | undefined = first;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    return socket;
  };
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    keep(client);
    if (target === undefined) {
      client.destroy();
      return;
    }
    const upstream = keep(connect(target, "127.0.0.1"));
    client.pipe(upstream).pipe(client);
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    switchTo(port) {
      target = port;
      breakAll();
    },
    async stop() {
      breakAll();
      await new Promise((done) => server.close(done));
    },
  };
}
