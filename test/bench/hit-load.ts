/**
 * Load of opens and clicks over HTTP: connections that send the next request after each answer, and the process that
 * answers.
 */
import { type ChildProcess, fork } from "node:child_process";
import { connect } from "node:net";
import { benchEnvironment } from "./serve.ts";

export const AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0";

export interface Asked {
  path: string;
  /** The expected status. */
  expected: string;
  agent?: string;
}

let asked = 0;

/** Gives each request another address. */
function textOf({ path, agent = AGENT }: Asked): string {
  const n = asked++;
  const ip = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
  return `GET ${path} HTTP/1.1\r\nHost: x\r\nUser-Agent: ${agent}\r\nX-Forwarded-For: ${ip}\r\n\r\n`;
}

function askOver(port: number, next: () => Asked | undefined, answered: () => void): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let current: Asked | undefined;
    const send = () => {
      current = next();
      if (current) return socket.write(textOf(current), "latin1");
      socket.end();
      resolve();
    };
    socket.once("connect", send).once("error", reject);
    // Answers are small and arrive in one chunk on loopback.
    socket.on("data", (data: Buffer) => {
      if (data.toString("latin1", 9, 12) !== current?.expected)
        return reject(new Error(data.toString("latin1", 0, 200)));
      answered();
      send();
    });
  });
}

/** Requests until `next` is exhausted; returns the number of answers. */
export async function askAll(port: number, connections: number, next: () => Asked | undefined): Promise<number> {
  let n = 0;
  const count = () => void n++;
  await Promise.all(Array.from({ length: connections }, () => askOver(port, next, count)));
  return n;
}

/** Starts the benchmark `script` as the process under load. `PROFILE` is a folder for its CPU profile. */
export function startServing(
  script: string,
  args: readonly string[],
  databaseUrl: string,
  folder: string,
): ChildProcess {
  const { PROFILE } = process.env;
  return fork(script, ["serve", ...args], {
    execArgv: PROFILE === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${PROFILE}`],
    env: {
      ...process.env,
      ...benchEnvironment(databaseUrl, folder),
      TRUST_PROXY: "1",
      ALLOW_PRIVATE_NETWORKS: "true",
    },
  });
}
