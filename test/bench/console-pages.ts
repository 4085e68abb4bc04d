/** Pages that the console benchmark opens: all routes of the console, and typical filters and searches of lists. */
import { query, queryOne } from "../../models/database/db.ts";
import { operatorPages } from "../../services/console/operator-pages.ts";
import { companyPages, personPages } from "../../services/console/pages.ts";

export interface Example {
  name: string;
  /** Path below /app/. */
  path: string;
  cookie: string;
}

/** One example of each resource, by path prefix. */
const SOME: Record<string, string> = {
  campaigns: "select id from campaigns where company_id = $1 order by id desc limit 1",
  subscribers: "select id from subscribers where company_id = $1 order by id desc offset 1234 limit 1",
  lists: "select id from lists where company_id = $1 order by id limit 1",
  segments: "select id from segments where company_id = $1 order by id limit 1",
  templates: "select id from templates where company_id = $1 order by id limit 1",
  servers: "select id from smtp_configs where company_id = $1 order by id limit 1",
  webhooks: "select id from webhook_endpoints where company_id = $1 order by id limit 1",
  companies: "select $1::uuid as id",
};

async function idFor(pattern: string, company: string): Promise<string | undefined> {
  const below = pattern.split("/").findLast((part) => part in SOME);
  return below && (await queryOne<{ id: string }>(SOME[below]!, [company]))?.id;
}

/** Every route that is a page. Skips and reports those without an example. */
export async function pagesOf(company: string, owner: string, operator: string): Promise<Example[]> {
  const kinds = [
    { table: personPages, root: "", cookie: owner },
    { table: companyPages, root: company, cookie: owner },
    { table: operatorPages, root: "", cookie: operator },
  ];
  const examples: Example[] = [];
  for (const { table, root, cookie } of kinds) {
    for (const [pattern, { page }] of Object.entries(table)) {
      if (!page) continue;
      const id = pattern.includes(":") ? await idFor(pattern, company) : "";
      if (id === undefined) console.log(`${pattern}: the company has none`);
      else examples.push({ name: pattern || (root && "overview"), path: pathOf(root, pattern, id), cookie });
    }
  }
  return examples;
}

const pathOf = (root: string, pattern: string, id: string) =>
  [root, pattern.replace(/:\w+/, id)].filter((part) => part !== "").join("/");

/** Examples from the largest lists of a large company. */
export async function examplesOf(company: string, cookie: string, people: number): Promise<Example[]> {
  const [list] = await query<{ id: string }>("select id from lists where company_id = $1 and name = 'Interest 3'", [
    company,
  ]);
  const person = (await queryOne<{ email: string }>(
    "select email from subscribers where company_id = $1 order by id desc offset 1234 limit 1",
    [company],
  ))!;
  const asked = (values: Record<string, string>) => `subscribers?${new URLSearchParams(values)}`;
  const of = list!.id;
  const paths = [
    asked({ page: "2" }),
    asked({ page: `${Math.ceil(people / 25)}` }),
    asked({ search: person.email }),
    asked({ search: person.email.slice(2, -3) }),
    asked({ search: "lovelace" }),
    asked({ search: "ada lovel" }),
    asked({ search: "acme.example" }),
    asked({ search: "nobody-at-all" }),
    asked({ search: "zo" }),
    asked({ status: "active" }),
    asked({ status: "active", page: "500" }),
    asked({ status: "complained" }),
    asked({ status: "unsubscribed", page: "500" }),
    asked({ list: of }),
    asked({ list: of, page: "500" }),
    asked({ list: of, status: "active" }),
    asked({ list: of, status: "complained" }),
    asked({ list: of, status: "bounced", search: "grace" }),
    "suppressions?search=lovelace",
    "campaigns?search=newsletter",
    "campaigns?status=completed&page=12",
  ];
  return paths.map((path) => ({
    name: path.replaceAll(/[0-9a-f-]{36}/g, "id"),
    path: `${company}/${path}`,
    cookie,
  }));
}
