/** Parses messages with Python's strict email policy, all in one process. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";

const SCRIPT = join(import.meta.dirname, "read-mail.py");
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

export const hasPython = spawnSync("python3", ["--version"]).status === 0;

export interface ReadByPython {
  defects: string[];
  subject: string;
  from: string;
  to: string[];
  text: string;
  html: string;
  attachments: { filename: string; sha256: string }[];
}

export function readByPython(messages: (Buffer | string)[]): ReadByPython[] {
  const input = JSON.stringify(messages.map((message) => Buffer.from(message).toString("base64")));
  const { stdout, stderr, status } = spawnSync("python3", [SCRIPT], { input, maxBuffer: MAX_OUTPUT_BYTES });
  if (status !== 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString()) as ReadByPython[];
}
