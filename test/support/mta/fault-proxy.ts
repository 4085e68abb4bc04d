/**
 * A TCP proxy that damages connections like networks and middleboxes do: resets them at any byte, swallows answers,
 * splits them into bytes, strips STARTTLS or injects plaintext before TLS. A seed decides which connection gets which
 * fault.
 */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { type Random, randomOf } from "./random.ts";

export interface Fault {
  /** Resets both sides after the server, or the client, has sent this many bytes. */
  resetAfterServerBytes?: number;
  resetAfterClientBytes?: number;
  /** Resets when the client sends this text, which may or may not reach the server. */
  resetAtClientText?: { text: RegExp; forward: boolean };
  /** Forwards the first final dot and resets the connection instead of returning the answer. */
  swallowDot?: boolean;
  /** Closes the connection normally, as if by the server, instead of resetting it. */
  closes?: boolean;
  byteByByte?: boolean;
  /** Changes the server's plaintext. */
  rewrite?: (text: string) => string;
}

export interface FaultProxy {
  port: number;
  connections: number;
  /** Number of connections that had a fault. */
  struck: number;
  stop(): Promise<void>;
}

/** `decide` is called for each connection, numbered from 1. */
export async function startFaultProxy(
  target: { port: number },
  seed: number,
  decide: (connection: number, random: Random) => Fault | undefined,
): Promise<FaultProxy> {
  const random = randomOf(seed);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((client) => {
    const fault = decide(++proxy.connections, random) ?? {};
    join(keep(client), keep(connect(target.port, "127.0.0.1")), fault, () => proxy.struck++);
  });
  const proxy: FaultProxy = {
    port: 0,
    connections: 0,
    struck: 0,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  proxy.port = (server.address() as { port: number }).port;
  return proxy;
}

function join(client: Socket, server: Socket, fault: Fault, struck: () => void): void {
  let fromClient = 0;
  let fromServer = 0;
  let inData = false;
  let swallowing = false;
  let tail = "";
  const reset = () => {
    if (client.destroyed || client.writableEnded) return;
    struck();
    if (fault.closes) client.end();
    else client.resetAndDestroy();
    server.destroy();
  };

  client.on("data", (chunk: Buffer) => {
    const room = (fault.resetAfterClientBytes ?? Number.POSITIVE_INFINITY) - fromClient;
    fromClient += chunk.length;
    if (chunk.length >= room) {
      server.write(chunk.subarray(0, room));
      reset();
      return;
    }
    const text = chunk.toString("latin1");
    const at = fault.resetAtClientText;
    if (at?.text.test(text)) {
      if (at.forward) server.write(chunk, reset);
      else reset();
      return;
    }
    if (fault.swallowDot && inData && (tail + text).includes("\r\n.\r\n")) {
      // Drops pipelined commands after it, so that the server gets only this message.
      swallowing = true;
      const end = (tail + text).indexOf("\r\n.\r\n") + 5 - tail.length;
      server.write(chunk.subarray(0, end));
      return;
    }
    tail = text.slice(-4);
    server.write(chunk);
  });

  server.on("data", (chunk: Buffer) => {
    const text = chunk.toString("latin1");
    if (/^354/m.test(text)) inData = true;
    if (swallowing) {
      reset();
      return;
    }
    const room = (fault.resetAfterServerBytes ?? Number.POSITIVE_INFINITY) - fromServer;
    fromServer += chunk.length;
    if (chunk.length >= room) {
      client.write(chunk.subarray(0, room), reset);
      return;
    }
    const out = fault.rewrite ? Buffer.from(fault.rewrite(text), "latin1") : chunk;
    if (out.toString("latin1") !== text) struck();
    if (fault.byteByByte) for (const byte of out) client.write(Buffer.of(byte));
    else client.write(out);
  });
  client.on("end", () => server.end());
  server.on("end", () => client.end());
  client.on("close", () => server.destroy());
  server.on("close", () => client.end());
}
