/** Campaigns in a database without timers or listeners: tests call each action themselves. */
import type { ServiceBroker } from "moleculer";
import { closeDatabase, openDatabase, query } from "../../../models/database/db.ts";
import { expandSlice } from "../../../services/campaigns/expansion/expand.ts";
import { newId } from "../../../services/lib/ids.ts";
import { createDatabase } from "../../support/database.ts";
import type { Company } from "./world.ts";

export interface Rows {
  broker: ServiceBroker;
  emitted: string[];
  stop(): Promise<void>;
}

async function startRows(connections = 16): Promise<Rows> {
  const database = await createDatabase();
  openDatabase(database.url, connections);
  const emitted: string[] = [];
  const broker = {
    call: async () => ({ ids: [] }),
    emit: async (event: string, payload: { campaignId: string }) => emitted.push(`${event} ${payload.campaignId}`),
    logger: { info: () => {}, warn: () => {}, error: () => {} },
    stopping: false,
  };
  return {
    broker: broker as unknown as ServiceBroker,
    emitted,
    stop: async () => {
      await closeDatabase();
      await database.drop();
    },
  };
}

/** Call once per test file. */
export function useRows(): Rows {
  const rows = {} as Rows;
  beforeAll(async () => {
    Object.assign(rows, await startRows());
  });
  afterAll(() => rows.stop?.());
  return rows;
}

/** Pending campaign as created by a send. */
export async function newCampaign(company: Company, over: Record<string, unknown> = {}): Promise<string> {
  const row: Record<string, unknown> = {
    id: newId(),
    company_id: company.id,
    name: "News",
    campaign_type: "to_list",
    status: "pending",
    smtp_config_id: company.smtp,
    list_id: company.list,
    worker_task_id: newId(),
    ...over,
  };
  const names = Object.keys(row);
  await query(
    `insert into campaigns (${names.join(", ")}) values (${names.map((_, n) => `$${n + 1}`).join(", ")})`,
    Object.values(row),
  );
  return row.id as string;
}

/** Expands all slices and returns their number. */
export async function expandAll(rows: Rows, campaignId: string): Promise<number> {
  for (let slices = 0; ; slices++) if ((await expandSlice(rows.broker, campaignId)) === "nothing") return slices;
}
