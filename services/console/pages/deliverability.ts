/**
 * DNS records that mailbox providers check: those of each server's sender, DKIM keys, and the company's tracking
 * domain.
 */
import { DKIM_ALGORITHMS } from "../../../models/dkim-key.ts";
import type { ReturnsOf } from "../../contracts.ts";
import { ownHost } from "../../lib/links-base.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { messages } from "../messages.ts";
import { askedOf, pagerOf } from "../pager.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, may, type Outcome } from "../request.ts";
import type { Server } from "../server-form.ts";

const t = messages.domains;

const domainOf = (address: string): string => address.slice(address.lastIndexOf("@") + 1);

async function showDomains(visit: CompanyVisit, errors: Errors = {}): Promise<Answer> {
  const { query, form, company } = visit;
  const [{ results, ...paging }, { tracking_domain, tracking_domain_status, tracking_domain_token }] =
    await Promise.all([
      callIn(visit, "smtp-sender.listConfigs", { ...askedOf(query), ordering: "name" }),
      callIn(visit, "accounts.getCompany", { id: company.id }),
    ]);
  const here = companyPath(visit, "domains");
  return {
    view: "domains",
    title: t.title,
    values: {
      rows: results.map((server) => ({
        server,
        domain: domainOf(server.sender_email),
        failed: [...new Set(server.check_failures.map(({ name }) => t.names[name]))],
      })),
      tracking: tracking_domain && {
        host: tracking_domain,
        isActive: tracking_domain_status === "active",
        token: tracking_domain_token,
        target: ownHost(),
      },
      errors,
      typed: form,
      here,
      servers: companyPath(visit, "servers"),
      pager: pagerOf(here, query, paging),
      mayWrite: may(visit, "accounts.updateCompany"),
    },
  };
}

export const domainsPage = (visit: CompanyVisit): Promise<Answer> => showDomains(visit);

export const setTrackingDomain = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const host = (visit.form.tracking_domain ?? "").trim();
      await callIn(visit, "accounts.updateCompany", {
        id: visit.company.id,
        tracking_domain: host === "" ? null : host,
      });
      return { goTo: companyPath(visit, "domains"), notice: "saved" };
    },
    (errors) => showDomains(visit, errors),
  );

type Value = ReturnsOf<"smtp-sender.deliverability">["checks"][number]["found"];

export interface Lines {
  /** DNS record, published or to be published. */
  record: { name: string; value: string } | null;
  texts: string[];
}

/** Found or expected values of a check, as lines of text. */
export function linesOf(value: Value): Lines {
  if (value === null) return { record: null, texts: [] };
  if (typeof value === "string") return { record: null, texts: [value] };
  if (Array.isArray(value)) return { record: null, texts: value };
  const { name, value: text } = value as { name?: unknown; value?: unknown };
  if (typeof name === "string" && typeof text === "string") return { record: { name, value: text }, texts: [] };
  const shown = Object.entries(value).map(([key, one]) => `${key}: ${[one ?? "–"].flat().join(", ") || "–"}`);
  return { record: null, texts: shown };
}

interface ShowOptions {
  errors?: Errors;
  /** Makes DNS queries, which takes seconds. */
  looks?: boolean;
}

type Check = ReturnsOf<"smtp-sender.deliverability">["checks"][number];

/** Meaning of a check's result for the sender's emails. */
function meaningOf({ name, status }: Pick<Check, "name" | "status">): string {
  if (status === "unknown") return t.noAnswer;
  return messages.newCampaign.dns[name][status === "pass" ? "good" : "bad"];
}

/** Checks of records that the reader publishes. The API's advice about the others names settings of this service. */
const hasRecord = (name: Check["name"]): boolean => name !== "links" && name !== "bounce_address";

async function lookedUp(visit: CompanyVisit, id: string) {
  const { checks } = await callIn(visit, "smtp-sender.deliverability", { id });
  return checks.map(({ found, expected, ...check }) => ({
    ...check,
    meaning: meaningOf(check),
    advice: check.status !== "unknown" && hasRecord(check.name) ? check.help : null,
    found: linesOf(found),
    expected: check.status === "pass" ? null : linesOf(expected),
  }));
}

const keysOf = ({ dkim, dkim_waiting }: Server) => [
  ...[dkim ?? []].flat().map((key) => ({ ...key, signs: true })),
  ...dkim_waiting.map((key) => ({ ...key, signs: false })),
];

async function showOne(visit: CompanyVisit, { errors = {}, looks = false }: ShowOptions = {}): Promise<Answer> {
  const id = visit.params.id!;
  const checks = looks ? await lookedUp(visit, id) : null;
  // Read after the check, which may have activated a DKIM key.
  const server = await callIn(visit, "smtp-sender.getConfig", { id });
  const domain = domainOf(server.sender_email);
  return {
    view: "domain",
    title: t.titleOf(domain),
    values: {
      server,
      checks,
      keys: keysOf(server),
      errors,
      f: { domain, selector: nextSelector(server), algorithm: "rsa", ...visit.form },
      algorithms: DKIM_ALGORITHMS.map((value) => ({ value, label: t.algorithms[value] })),
      here: companyPath(visit, `domains/${id}`),
      serverPath: companyPath(visit, `servers/${id}`),
      mayWrite: may(visit, "smtp-sender.createDkimKey"),
    },
  };
}

/** Next unused selector: fm1, fm2 … */
export function nextSelector(server: Pick<Server, "dkim" | "dkim_waiting">): string {
  const selectors = new Set(
    [server.dkim ?? [], server.dkim_waiting].flat().map(({ selector }) => selector.toLowerCase()),
  );
  for (let n = 1; ; n++) if (!selectors.has(`fm${n}`)) return `fm${n}`;
}

export const domainPage = (visit: CompanyVisit): Promise<Answer> =>
  showOne(visit, { looks: visit.query.look === "now" });

const thenShow = (visit: CompanyVisit): Answer => ({
  goTo: companyPath(visit, `domains/${visit.params.id}`),
  notice: "saved",
});

export const makeDkimKey = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { domain = "", selector = "", algorithm = "" } = visit.form;
      await callIn(visit, "smtp-sender.createDkimKey", {
        id: visit.params.id!,
        domain,
        selector,
        // The action reports an unknown algorithm.
        algorithm: algorithm as (typeof DKIM_ALGORITHMS)[number],
      });
      return thenShow(visit);
    },
    (errors) => showOne(visit, { errors }),
  );

export const giveDkimKey = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { domain = "", selector = "", private_key = "" } = visit.form;
      const dkim = { domain, selector, private_key };
      await callIn(visit, "smtp-sender.updateConfig", { id: visit.params.id!, dkim });
      return thenShow(visit);
    },
    (errors) => showOne({ ...visit, form: {} }, { errors }),
  );

export async function stopSigning(visit: CompanyVisit): Promise<Answer> {
  await callIn(visit, "smtp-sender.updateConfig", { id: visit.params.id!, dkim: null });
  return thenShow(visit);
}
