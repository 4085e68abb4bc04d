/** Input and selections in the console are never lost, and actions affect exactly what was shown. */
import { setTimeout as sleep } from "node:timers/promises";
import jwt from "jsonwebtoken";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { query } from "../../models/database/db.ts";
import { keysFor } from "../../services/lib/secrets.ts";
import { type App, startApp } from "../support/app.ts";
import { newCompany, type TestCompany } from "../support/client.ts";
import { launchChromium } from "./chromium.ts";
import { openPage, signInOn } from "./open-page.ts";

const E = "/api/emails";
jest.setTimeout(180_000);

let app: App;
let browser: Browser;
let company: TestCompany;
beforeAll(async () => {
  [app, browser] = [await startApp(), await launchChromium()];
  company = await newCompany(app);
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

const at = (path: string) => `${app.url}/app/${company.id}/${path}`;
const made = async (path: string, body: object): Promise<string> => {
  const answer = await company.api.post(`${E}/${path}/`, body);
  expect({ path, status: answer.status, text: answer.status < 300 || answer.text }).toMatchObject({ status: 201 });
  return answer.body.id;
};
const bodyOf = async (id: string) => (await company.api.get(`${E}/drafts/${id}/`)).body.body;

/** Signed in, under the console's own policy. */
const open = (work: (page: Page) => Promise<void>, options: BrowserContextOptions = {}): Promise<void> =>
  openPage(browser, { bypassCSP: false, ...options }, async (page) => {
    await signInOn(page, app, company);
    await work(page);
  });

test("choosing a date while “Now” is selected chooses later, and “Now” clears the date", async () => {
  const list = await made("lists", { name: "Readers" });
  const draft = await made("drafts", { name: "Later", kind: "to-list", body: { list_id: list } });
  await open(async (page) => {
    await page.goto(at(`campaigns/drafts/${draft}/when`));
    expect(await page.getByRole("radio", { name: /^Now/ }).isChecked()).toBe(true);
    await page.getByLabel("Date and time").fill("2031-07-01T09:00");
    expect(await page.getByRole("radio", { name: /^At this time \(/ }).isChecked()).toBe(true);
    await page.getByText("Saved.", { exact: true }).waitFor();
    expect(await bodyOf(draft)).toMatchObject({ scheduled_for: "2031-07-01T09:00:00.000Z" });
    await page.getByRole("radio", { name: /^Now/ }).check();
    expect(await page.getByLabel("Date and time").inputValue()).toBe("");
  });
});

test("typing in a version switches the A/B test on", async () => {
  const list = await made("lists", { name: "Versions" });
  const draft = await made("drafts", {
    name: "Versions",
    kind: "to-list",
    body: { list_id: list, content: { subject: "First", body: "<p>Hi</p>" } },
  });
  await open(async (page) => {
    await page.goto(at(`campaigns/drafts/${draft}/what`));
    await page.getByText("A/B test", { exact: true }).click();
    const box = page.getByLabel("Test several versions");
    expect(await box.isChecked()).toBe(false);
    await page.getByRole("group", { name: "Version B" }).getByLabel("Subject").fill("Second");
    expect(await box.isChecked()).toBe(true);
    await page.getByRole("button", { name: "Save and close" }).click();
    await page.getByText("Saved.").waitFor();
    expect((await bodyOf(draft)).variants).toEqual([{ percent: 50 }, { percent: 50, subject: "Second" }]);
    await page.goto(at(`campaigns/drafts/${draft}/what`));
    await box.uncheck();
    await page.getByRole("button", { name: "Save and close" }).click();
    await page.getByText("Saved.").waitFor();
    expect((await bodyOf(draft)).variants).toBeUndefined();
  });
});

/** Sets the session to its state after twelve hours without a request. */
async function expireSession(page: Page): Promise<void> {
  const cookie = (await page.context().cookies()).find(({ name }) => name === "fm_session")!;
  const { exp: _, ...claims } = jwt.decode(cookie.value) as jwt.JwtPayload;
  const value = jwt.sign({ ...claims, exp: Math.floor(Date.now() / 1_000) - 60 }, keysFor("console")[0]!);
  await page.context().addCookies([{ ...cookie, value }]);
}

async function signInAgain(page: Page): Promise<void> {
  await page.getByText("Your session expired.").waitFor();
  await page.getByLabel("Email address").fill(company.email);
  await page.getByLabel("Password").fill(company.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("You are signed in again").waitFor();
}

test("the input of a form is restored after an expired session, and only its button saves it", async () => {
  const person = await made("subscribers", { email: "typed@example.com", first_name: "Ann" });
  const nameOf = async () => (await company.api.get(`${E}/subscribers/${person}/`)).body.first_name;
  await open(async (page) => {
    await page.goto(at(`subscribers/${person}`));
    await page.getByLabel("First name").fill("Typed for an hour");
    await expireSession(page);
    await page.getByRole("button", { name: "Save" }).click();
    await signInAgain(page);
    expect(page.url()).toBe(at(`subscribers/${person}`));
    expect(await page.getByLabel("First name").inputValue()).toBe("Typed for an hour");
    expect(await nameOf()).toBe("Ann");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    expect(await nameOf()).toBe("Typed for an hour");
  });
});

test("the input of a form is shown after an expired session, without JavaScript", async () => {
  const person = await made("subscribers", { email: "read@example.com", first_name: "Ann" });
  await open(
    async (page) => {
      await page.goto(at(`subscribers/${person}`));
      await page.getByLabel("First name").fill("Typed without a script");
      await expireSession(page);
      await page.getByRole("button", { name: "Save" }).click();
      await signInAgain(page);
      expect(await page.locator("#kept").textContent()).toContain("First name: Typed without a script");
      expect((await company.api.get(`${E}/subscribers/${person}/`)).body.first_name).toBe("Ann");
    },
    { javaScriptEnabled: false },
  );
});

test("a step's input is restored after all cookies are gone, and the automatic save says that the session expired", async () => {
  const list = await made("lists", { name: "Cookies" });
  const draft = await made("drafts", { name: "Cookies", kind: "to-list", body: { list_id: list } });
  await open(async (page) => {
    await page.goto(at(`campaigns/drafts/${draft}/what`));
    await page.getByLabel("Write it here").check();
    const subject = page.getByRole("textbox", { name: "Subject", exact: true }).first();
    await subject.fill("Before");
    await page.getByText("Saved.", { exact: true }).waitFor();
    await page.context().clearCookies();
    await subject.fill("Typed for an hour");
    expect(await page.getByText("Saved.", { exact: true }).count()).toBe(0);
    await page.getByText("Not saved: your session expired.").waitFor();
    await page.getByRole("button", { name: "Save and continue" }).click();
    await signInAgain(page);
    expect(await subject.inputValue()).toBe("Typed for an hour");
    expect((await bodyOf(draft)).content?.subject).toBe("Before");
    await page.getByRole("button", { name: "Save and close" }).click();
    await page.getByText("Saved.").waitFor();
    expect((await bodyOf(draft)).content?.subject).toBe("Typed for an hour");
  });
});

test("the rules of a segment are restored after an expired session and by the Back button", async () => {
  await open(async (page) => {
    const rule = () => page.getByRole("group", { name: "Rule 1" });
    await page.goto(at("segments/new"));
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("Typed");
    await rule().getByRole("combobox").first().selectOption("first_name");
    await rule().getByRole("textbox").last().fill("Ann");
    await page
      .getByText(/subscriber|Nobody/)
      .first()
      .waitFor();
    await page.goto(at("subscribers"));
    await page.goBack();
    await rule().getByRole("textbox").last().waitFor();
    expect(await rule().getByRole("textbox").last().inputValue()).toBe("Ann");
    expect(await page.getByRole("textbox", { name: "Name", exact: true }).inputValue()).toBe("Typed");
    await expireSession(page);
    await page.getByRole("button", { name: "Save" }).click();
    await signInAgain(page);
    await rule().getByRole("textbox").last().waitFor();
    expect(await rule().getByRole("textbox").last().inputValue()).toBe("Ann");
    expect((await company.api.get(`${E}/segments/`)).body.count).toBe(0);
  });
});

test("a step of a campaign is saved when it is left by a link, or by closing the page within a second", async () => {
  const list = await made("lists", { name: "Steps" });
  const draft = await made("drafts", { name: "Steps", kind: "to-list", body: { list_id: list } });
  const subject = async () => (await bodyOf(draft)).content?.subject;
  await open(async (page) => {
    await page.goto(at(`campaigns/drafts/${draft}/what`));
    await page.getByLabel("Write it here").check();
    await page.getByRole("textbox", { name: "Subject", exact: true }).fill("Left by a link");
    await page.getByRole("link", { name: "Schedule" }).click();
    await page.waitForURL(/when$/);
    expect(await subject()).toBe("Left by a link");
    await page.goto(at(`campaigns/drafts/${draft}/what`));
    await page.getByRole("textbox", { name: "Subject", exact: true }).fill("Left by the window");
    await page.goto(at("campaigns/drafts"));
    await expect(until(async () => (await subject()) === "Left by the window")).resolves.toBeUndefined();
  });
});

test("all results of a search are selected across pages, and the buttons show their number before they are pressed", async () => {
  const emails = Array.from({ length: 45 }, (_, n) => `forty${n}@example.com`);
  await query("insert into subscribers (company_id, email) select $1, unnest($2::text[])", [company.id, emails]);
  await open(async (page) => {
    await page.goto(at("subscribers?search=forty"));
    await page.getByRole("button", { name: "Delete …" }).waitFor({ state: "hidden" });
    await page.getByLabel("Select forty44@example.com").check();
    await page.getByRole("button", { name: "Delete 1 …" }).waitFor();
    await page.getByRole("link", { name: "Select all 45" }).click();
    await page.getByRole("link", { name: "Next" }).click();
    await page.waitForURL(/page=2/);
    await page.getByRole("button", { name: "Delete 45 …" }).click();
    await page.getByRole("button", { name: "Delete 45 permanently" }).click();
    await page.getByText("45 subscribers deleted.").waitFor();
    expect((await company.api.get(`${E}/subscribers/`, { query: { search: "forty" } })).body.count).toBe(0);
  });
});

test("leaving a changed form asks for confirmation, leaving an unchanged one does not", async () => {
  await open(async (page) => {
    let asked = 0;
    page.on("dialog", (dialog) => {
      asked += dialog.type() === "beforeunload" ? 1 : 0;
      void dialog.accept();
    });
    await page.goto(at("lists"));
    await page.goto(at("settings/company"));
    expect(asked).toBe(0);
    await page.getByLabel("Website", { exact: true }).fill("https://lantern.example");
    await page.goto(at("lists"));
    expect(asked).toBe(1);
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 30_000; !(await holds()); await sleep(100)) {
    if (Date.now() > deadline) throw new Error("It did not happen in time");
  }
}
