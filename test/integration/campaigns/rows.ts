/** Campaigns on a database without any timer or listener: a test calls each step itself. */
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

/** For a test file: one for all of its tests. */
export function useRows(): Rows {
  const rows = {} as Rows;
  beforeAll(async () => {
    Object.assign(rows, await startRows());
  });
  afterAll(() => rows.stop?.());
  return rows;
}

/** A pending campaign as a send leaves it. */
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

/** Slice by slice to the end, by one caller. Returns the number of slices. */
export async function expandAll(rows: Rows, campaignId: string): Promise<number> {
  for (let slices = 0; ; slices++) if ((await expandSlice(rows.broker, campaignId)) === "nothing") return slices;
}
