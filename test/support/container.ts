/** A program as a container runs it: process 1 of a PID namespace of its own. Without root it needs user namespaces. */
import type { SpawnOptions } from "node:child_process";
import { type Child, startChild } from "./child.ts";

const AS_ROOT = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];

/** Signals go to `unshare`: SIGKILL takes the program along. */
export const startAsFirst = (command: string, args: string[], options: SpawnOptions = {}): Child =>
  startChild("unshare", [...AS_ROOT, "--pid", "--fork", "--mount-proc", "--kill-child", command, ...args], options);
