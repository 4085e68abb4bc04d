/**
 * Opens connections to PostgreSQL for all parts of the service (pools, Sequelize, migrations), with our settings from
 * the first statement, directly or behind a pooler in transaction mode.
 *
 * Behind a pooler each transaction may run in another, shared session. So nothing is set for the session: settings are
 * sent with each transaction, in the message that begins it or before a single statement, without a round trip. The
 * pooler must prepare named statements where they are needed (checked by `pooler.ts`).
 */
import pg from "pg";
import { hostUrls, writableHost } from "../../services/lib/processes/postgres-hosts.ts";
import { SESSION, type SessionRow, type Settings, setForSession } from "./session-settings.ts";
import { allowSilence, endInSilence, SILENT_MS } from "./silence.ts";

export const CONNECT_TIMEOUT_MS = 5_000;
const KEEPALIVE_MS = 5_000;
/** SQLSTATE read_only_sql_transaction. */
const READ_ONLY = "25006";

interface ClientOptions {
  /** Settings that override or extend SESSION. */
  settings?: Settings;
  /** A connection on which the database says nothing for that long while it should is given up. */
  silentMs?: number;
}

/** The parts of pg's own classes that its types do not show. */
interface Wire {
  bind(message: { statement: string; values: unknown[] }): void;
  execute(message: object): void;
}
interface QueryParts {
  text: string;
  callback?: (error: Error | null, result: unknown) => void;
  requiresPreparation(): boolean;
  prepare(wire: Wire): void;
  handleCommandComplete(message: object, wire: Wire): void;
}
const Query = pg.Query as unknown as new (...given: unknown[]) => QueryParts;

interface ClientParts {
  processID: number;
  _txStatus: string | null;
}

const isPlain = (given: unknown) => typeof (given as { submit?: unknown }).submit !== "function";
/** Several statements in one text, which only the simple protocol takes. */
const MULTIPLE_STATEMENTS = /;\s*\S/;
/** Start of a transaction, possibly followed by settings that override ours. */
const BEGIN = /^\s*(?:begin|start transaction)\b[^;]*/i;

const isIdle = (client: DatabaseClient) => (client as unknown as ClientParts)._txStatus === "I";

/** A single-statement transaction with its settings in front: one message, one answer. */
class QueryWithSettings extends Query {
  readonly #client: DatabaseClient;
  readonly #settings: string;
  /** Answers that belong to the settings. */
  #ahead = 0;

  constructor(client: DatabaseClient, settings: string, given: unknown[]) {
    super(...given);
    this.#client = client;
    this.#settings = settings;
  }

