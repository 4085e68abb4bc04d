/**
 * Form of a new or stored server, which can be tested before it is saved; and deletion with the campaigns that it
 * stops.
 */
import { type Errors, errorsOf, orAgain } from "../form-errors.ts";
import { MAIL_PROVIDERS } from "../mail-providers.ts";
import { messages } from "../messages.ts";
import { formatted } from "../render.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, type Outcome, requireMay } from "../request.ts";
import { withResult } from "../results.ts";
import {
  changeOf,
  type Fields,
  FRESH,
  fieldsOf,
  isStored,
  limitRows,
  loginToTry,
  newServerOf,
  type Server,
} from "../server-form.ts";
import { mailMyself, readServer, serverPath, type Tried, triedOf } from "./servers.ts";

const t = messages.servers;

/** Fields that are always visible; the others are collapsed unless they have an error. */
const SHOWN = new Set(["sender_email", "host", "username", "password"]);

interface Form {
  server?: Server | undefined;
  errors?: Errors;
  tried?: Tried;
}

/** Fills in host, port and encryption of the provider in `?provider=`. */
function freshFields(provider: string | undefined): Fields {
  const preset = MAIL_PROVIDERS[provider ?? ""];
  return preset ? { ...FRESH, name: preset.label, host: preset.host, username: preset.username ?? "" } : { ...FRESH };
}

const providerLinks = (here: string, chosen: string | undefined) => [
  ...Object.entries(MAIL_PROVIDERS).map(([name, { label }]) => ({
    label,
    href: `${here}?provider=${name}`,
    current: name === chosen,
  })),
  { label: t.otherProvider, href: here, current: !MAIL_PROVIDERS[chosen ?? ""] },
];

async function showForm(visit: CompanyVisit, { server, errors = {}, tried }: Form): Promise<Answer> {
  const { provider } = visit.query;
  const fresh = () => (server ? fieldsOf(server) : freshFields(provider));
  const typed: Fields = Object.keys(visit.form).length > 0 ? visit.form : fresh();
  const here = companyPath(visit, "servers/new");
  const isFirst = !server && (await callIn(visit, "smtp-sender.listConfigs", { page_size: 1 })).count === 0;
  return {
    view: "server-form",
    title: server ? t.editTitle(server.name) : t.newTitle,
    values: {
      f: typed,
      limits: limitRows(typed),
      server,
      errors,
      tried,
      here: server ? serverPath(visit, server, "/edit") : here,
      providers: providerLinks(here, provider),
      provider: server ? undefined : MAIL_PROVIDERS[provider ?? ""],
      isDefault: server ? server.is_default : isFirst,
      // Without a script, a test shows the whole form again.
      isOpen: tried !== undefined || Object.keys(errors).some((name) => name !== "" && !SHOWN.has(name)),
      back: server ? serverPath(visit, server) : companyPath(visit, "servers"),
    },
  };
}

/** People who may not change servers do not see the form. */
export async function newServerPage(visit: CompanyVisit): Promise<Answer> {
  requireMay(visit, "smtp-sender.createConfig");
  return showForm(visit, {});
}

export async function editServerPage(visit: CompanyVisit): Promise<Answer> {
  requireMay(visit, "smtp-sender.updateConfig");
  return showForm(visit, { server: await readServer(visit) });
}

/**
 * Tests the typed server. Answers 200 even if the server does not work, because htmx then inserts the result without a
 * reload.
 */
async function tryTyped(visit: CompanyVisit, server: Server | undefined): Promise<Answer> {
  const { form } = visit;
  try {
    const { username = "", password = "", no_login } = form;
    const needsStored = server !== undefined && no_login === undefined && (username === "" || password === "");
    if (needsStored && !isStored(form, server)) {
      return showForm(visit, { server, tried: { ok: false, text: t.tried.failed, says: t.typeLogin } });
    }
    const result = needsStored
      ? await callIn(visit, "smtp-sender.validateConfig", { id: server.id })
      : await callIn(visit, "smtp-sender.validate", loginToTry(form));
    return showForm(visit, { server, tried: triedOf(result) });
  } catch (error) {
    const errors = errorsOf(error);
    const says = Object.entries(errors).map(([field, sentences]) => `${field}: ${sentences.join(" ")}`);
    return showForm(visit, {
      server,
      errors,
      tried: { ok: false, text: t.tried.failed, says: says.join(" ") },
    });
  }
}

/** Sends the first mail through a new server. A refusal is shown on the page of the server, which is saved. */
async function withMail(visit: CompanyVisit, server: Server): Promise<Answer> {
  const { ok, text, says = "", help = "" } = await mailMyself(visit, server);
  const sentences = ok ? [text] : [text, says, help];
  return withResult(visit, `servers/${server.id}`, { text: sentences.join(" ").trim(), hasFailed: !ok });
}

export const makeServer = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      if (visit.form.intent === "try") return tryTyped(visit, undefined);
      const server = await callIn(visit, "smtp-sender.createConfig", newServerOf(visit.form));
      if (visit.form.intent === "mail") return withMail(visit, server);
      return { goTo: serverPath(visit, server), notice: "saved" };
    },
    async (errors) => showForm(visit, { errors }),
  );

export async function changeServer(visit: CompanyVisit): Promise<Outcome | Answer> {
  const server = await readServer(visit);
  return orAgain(
    async () => {
      if (visit.form.intent === "try") return tryTyped(visit, server);
      const { id } = server;
      const changed = await callIn(visit, "smtp-sender.updateConfig", { id, ...changeOf(visit.form, server) });
      return { goTo: serverPath(visit, changed), notice: "saved" };
    },
    async (errors) => showForm(visit, { server, errors }),
  );
}

/** Maximum campaigns to load per status; higher numbers are shown as this one. */
const MAX_STOPPED = 100;
const MAX_NAMED = 10;

/** Campaigns with unsent mail for this server. */
async function stoppedBy(visit: CompanyVisit, { id }: Server) {
  const states = ["sending", "pending", "scheduled"] as const;
  const pages = await Promise.all(
    states.map((status) => callIn(visit, "campaigns.list", { status, page_size: MAX_STOPPED })),
  );
  return pages.flatMap(({ results }) => results).filter(({ smtp_config_id }) => smtp_config_id === id);
}

export async function deleteServerPage(visit: CompanyVisit): Promise<Answer> {
  requireMay(visit, "smtp-sender.removeConfig");
  const server = await readServer(visit);
  const stopped = await stoppedBy(visit, server);
  const remaining = stopped.reduce(
    (sum, { total_emails, sent_count, failed_count }) => sum + Math.max(0, total_emails - sent_count - failed_count),
    0,
  );
  const more = stopped.length - MAX_NAMED;
  return {
    view: "server-delete",
    title: t.deleteTitle(server.name),
    values: {
      server,
      stopped: stopped.slice(0, MAX_NAMED),
      stops: t.deleteStops(formatted(stopped.length), formatted(remaining)),
      more: more > 0 ? t.deleteMore(formatted(more)) : null,
      campaigns: companyPath(visit, "campaigns"),
      here: serverPath(visit, server, "/delete"),
      back: serverPath(visit, server),
    },
  };
}

export async function deleteServer(visit: CompanyVisit): Promise<Answer> {
  await callIn(visit, "smtp-sender.removeConfig", { id: visit.params.id! });
  return { goTo: companyPath(visit, "servers"), notice: "deleted" };
}
