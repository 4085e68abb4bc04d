/**
 * Load of clients during the update: reads and writes, receipts and small newsletters, over all gateways that accept
 * requests.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Company, nextGateway } from "./company.ts";
import type { Scene } from "./scene.ts";

const PAUSE_MS = 120;
const TIMEOUT_MS = 30_000;

export interface Traffic {
  /** Current phase of the update, by which failures are counted. */
  phase: string;
  requests: number;
  /** "phase: METHOD path: answer" with its count. */
  failures: Map<string, number>;
  /** Number of 503 answers whose repetition succeeded. */
  repeated: number;
  /** Stops and waits for pending answers. */
  stop(): Promise<void>;
}

interface Server {
  id: string;
  sender: string;
}

export function startTraffic(scene: Scene, company: Company, server: Server): Traffic {
  let stopped = false;
  const traffic: Traffic = { phase: "before", requests: 0, failures: new Map(), repeated: 0, stop: async () => {} };
  const fail = (what: string) => traffic.failures.set(what, (traffic.failures.get(what) ?? 0) + 1);

  async function ask<T>(method: string, path: string, body?: object, headers: object = {}): Promise<T | undefined> {
    const { phase } = traffic;
    const what = `${phase}: ${method} ${path.replaceAll(/[0-9a-f-]{36}/g, "{id}").split("?")[0]}`;
    traffic.requests++;
    const send = () =>
      fetch(`${nextGateway(scene)}/api/emails/${path}`, {
        method,
        headers: { "x-api-key": company.key, ...(body ? { "content-type": "application/json" } : {}), ...headers },
        ...(body ? { body: JSON.stringify(body) } : {}),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    try {
      let response = await send();
      if (response.status === 503) {
        await response.arrayBuffer();
        traffic.repeated++;
        await sleep(1_000 * Number(response.headers.get("retry-after") ?? 1));
        response = await send();
      }
      const text = await response.text();
      if (response.ok) return JSON.parse(text || "null") as T;
      fail(`${what}: ${response.status} ${text.slice(0, 300)}`);
    } catch (error) {
      fail(`${what}: ${((error as Error).cause as { code?: string })?.code ?? (error as Error).message}`);
    }
    return undefined;
  }

  async function sends(): Promise<void> {
    for (let n = 1; !stopped; n++) {
      const { phase } = traffic;
      const isTransactional = n % 2 === 0;
      const recipients = isTransactional
        ? [`receipt-${n}@traffic.example`]
        : [1, 2, 3].map((m) => `n${n}-${m}@traffic.example`);
      const sent = await ask<{ id: string }>(
        "POST",
        "send/custom/",
        {
          name: `Traffic ${n}`,
          subject: "Hello",
          body: "<p>Thanks</p>",
          is_transactional: isTransactional,
          receivers: recipients.map((email) => ({ email })),
          smtp_config_id: server.id,
        },
        { "idempotency-key": `traffic-${n}` },
      );
      if (sent) company.asked.push({ id: sent.id, sender: server.sender, recipients, phase });
      await sleep(PAUSE_MS * 4);
    }
  }

  async function reads(): Promise<void> {
    for (let n = 1; !stopped; n++) {
      const created = await ask<{ id: string }>("POST", "subscribers/", { email: `new-${n}@traffic.example` });
      if (created) await ask("PATCH", `subscribers/${created.id}/`, { first_name: `New ${n}` });
      await ask("GET", `subscribers/?page=${1 + (n % 20)}`);
      await ask("GET", "campaigns/");
      await ask("GET", "sent-emails/");
      await ask("GET", "lists/");
      const last = company.asked.at(-1);
      if (last) await ask("GET", `campaigns/${last.id}/`);
      await sleep(PAUSE_MS);
    }
  }

  const running = Promise.all([sends(), reads()]);
  traffic.stop = async () => {
    stopped = true;
    await running;
  };
  return traffic;
}
