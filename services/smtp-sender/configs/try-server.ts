/** Tries a server as the sender would use it: address, connection, TLS, login. Ten seconds at most. */
import { config } from "../../lib/config.ts";
import { withTimeout } from "../../lib/timeouts.ts";
import type { TryServerResult } from "../contract-configs.ts";
import { engineSettings } from "../engine/settings.ts";
import { OpenError, openSession, type Session } from "../smtp/session.ts";

const TOTAL_MS = 9_500;
const STEP_MS = 8_000;

interface Login {
  host: string;
  port: number;
  username: string;
  password: string;
  use_tls?: boolean;
}

const quit = ({ socket }: Session) => {
  socket.on("error", () => {});
  socket.end("QUIT\r\n");
  setTimeout(() => socket.destroy(), 1_000).unref();
};

export async function tryServer({ host, port, username, password, use_tls = true }: Login): Promise<TryServerResult> {
  const began = performance.now();
  const result = (stage: TryServerResult["stage"], message: string): TryServerResult => ({
    valid: stage === "ok",
    stage,
    message,
    duration_ms: Math.round(performance.now() - began),
  });
  const endpoint = { host: host.trim(), port, username, password, useTls: use_tls };
  const { ehloName } = engineSettings();
  const opening = openSession(endpoint, {
    allowPrivate: config().ALLOW_PRIVATE_NETWORKS,
    ...(ehloName ? { name: ehloName } : {}),
    connectTimeoutMs: STEP_MS,
    greetingTimeoutMs: STEP_MS,
    loginTimeoutMs: STEP_MS,
  });
  try {
    const late = () => new OpenError("connect", "yes", `No answer from ${host}:${port} within 10 seconds.`);
    const session = await withTimeout(opening, TOTAL_MS, late);
    quit(session);
    if (session.loggedIn || !username) return result("ok", "The server accepts mail.");
    return result("ok", "The server accepts mail and does not ask for a login.");
  } catch (error) {
    opening.then(quit, () => {});
    if (!(error instanceof OpenError)) throw error;
    return result(error.stage, error.message);
  }
}
