/**
 * A sender process that tests kill, pause and stop: the engine alone, with database and settings from its environment.
 * Prints "ready" when it works; SIGTERM stops it gracefully.
 */
import { openDatabase } from "../../models/database/db.ts";
import { connectRedis } from "../../services/lib/redis.ts";
import { Engine } from "../../services/smtp-sender/engine/engine.ts";
import { engineSettings } from "../../services/smtp-sender/engine/settings.ts";
import { ownLimiter, SenderLimiter } from "../../services/smtp-sender/limits/sender-limiter.ts";
import { plainMails } from "./sending.ts";

openDatabase(process.env.DATABASE_URL!, 8);
const redis = process.env.REDIS_URL ? connectRedis(process.env.REDIS_URL) : undefined;
redis?.on("error", () => {});
await redis?.connect();
const limiter = redis ? new SenderLimiter(redis) : ownLimiter();
const log = { error: () => {}, warn: () => {}, info: () => {} };
const hourRetryMs = Number(process.env.ROOM_AGAIN_MS ?? 30_000);
const engine = new Engine(`process-${process.pid}`, engineSettings({ pollMs: 100, hourRetryMs }), {
  limiter,
  render: plainMails,
  log,
  campaignDrained: () => {},
  webhooksQueued: () => {},
});
engine.start();
process.stdout.write("ready\n");
process.once("SIGTERM", () => void engine.stop().then(() => process.exit(0)));
