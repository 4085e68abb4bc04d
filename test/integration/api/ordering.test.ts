/** `ordering` and `search` are the list parameters closest to SQL. */
import { contractOf } from "../../../services/contracts.ts";
import { routes } from "../../../services/gateway/routes.ts";
import { type App, startApp } from "../../support/app.ts";
import { type Client, client, newCompany } from "../../support/client.ts";

const E = "/api/emails";
const lists = routes.filter(({ answer }) => answer === "list");

const HOSTILE = [
  "id",
  "-company_id",
  "password_hash",
  "secret_sealed",
  "1",
  "(select 1)",
  "created_at desc",
  "created_at,-id",
  "created_at; drop table companies",
  "created_at--",
  "--created_at",
  "-",
  "CREATED_AT",
  '"created_at"',
  "case when 1=1 then 1 end",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "$1",
];

describe("every list", () => {
  let app: App;
  let api: Client;
  const owners: Record<string, string> = {};

  beforeAll(async () => {
    app = await startApp();
    const company = await newCompany(app);
    api = client(app, { token: company.token });
    const make = async (path: string, body: object) =>
      (await company.api.post(`${E}/${path}/`, body)).body.id as string;
    owners[`${E}/lists/:id/`] = await make("lists", { name: "Readers" });
    owners[`${E}/segments/:id/`] = await make("segments", {
      name: "S",
      rules: { match: "all", conditions: [{ field: "email", operator: "contains", value: "@" }] },
    });
    owners[`${E}/webhook-endpoints/:id/`] = await make("webhook-endpoints", {
      url: "http://127.0.0.1:9/hook",
      events: ["opened"],
    });
    owners["/api/companies/:id/"] = company.id;
  });
  afterAll(() => app.stop());

  const ask = (path: string, query: Record<string, string>) => {
    const owner = Object.keys(owners).find((prefix) => path.startsWith(prefix));
    const company = owners["/api/companies/:id/"]!;
    const target = owner ? path.replace(":id", owners[owner]!) : path;
    return api.get(target, { query: path.startsWith("/api/companies/") ? query : { ...query, company } });
  };

  test.each(lists.map(({ path }) => path))("%s sorts by its documented fields only", async (path) => {
    for (const ordering of ["created_at", "-created_at"]) {
      expect([ordering, (await ask(path, { ordering })).status]).toEqual([ordering, 200]);
    }
    for (const ordering of HOSTILE) {
      const { status, body } = await ask(path, { ordering });
      expect([ordering, status, Object.keys(body)]).toEqual([ordering, 400, ["ordering"]]);
    }
  });

  const describing = lists.flatMap(({ path, action }) => {
    const named = /Sortable: ([\w, ]+)\./.exec(contractOf(action).description ?? "")?.[1];
    return named === undefined ? [] : [[path, named.split(", ").toSorted().join(", ")]];
  });
  test.each(describing)("%s documents its orderings: %s", async (path, fields) => {
    const { body } = await ask(path, { ordering: "nothing" });
    expect(body.ordering).toEqual([`"nothing" is not a sortable field. Choose one of: ${fields}.`]);
  });

  test.each(lists.map(({ path }) => path))("%s can be searched for any text", async (path) => {
    for (const search of ["' or 1=1 --", "%", "_", "\\", "$1", "zz'); select pg_sleep(9); --", "(?:(((((", "\u202e"]) {
      expect([search, (await ask(path, { search })).status]).toEqual([search, 200]);
    }
  });
});
