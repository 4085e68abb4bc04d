/** Runs Postfix's smtp-source, the usual reference for SMTP speed and CPU. */
import { spawnSync } from "node:child_process";
import { postfixTools } from "../support/servers.ts";
import { endedChildrenUs } from "./cpu.ts";

interface SourceRun {
  perSecond: number;
  cpuUsPerMail: number;
}

/** Sends mails of `wireBytes` into the same sink. */
export async function smtpSource(sink: URL, mails: number, connections: number, wireBytes: number): Promise<SourceRun> {
  const { source: tool } = await postfixTools();
  const args = ["-m", `${mails}`, "-s", `${connections}`, "-l", `${wireBytes}`, "-d", "-M", "localhost"];
  const before = endedChildrenUs();
  const began = performance.now();
  const ended = spawnSync(tool.path, [...args, "-f", "a@example.com", "-t", "b@example.com", sink.host], {
    env: { ...process.env, ...tool.env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (ended.status !== 0) throw new Error("smtp-source failed");
  const perSecond = (mails / (performance.now() - began)) * 1_000;
  return { perSecond, cpuUsPerMail: (endedChildrenUs() - before) / mails };
}
