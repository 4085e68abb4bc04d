/** PostgreSQL's table of time zones decides which names are valid and what local times they have. */
import { query, queryOne } from "../../../models/database/db.ts";
import { clocksAt, instantOf, zoneNames } from "../../../models/statements/time-zones.ts";
import { type App, startApp } from "../../support/app.ts";
import { campaign } from "../../support/campaign-rows.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";
import { signIn } from "../../support/console-browser.ts";

let app: App;
let company: TestCompany;
beforeAll(async () => {
  app = await startApp();
  company = await newCompany(app);
});
afterAll(() => app.stop());

const setZone = (zone: string) => query("update companies set timezone = $2 where id = $1", [company.id, zone]);
const iso = async (clock: string) => (await instantOf(company.id, clock))?.toISOString();

test("recipients' hours match the company's local time for every valid zone name", async () => {
  const names = await zoneNames();
  expect(names.length).toBeGreaterThan(300);
  for (const clock of ["2026-12-01 03:12:00", "2026-03-02 12:00:00", "2026-07-01 23:30:00"]) {
    const differing = await query(
      `select n from time_zone_names() n left join zone_instants($1::timestamp) z on z.zone = lower(n)
       where local_time(z.instant, n) is distinct from $1::timestamp`,
      [clock],
    );
    expect(differing).toEqual([]);
  }
});

test("the console interprets scheduled local times like recipients' hours", async () => {
  for (const zone of ["Africa/Casablanca", "CET", "America/New_York", "Asia/Kathmandu"]) {
    await setZone(zone);
    const clock = "2026-12-01T03:12:00";
    const reader = await queryOne<{ instant: Date }>("select instant from zone_instants($1) where zone = lower($2)", [
      clock,
      zone,
    ]);
    const instant = (await iso(clock))!;
    expect([zone, instant]).toEqual([zone, reader!.instant.toISOString()]);
    expect(await clocksAt(company.id, [instant])).toEqual({ timezone: zone, clocks: [clock] });
  }
});

test("a local time skipped by daylight saving moves by that hour, and the second of a repeated one is used", async () => {
  await setZone("Europe/Berlin");
  expect(await iso("2027-03-28T02:30")).toBe("2027-03-28T01:30:00.000Z");
  expect(await iso("2027-10-31T02:30")).toBe("2027-10-31T01:30:00.000Z");
});

test("a day begins with its first midnight", async () => {
  const start = async (day: string, zone: string) =>
    (await queryOne<{ at: Date }>("select day_start($1, $2) as at", [day, zone]))!.at.toISOString();
  expect(await start("2026-07-01", "Europe/Berlin")).toBe("2026-06-30T22:00:00.000Z");
  // In Havana the hour before 01:00 occurs twice; in Santiago daylight saving skips the one after midnight.
  expect(await start("2026-11-01", "America/Havana")).toBe("2026-11-01T04:00:00.000Z");
  expect(await start("2026-09-06", "America/Santiago")).toBe("2026-09-06T04:00:00.000Z");
});

test("an unknown zone name is refused; one that is already stored breaks no page", async () => {
  const path = `/api/companies/${company.id}/`;
  const asOwner = { token: company.token };
  for (const timezone of ["Factory", "localtime", "posixrules", "posix/UTC", "Mars/Base", "utc+1", ""]) {
    expect([timezone, (await company.api.patch(path, { timezone }, asOwner)).status]).toEqual([timezone, 400]);
  }
  for (const timezone of ["Africa/Casablanca", "CET", "US/Pacific", "UTC"]) {
    expect([timezone, (await company.api.patch(path, { timezone }, asOwner)).status]).toEqual([timezone, 200]);
  }
  const { body: list } = await company.api.post("/api/emails/lists/", {
    name: "News",
    visibility: "public",
    archive: true,
  });
  await query(
    `update campaigns set campaign_type = 'to_list', status = 'completed', list_id = $2, started_at = '2026-12-01T23:30:00Z'
     where company_id = $1 and id = $3`,
    [company.id, list.id, await campaign({ companyId: company.id })],
  );
  const archive = () => company.api.get(`/api/emails/public/archive/${list.id}/`);
  await setZone("Asia/Tokyo");
  expect(await archive()).toMatchObject({ status: 200, text: expect.stringContaining("December 2, 2026") });
  await setZone("Factory");
  expect(await archive()).toMatchObject({ status: 200, text: expect.stringContaining("December 1, 2026") });
  const browser = await signIn(app, company);
  expect((await browser.open(`/app/${company.id}/settings/company`)).status).toBe(200);
});
