/** Postfix's smtp-source: the usual idea of how fast SMTP can be sent. */
import { spawnSync } from "node:child_process";
import { postfixTools } from "../support/servers.ts";

/** What the newsletter has on the wire. */
const WIRE_BYTES = 12_200;

/** Mails per second into the same sink. */
export async function sourceRate(sink: URL, mails: number, connections: number): Promise<number> {
  const { source: tool } = await postfixTools();
  const args = ["-m", `${mails}`, "-s", `${connections}`, "-l", `${WIRE_BYTES}`, "-d", "-M", "localhost"];
  const began = performance.now();
  const ended = spawnSync(tool.path, [...args, "-f", "a@example.com", "-t", "b@example.com", sink.host], {
    env: { ...process.env, ...tool.env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (ended.status !== 0) throw new Error("smtp-source failed");
  return (mails / (performance.now() - began)) * 1_000;
}
