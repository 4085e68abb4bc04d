/**
 * Runs models/database-roles.sql with a test's own role names, because roles belong to the whole server, which other
 * tests use at the same time.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";

const SCRIPT = readFileSync(join(import.meta.dirname, "../../models/database-roles.sql"), "utf8");
export const PASSWORD = "only-for-tests";

export const roleName = () => `flockmail_${randomBytes(6).toString("hex")}`;

export interface Names {
  owner: string;
  application: string;
  scaling: string;
}

export const threeNames = (): Names => {
  const name = roleName();
  return { owner: `${name}_owner`, application: `${name}_application`, scaling: `${name}_scaling` };
};

/** The script with the names that an operator would fill in. */
export const scriptFor = (names: Names): string =>
  Object.entries(names).reduce(
    (text, [what, name]) =>
      text.replace(new RegExp(`^set flockmail\\.${what} = '\\w+';$`, "m"), () => `set flockmail.${what} = '${name}';`),
    SCRIPT,
  );

/** The URL of the same database with another role. */
export function as(role: string, url: string): string {
  const roleUrl = new URL(url);
  roleUrl.username = role;
  roleUrl.password = PASSWORD;
  return roleUrl.href;
}

/** Opens one connection for the duration of `work`. */
export async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs the script as the administrator of `url` and sets passwords of the created roles. Returns the notices. */
export const makeRoles = (url: string, names: Names): Promise<string[]> =>
  connected(url, async (client) => {
    const notes: string[] = [];
    client.on("notice", ({ message }) => notes.push(message ?? ""));
    await client.query(scriptFor(names));
    for (const name of [names.application, names.scaling, names.owner]) {
      if (name !== new URL(url).username) await client.query(`alter role ${name} password '${PASSWORD}'`);
    }
    return notes;
  });