  override requiresPreparation(): boolean {
    return super.requiresPreparation() || (isIdle(this.#client) && !MULTIPLE_STATEMENTS.test(this.text));
  }

  override prepare(wire: Wire): void {
    if (isIdle(this.#client)) {
      this.#ahead = 1;
      wire.bind({ statement: this.#settings, values: [] });
      wire.execute({});
    }
    super.prepare(wire);
  }

  override handleCommandComplete(message: object, wire: Wire): void {
    if (this.#ahead > 0) this.#ahead--;
    else super.handleCommandComplete(message, wire);
  }
}

/** `of`: for pg.Pool and Sequelize, which make their clients themselves. */
export class DatabaseClient extends pg.Client {
  /** All that are open in this process. */
  static readonly open = new Set<DatabaseClient>();
  readonly #url: string;
  #settings: Settings;
  #silentMs: number;
  #pooled = false;
  /** Settings for each transaction behind a pooler, as text, and the name of the prepared statement for them. */
  #local = "";
  #localName = "";
  #applied = 0;

  static of(url: string, options: ClientOptions = {}): typeof pg.Client {
    return class extends DatabaseClient {
      constructor() {
        super(url, options);
      }
    };
  }

  constructor(url: string, { settings, silentMs = SILENT_MS }: ClientOptions = {}) {
    super({
      application_name: "flockmail",
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      ...{ keepAliveInitialDelayMillis: KEEPALIVE_MS },
      connectionString: hostUrls(url)[0],
    });
    this.#url = url;
    this.#settings = { ...SESSION, ...settings };
    this.#silentMs = silentMs;
    // A connection that breaks, idle or within a transaction, fails the statement that is sent over it; without a listener
    // it would end the process.
    this.on("error", () => {});
  }

  /** The session is another one in each transaction, or may be. */
  get pooled(): boolean {
    return this.#pooled;
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: ((error: Error) => void) | ((error: null, client: pg.Client) => void)): void;
  override connect(callback?: (error: never, client: never) => void): Promise<pg.Client> | undefined {
    const opened = this.#open();
    if (!callback) return opened;
    opened.then(
      (client) => callback(null as never, client as never),
      (error) => callback(error as never, undefined as never),
    );
  }

  async #open(): Promise<this> {
    const { hostname, port } = new URL(await writableHost(this.#url));
    if (hostUrls(this.#url).length > 1) Object.assign(this, { host: hostname, port: Number(port || 5432) });
    await super.connect();
    endInSilence(this, CONNECT_TIMEOUT_MS);
    try {
      await this.apply(this.#settings);
    } catch (error) {
      // The caller never receives this connection and cannot close it.
      this.end().catch(() => {});
      throw error;
    }
    allowSilence(this, this.#silentMs);
    DatabaseClient.open.add(this);
    this.once("end", () => DatabaseClient.open.delete(this));
    return this;
  }

  /** Additional settings for the life of the connection. */
  async apply(settings: Settings): Promise<void> {
    this.#settings = { ...this.#settings, ...settings };
    const { processID } = this as unknown as ClientParts;
    const { rows } = await super.query<SessionRow>(setForSession(this.#settings, processID));
    const { pooled, standby, known } = rows[0]!;
    // For example after a failover: the outage ends when the name or the list of hosts leads to the primary.
    if (standby) throw Object.assign(new Error("The database is a standby and takes no writes"), { code: READ_ONLY });
    this.#pooled = pooled;
    if (pooled) await this.#setWithEach(known ?? []);
  }

  async #setWithEach(known: readonly string[]): Promise<void> {
    // A kept plan belongs to the shared session and would not be renewed when a table has grown.
    const settings = {
      ...this.#settings,
      ...(this.#settings.plan_cache_mode ? { plan_cache_mode: "force_custom_plan" } : {}),
    };
    const values = known.map((name) => [name, pg.escapeLiteral(String(settings[name as keyof typeof settings]))]);
    this.#local = values.map(([name, value]) => `set local ${name} = ${value}`).join("; ");
    this.#localName = `settings-${++this.#applied}`;
    // No row: what pg would take for a part of the answer.
    const text = `select where ${values.map(([name, value]) => `set_config('${name}', ${value}, true)`).join(" || ")} is null`;
    await super.query({ name: this.#localName, text });
  }

  /**
   * Runs a query without setting statements before it, for statements that cannot run in a transaction behind a pooler.
   */
  queryAlone(text: string): Promise<unknown> {
    return super.query(text);
  }

  override query(...given: unknown[]): never {
    const query = (...ours: unknown[]) => (super.query as (...ours: unknown[]) => unknown)(...ours) as never;
    const [what, ...more] = given;
    if (!this.#pooled || !isPlain(what)) return query(what, ...more);
    if (typeof what === "string" && BEGIN.test(what))
      return query(
        what.replace(BEGIN, (begin) => `${begin}; ${this.#local}`),
        ...more,
      );
    const ownQuery = new QueryWithSettings(this, this.#localName, given);
    if (ownQuery.callback) return query(ownQuery);
    return new Promise((resolve, reject) => {
      ownQuery.callback = (error, result) => (error ? reject(error) : resolve(result));
      query(ownQuery);
    }) as never;
  }
}
