/** SMTP servers: the list, one server with its state, and operations. */
import type { ReturnsOf } from "../../contracts.ts";
import { escapeHtml } from "../../lib/escape-html.ts";
import { errorsOf, orAgain } from "../form-errors.ts";
import { messages } from "../messages.ts";
import { askedOf, pagerOf } from "../pager.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, may, type Outcome } from "../request.ts";
import { resultOf } from "../results.ts";
import type { Server } from "../server-form.ts";
import { troubleOf, troubleOfTest } from "../server-help.ts";

const t = messages.servers;

export async function serversPage(visit: CompanyVisit): Promise<Answer> {
  const { query } = visit;
  const { results, ...paging } = await callIn(visit, "smtp-sender.listConfigs", {
    ...askedOf(query),
    ordering: "name",
  });
  const here = companyPath(visit, "servers");
  return {
    view: "servers",
    title: t.title,
    values: {
      servers: results,
      asked: query,
      here,
      pager: pagerOf(here, query, paging),
      mayWrite: may(visit, "smtp-sender.createConfig"),
    },
  };
}

/** Result of a connection test or test mail, in words. */
export interface Tried {
  ok: boolean;
  text: string;
  says?: string;
  help?: string;
}

export function triedOf(result: ReturnsOf<"smtp-sender.validate">): Tried {
  const { valid, message } = result;
  return {
    ok: valid,
    text: valid ? t.tried.ok : t.tried.failed,
    says: message,
    ...(valid ? {} : { help: t.stages[troubleOfTest(result)] }),
  };
}

export const readServer = (visit: CompanyVisit): Promise<Server> =>
  callIn(visit, "smtp-sender.getConfig", { id: visit.params.id! });

export const serverPath = (visit: CompanyVisit, { id }: Server, rest = "") =>
  companyPath(visit, `servers/${id}${rest}`);

async function showOne(visit: CompanyVisit, tried?: Tried): Promise<Answer> {
  const server = await readServer(visit);
  const result = resultOf(visit);
  return {
    view: "server",
    title: server.name,
    values: {
      server,
      keys: [server.dkim ?? []].flat(),
      help: server.last_error === null ? null : t.stages[troubleOf(server.last_error)],
      tried: tried ?? (result && { ok: !result.hasFailed, text: result.text }),
      here: serverPath(visit, server),
      dns: companyPath(visit, `domains/${server.id}`),
      servers: companyPath(visit, "servers"),
      mayWrite: may(visit, "smtp-sender.updateConfig"),
      maySend: may(visit, "campaigns.sendTest"),
    },
  };
}

export const serverPage = (visit: CompanyVisit): Promise<Answer> => showOne(visit);

export const checkServer = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const result = await callIn(visit, "smtp-sender.validateConfig", { id: visit.params.id! });
      return showOne(visit, triedOf(result));
    },
    (errors) => showOne(visit, { ok: false, text: t.tried.failed, says: Object.values(errors).flat().join(" ") }),
  );

/** Sends only to the signed-in person. */
export async function mailMyself(visit: CompanyVisit, { id, name }: Server): Promise<Tried> {
  const { email } = visit.user;
  const failed = (says: string, help?: string): Tried => ({
    ok: false,
    text: t.testFailed(email),
    says,
    ...(help && { help }),
  });
  try {
    const { results } = await callIn(visit, "campaigns.sendTest", {
      smtp_config_id: id,
      to: [email],
      subject: t.testSubject,
      // Escapes brackets, because the name is inserted into a template.
      body: t.testBody(escapeHtml(name).replaceAll("[", "&#91;")),
    });
    const [{ status, error, smtp_response }] = results as [(typeof results)[number]];
    if (status === "sent") return { ok: true, text: t.testSent(email), says: smtp_response ?? "" };
    const says = error ?? smtp_response ?? status;
    return failed(says, t.stages[troubleOf(says)]);
  } catch (error) {
    return failed(Object.values(errorsOf(error)).flat().join(" "));
  }
}

export async function sendTestMail(visit: CompanyVisit): Promise<Answer> {
  return showOne(visit, await mailMyself(visit, await readServer(visit)));
}

export async function makeDefault(visit: CompanyVisit): Promise<Answer> {
  const server = await callIn(visit, "smtp-sender.updateConfig", { id: visit.params.id!, is_default: true });
  return { goTo: serverPath(visit, server), notice: "saved" };
}
