import { query } from "../../../models/database/db.ts";
import { call } from "../../../services/call.ts";
import { newId } from "../../../services/lib/ids.ts";
import { type App, startApp } from "../../support/app.ts";
import { campaign, sentEmail } from "../../support/campaign-rows.ts";

const [COMPANY, OTHER] = [newId(), newId()];

let app: App;
beforeAll(async () => {
  app = await startApp({ services: ["renderer"] });
  for (const id of [COMPANY, OTHER]) {
    await query("insert into companies (id, name, plan) values ($1, 'ACME', 'unlimited')", [id]);
  }
});
afterAll(() => app.stop());

const view = (sentEmailId: string) => call(app.broker, "renderer.renderView", { sentEmailId });

async function subscriber(): Promise<string> {
  const id = newId();
  await query(
    "insert into subscribers (id, company_id, email, first_name, attributes) values ($1, $2, $3, 'Stored', $4)",
    [id, COMPANY, `${id}@example.com`, { city: "Riga" }],
  );
  return id;
}

describe("renderer.renderView", () => {
  const body = '<body><a href="https://example.com/1">[[first_name]]</a> [[city]] [[email]]</body>';

  test("is the recipient's own email, untracked and without pixel, with the footer", async () => {
    const id = await sentEmail(COMPANY, await campaign({ companyId: COMPANY, body }), {
      subscriberId: await subscriber(),
    });
    const { subject, html } = await view(id);
    expect(subject).toBe("Hi Stored");
    expect(html).toContain('<a href="https://example.com/1">Stored</a> Riga bob@example.com');
    expect(html).toContain(`/public/unsubscribe/${id}/`);
    expect(html).not.toContain("/public/preferences/");
    expect(html).not.toMatch(/<img|\/click\//);
  });

  test("renders an inline receiver with the variables of the request", async () => {
    const id = await sentEmail(COMPANY, await campaign({ companyId: COMPANY, body }), {
      subscriberId: await subscriber(),
      variables: { first_name: "Given", city: "<Oslo>" },
    });
    expect(await view(id)).toMatchObject({
      subject: "Hi Given",
      html: expect.stringContaining("Given</a> &lt;Oslo&gt; bob@example.com"),
    });
  });

  test("is 404 for a confirmation, whose link is a credential", async () => {
    const campaignId = await campaign({ companyId: COMPANY, body });
    const id = await sentEmail(COMPANY, campaignId, { subscriberId: await subscriber() });
    await query("update campaigns set is_internal = true where id = $1", [campaignId]);
    await expect(view(id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("works when the subscriber has been deleted, and is 404 for an unknown id", async () => {
    const id = await sentEmail(COMPANY, await campaign({ companyId: COMPANY, body }), { subscriberId: newId() });
    expect((await view(id)).subject).toBe("Hi");
    await expect(view(newId())).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("renderer.subjects", () => {
  const subjects = async (ids: string[]) =>
    (await call(app.broker, "renderer.subjects", { ids }, { meta: { companyId: COMPANY } })).subjects;

  test("are in the order of the ids, empty for another company's", async () => {
    const [one, two] = [
      await campaign({ companyId: COMPANY }),
      await campaign({ companyId: COMPANY, subject: "To [[email]]" }),
    ];
    const a = await sentEmail(COMPANY, one, { variables: { first_name: "A" } });
    const b = await sentEmail(COMPANY, two, { email: "b@example.com" });
    const c = await sentEmail(COMPANY, one, { variables: { first_name: "C" } });
    const foreign = await sentEmail(OTHER, await campaign({ companyId: OTHER }));
    expect(await subjects([c, foreign, b, a])).toEqual(["Hi C", "", "To b@example.com", "Hi A"]);
    expect(await subjects([])).toEqual([]);
  });
});
