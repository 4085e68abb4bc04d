/**
 * A slow SMTP server in its own process: answers the final dot after `delayMs` and does not read from that connection
 * before. Offers PIPELINING; stores only ids of messages.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

/** Interval in which messages are counted, from the first one. */
export const INTERVAL_MS = 100;

export interface Taken {
  mails: number;
  /** Messages received more than once. */
  doubled: number;
  /** Counts by interval. */
  counts: number[];
}

export interface SlowSink {
  url: URL;
  /** Returns what arrived since the last call. */
  taken(): Promise<Taken>;
  stop(): void;
}

export async function startSlowSink(delayMs: number): Promise<SlowSink> {
  const child: ChildProcess = fork(import.meta.filename, [`${delayMs}`]);
  const [port] = (await once(child, "message")) as [number];
  const taken = async () => {
    const reported = once(child, "message");
    child.send("taken");
    return (await reported)[0] as Taken;
  };
  return { url: new URL(`smtp://127.0.0.1:${port}`), taken, stop: () => void child.kill() };
}

const ids = new Set<string>();
let [mails, counts, firstAt] = [0, [] as number[], 0];

const idOf = (message: string) => /^message-id:\s*<([^>]*)>/im.exec(message)?.[1];

function count(id: string | undefined): void {
  mails++;
  ids.add(id ?? `none ${mails}`);
  firstAt ||= performance.now();
  const piece = Math.floor((performance.now() - firstAt) / INTERVAL_MS);
  while (counts.length <= piece) counts.push(0);
  counts[piece]!++;
}

function report(): void {
  process.send!({ mails, doubled: mails - ids.size, counts } satisfies Taken);
  ids.clear();
  [mails, counts, firstAt] = [0, [], 0];
}

const EHLO = "250-slow.example\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n";

function answer(line: string): string {
  const verb = line.slice(0, 4).toUpperCase();
  if (verb === "EHLO") return EHLO;
  if (verb === "DATA") return "354 Go ahead\r\n";
  return verb === "QUIT" ? "221 Bye\r\n" : "250 Ok\r\n";
}

function serve(socket: Socket, delayMs: number): void {
  let [input, isMessage, isWaiting] = ["", false, false];
  const work = () => {
    let output = "";
    while (!isWaiting) {
      const ending = isMessage ? "\r\n.\r\n" : "\r\n";
      const end = input.indexOf(ending);
      if (end < 0) break;
      const text = input.slice(0, end);
      input = input.slice(end + ending.length);
      if (isMessage) {
        [isMessage, isWaiting] = [false, true];
        setTimeout(queued, delayMs, idOf(text));
      } else {
        const reply = answer(text);
        output += reply;
        isMessage = reply.startsWith("354");
        if (reply.startsWith("221")) socket.end(output);
      }
    }
    if (output && socket.writable) socket.write(output);
  };
  const queued = (id: string | undefined) => {
    isWaiting = false;
    if (!socket.writable) return;
    count(id);
    socket.write("250 Queued\r\n");
    work();
  };
  socket.setNoDelay(true).on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    input += chunk.toString("latin1");
    work();
  });
  socket.write("220 slow.example ESMTP\r\n");
}

if (process.argv[1] === import.meta.filename) {
  const delayMs = Number(process.argv[2]);
  const server = createServer((socket) => serve(socket, delayMs)).listen(0, "127.0.0.1", 1_024);
  await once(server, "listening");
  process.on("message", report).on("disconnect", () => process.exit());
  process.send!((server.address() as AddressInfo).port);
}
