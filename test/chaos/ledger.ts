/** Records requests and arrivals. A mail is identified by its recipient, who gets no other mail. */
import type { Accepted } from "../support/smtp-server.ts";
import type { HookEvent } from "./scene.ts";

export type MailKind = "newsletter" | "receipt" | "limited";
export const MAIL_KINDS = ["newsletter", "receipt", "limited"] as const;

export interface Asked {
  id: string;
  kind: MailKind;
  addresses: string[];
}

const MAX_LINKS = 2_000;
const LINK = /http:\/\/[^\s"'<>]+\/public\/(?:open|click)\/[^\s"'<>]+/g;
const plain = (raw: string) => raw.replaceAll("=\r\n", "").replaceAll("=3D", "=");

export class Ledger {
  readonly campaigns: Asked[] = [];
  readonly imports: { list: string; rows: number }[] = [];
  /** 4xx answers to valid requests, which no fault explains. */
  readonly refusals: string[] = [];
  /** Addresses whose mail was opened or clicked, with an acknowledged hit. */
  readonly opened = new Set<string>();
  readonly clicked = new Set<string>();
  /** Times at which the mail server accepted mail for this address. */
  readonly arrivals = new Map<string, number[]>();
  /** Webhooks by "type recipient": event ids and number of arrivals. */
  readonly hooks = new Map<string, Map<string, number>>();
  readonly links: { link: string; address: string }[] = [];
  /** Time when the API accepted the mail for this address. */
  readonly askedAt = new Map<string, number>();
  #kindOf = new Map<string, MailKind>();
  #outstanding = { newsletter: 0, receipt: 0, limited: 0 };

  accepted(id: string, kind: MailKind, addresses: string[]): void {
    this.campaigns.push({ id, kind, addresses });
    for (const address of addresses) {
      this.askedAt.set(address, Date.now());
      this.#kindOf.set(address, kind);
      if (!this.arrivals.has(address)) this.#outstanding[kind]++;
    }
  }

  /** Mails that the API accepted and the mail server has not received. */
  outstanding(kind: MailKind): number {
    return this.#outstanding[kind];
  }

  arrived({ to, raw, at }: Accepted, dotAtMs: number | undefined): MailKind | undefined {
    const [address] = to;
    if (!address) return undefined;
    const times = this.arrivals.get(address);
    const kind = this.#kindOf.get(address);
    if (times) times.push(dotAtMs ?? at);
    else {
      this.arrivals.set(address, [dotAtMs ?? at]);
      // The mail may arrive before the API's answer to its request.
      if (kind) this.#outstanding[kind]--;
    }
    if (this.links.length < MAX_LINKS) {
      const found = plain(raw).match(LINK) ?? [];
      this.links.push(...[...found.slice(0, 1), ...found.slice(-1)].map((link) => ({ link, address })));
    }
    return kind;
  }

  hookReceived({ id, type, recipient }: HookEvent): void {
    const key = `${type} ${recipient}`;
    const events = this.hooks.get(key) ?? new Map<string, number>();
    this.hooks.set(key, events.set(id, (events.get(id) ?? 0) + 1));
  }
}
