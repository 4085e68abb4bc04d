/** Findings when no service can be reached: why, and whether it could start. */
import { knownMigrations, pending } from "../../../models/database/migrate.ts";
import { refuseUnusable } from "../../../models/database/pooler.ts";
import { type Config, ConfigError, readConfig } from "../../lib/config.ts";
import { connectRedis, redisWorks } from "../../lib/redis.ts";
import { VERSION } from "../../lib/version.ts";
import { type Check, type Finding, findingsOf, runChecks } from "./finding.ts";
import { machineChecks } from "./machine-checks.ts";
import { addressFindings, secretFinding } from "./settings-checks.ts";

type Environment = Record<string, string | undefined>;

const { ok, fail } = findingsOf("settings");

/** The configuration that a process would get here; undefined if it is invalid. */
function configuration(env: Environment): [Config | undefined, Finding[]] {
  try {
    const settings = readConfig(env);
    return [settings, [ok("settings", "can be read"), secretFinding(settings), ...addressFindings(settings)]];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = "Correct it as docs/configuration.md says: no process starts with it.";
    return [undefined, error.errors.map((line) => fail("settings", line, advice))];
  }
}

function databaseCheck(url: string): Check {
  const { ok, warn } = findingsOf("PostgreSQL");
  return {
    area: "PostgreSQL",
    check: "answers",
    advice: "Start PostgreSQL and check DATABASE_URL.",
    async work() {
      await refuseUnusable(url);
      const missing = await pending(url);
      const migrations = knownMigrations().size;
      return [
        ok("answers", "and can be used"),
        missing.length > 0
          ? warn(
              "migrations",
              `${missing.length} of ${migrations} are not applied`,
              "The first process that starts with MIGRATIONS=apply applies them.",
            )
          : ok("migrations", `all ${migrations} applied`),
      ];
    },
  };
}

function redisCheck({ REDIS_URL, REDIS_CA }: Config): Check {
  return {
    area: "Redis",
    check: "counts limits",
    advice: "Start Redis and check REDIS_URL.",
    async work() {
      const client = connectRedis(REDIS_URL!, REDIS_CA);
      client.on("error", () => {});
      try {
        await client.connect();
        await redisWorks(client);
        return [findingsOf("Redis").ok("counts limits", "answers")];
      } finally {
        client.disconnect();
      }
    },
  };
}

/** `problem` is the reason why the service was not reached. */
export async function examineWithoutService(problem: Error, env: Environment): Promise<Finding[]> {
  const service = findingsOf("service").fail(
    "reached",
    problem.message,
    "Start it, or run this command with the service's environment (DATA_DIR or TRANSPORTER). The following was checked from here.",
  );
  const [settings, ofSettings] = configuration(env);
  const checks = settings && [
    ...(settings.DATABASE_URL ? [databaseCheck(settings.DATABASE_URL)] : []),
    ...(settings.REDIS_URL ? [redisCheck(settings)] : []),
    ...machineChecks(settings),
  ];
  return [
    service,
    findingsOf("service").ok("version of the command", VERSION),
    ...ofSettings,
    ...(await runChecks(checks ?? [])),
  ];
}
