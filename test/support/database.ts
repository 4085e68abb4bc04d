import { randomBytes } from "node:crypto";
import pg from "pg";

const TEMPLATE = "flockmail_template";

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

async function admin(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: process.env.TEST_SERVER_URL });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A migrated, empty database of its own, cloned from the run's template. */
export async function createDatabase(): Promise<TestDatabase> {
  const name = `flockmail_${randomBytes(6).toString("hex")}`;
  await admin(`create database ${name} template ${TEMPLATE}`);
  const url = new URL(process.env.TEST_SERVER_URL!);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => admin(`drop database if exists ${name} with (force)`) };
}
