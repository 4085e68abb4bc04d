/** Runs a program as in a container: process 1 of its own PID namespace. Needs root or user namespaces. */
import type { SpawnOptions } from "node:child_process";
import { type Child, startChild } from "./child.ts";

const AS_ROOT = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];

/** Signals go to `unshare`; SIGKILL also kills the program. */
export const startAsFirst = (command: string, args: string[], options: SpawnOptions = {}): Child =>
  startChild("unshare", [...AS_ROOT, "--pid", "--fork", "--mount-proc", "--kill-child", command, ...args], options);
