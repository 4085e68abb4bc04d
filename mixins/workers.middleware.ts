/** Broker middleware: the worker threads of the process end with its services. */
import type { Middleware } from "moleculer";
import { closeWorkers } from "../services/lib/workers/workers.ts";

export const workerThreads = { name: "Workers", stopped: closeWorkers } as unknown as Middleware;
