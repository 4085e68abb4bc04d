import { query, queryOne } from "../../../models/database/db.ts";
import type { ActionOf } from "../../../services/contracts.ts";
import { emailQuotaExceeded, featureNotAvailable } from "../../../services/lib/errors.ts";
import { newId } from "../../../services/lib/ids.ts";
import { answerTo, refusal } from "../../support/refusal.ts";
import { addMembers, as, newCompany, newList, toList, toReceivers, useWorld } from "./world.ts";

const pk = (id: string) => `Invalid pk "${id}" - object does not exist.`;
const UNKNOWN = "01a00000-0000-7000-8000-000000000000";
const ann = { email: "ann@example.com" };

describe("errors of a send", () => {
  const world = useWorld();

  const errorsOf = async (action: ActionOf, params: object, company = world.company): Promise<unknown> => {
    const before = await queryOne("select count(*) n from campaigns");
    const error = await as(world, company)(action as "campaigns.sendToList", params as never).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(await queryOne("select count(*) n from campaigns")).toEqual(before);
    return error && answerTo(error)[1];
  };

  test("an empty send to a list reports every required field at once", async () => {
    const required = ["This field is required."];
    expect(await errorsOf("campaigns.sendToList", {})).toEqual({
      name: required,
      smtp_config_id: required,
      template_id: required,
      list_id: required,
    });
  });

  test("wrong types and unknown references are reported together", async () => {
    const [template, smtp, list] = [newId(), newId(), newId()];
    const given = {
      name: "x".repeat(256),
      template_id: template,
      smtp_config_id: smtp,
      list_id: list,
      attachment_ids: ["nonsense"],
      is_transactional: "yes",
      scheduled_for: "tomorrow",
    };
    expect(await errorsOf("campaigns.sendToList", given)).toEqual({
      name: ["Ensure this field has no more than 255 characters."],
      template_id: [pk(template)],
      smtp_config_id: [pk(smtp)],
      list_id: [pk(list)],
      attachment_ids: ["Item at index 0: Must be a valid UUID."],
      is_transactional: ["Must be a valid boolean."],
      scheduled_for: [expect.stringMatching(/^Datetime has wrong format/)],
    });
  });

  test("another company's template, configuration, list, segment and file count as missing", async () => {
    const other = await newCompany();
    const [segment, file] = [newId(), newId()];
    await query("insert into segments (id, company_id, name, rules) values ($1, $2, 'S', '{}')", [segment, other.id]);
    await query(
      "insert into media (id, company_id, filename, content_type, size, sha256) values ($1, $2, 'a', 'b', 1, '')",
      [file, other.id],
    );
    expect(await errorsOf("campaigns.sendToList", toList(other, { attachment_ids: [file] }))).toEqual({
      template_id: [pk(other.template)],
      smtp_config_id: [pk(other.smtp)],
      list_id: [pk(other.list)],
      attachment_ids: [pk(file)],
    });
    const bySegment = { ...toList(world.company), list_id: undefined, segment_id: segment };
    expect(await errorsOf("campaigns.sendToList", bySegment)).toEqual({ segment_id: [pk(segment)] });
  });

  test("a list and a segment together are refused", async () => {
    const segment = newId();
    await query("insert into segments (id, company_id, name, rules) values ($1, $2, 'S', '{}')", [
      segment,
      world.company.id,
    ]);
    expect(await errorsOf("campaigns.sendToList", toList(world.company, { segment_id: segment }))).toEqual({
      segment_id: ["Give either list_id or segment_id, not both."],
    });
  });

  test.each(["2020-01-01T00:00:00Z", "2026-01-01T00:00:00+02:00"])(
    "a time in the past is refused: %s",
    async (time) => {
      expect(await errorsOf("campaigns.sendToList", toList(world.company, { scheduled_for: time }))).toEqual({
        scheduled_for: ["The time must be in the future."],
      });
    },
  );

  test("deleted files, and files that are too large together, are refused", async () => {
    const [gone, large] = [newId(), newId()];
    await query(
      `insert into media (id, company_id, filename, content_type, size, sha256, deleted_at)
       values ($1, $3, 'a', 'b', 1, '', now()), ($2, $3, 'a', 'b', 19000000, '', null)`,
      [gone, large, world.company.id],
    );
    const attaching = (id: string) => toList(world.company, { attachment_ids: [id] });
    expect(await errorsOf("campaigns.sendToList", attaching(gone))).toEqual({ attachment_ids: [pk(gone)] });
    expect(await errorsOf("campaigns.sendToList", attaching(large))).toEqual({
      attachment_ids: [expect.stringMatching(/^The attachments are 19000000 bytes together/)],
    });
  });

  test("another company in `company` is reported with all other errors", async () => {
    const elsewhere = { company: UNKNOWN, name: "", scheduled_for: "2001-01-01T00:00:00Z" };
    expect(await errorsOf("campaigns.sendToList", toList(world.company, elsewhere))).toEqual({
      company: [pk(UNKNOWN)],
      name: ["This field may not be blank."],
      scheduled_for: ["The time must be in the future."],
    });
    const own = { company: world.company.id.toUpperCase(), name: "" };
    expect(await errorsOf("campaigns.sendToList", toList(world.company, own))).toEqual({
      name: ["This field may not be blank."],
    });
  });

  test("receivers are refused if there are none, too many or no list, and each invalid one by its index", async () => {
    const sending = (receivers: unknown) =>
      errorsOf("campaigns.sendToReceivers", toReceivers(world.company, receivers as never));
    expect(await sending([])).toEqual({ receivers: ["This list may not be empty."] });
    expect(await sending(Array(10_001).fill(ann))).toEqual({
      receivers: ["Ensure this field has no more than 10000 elements."],
    });
    expect(await sending("ann@example.com")).toEqual({ receivers: ['Expected a list of items but got type "str".'] });
    expect(await sending(undefined)).toEqual({ receivers: ["This field is required."] });
    expect(await sending([ann, ann, {}, { email: "nope" }])).toEqual({
      receivers: [
        "Receiver at index 2 is missing 'email'.",
        "Receiver at index 3 has an invalid 'email'. Enter a valid email address.",
      ],
    });
    expect(await sending([ann, "bob@example.com"])).toEqual({
      receivers: ['Item at index 1: Expected a dictionary of items but got type "str".'],
    });
    expect(await sending(["bob@example.com", null, [], {}])).toEqual({
      receivers: expect.arrayContaining([
        'Item at index 0: Expected a dictionary of items but got type "str".',
        "Receiver at index 3 is missing 'email'.",
      ]),
    });
    expect(await sending([{ ...ann, note: "a\0b" }])).toEqual({ receivers: ["Null characters are not allowed."] });
  });

  test("a custom send is refused with a schedule, a line break in the subject, or template syntax errors", async () => {
    const custom = {
      name: "C",
      smtp_config_id: world.company.smtp,
      receivers: [ann],
      subject: "Hi [[#if x]]",
      body: "<p>[[/each]]</p>",
      scheduled_for: "2999-01-01T00:00:00Z",
    };
    expect(await errorsOf("campaigns.sendCustom", custom)).toEqual({
      subject: [expect.stringMatching(/line 1, column 4/)],
      body: [expect.stringMatching(/line 1, column 4/)],
      scheduled_for: ["Custom emails cannot be scheduled."],
    });
    expect(
      await errorsOf("campaigns.sendCustom", { ...custom, scheduled_for: null, body: "x", subject: "a\nBcc: b" }),
    ).toEqual({
      subject: ["Line breaks and control characters are not allowed."],
    });
    expect(await errorsOf("campaigns.sendCustom", { ...custom, scheduled_for: null, body: "", subject: " " })).toEqual({
      subject: ["This field may not be blank."],
      body: ["This field may not be blank."],
    });
    expect(
      await errorsOf("campaigns.sendCustom", { ...custom, scheduled_for: null, subject: "S", body: " \n " }),
    ).toEqual({
      body: ["This field may not be blank."],
    });
  });

  describe("the plan", () => {
    afterEach(() => {
      world.hour = { limit: null, used: 0, room: null, retry_after_seconds: 0 };
      world.admitEmails = () => {};
      world.requireFeature = () => {};
    });

    test("refuses a schedule without the feature", async () => {
      world.requireFeature = (feature) => {
        throw featureNotAvailable(feature, "free");
      };
      const scheduled = toList(world.company, { scheduled_for: "2999-01-01T00:00:00Z" });
      expect(await errorsOf("campaigns.sendToList", scheduled)).toMatchObject({
        detail: { code: "feature_not_available", feature: "scheduled_campaigns", package: "free" },
      });
    });

    test("refuses a segment without the feature", async () => {
      const segment = newId();
      await query("insert into segments (id, company_id, name, rules) values ($1, $2, 'S', $3)", [
        segment,
        world.company.id,
        JSON.stringify({ conditions: [{ field: "email", operator: "contains", value: "@" }] }),
      ]);
      world.requireFeature = (feature) => {
        throw featureNotAvailable(feature, "free");
      };
      const bySegment = { ...toList(world.company), list_id: undefined, segment_id: segment };
      expect(await errorsOf("campaigns.sendToList", bySegment)).toMatchObject({
        detail: { code: "feature_not_available", feature: "segments" },
      });
    });

    test("checks the monthly quota before the hourly limit", async () => {
      world.hour = { limit: 10, used: 10, room: 0, retry_after_seconds: 60 };
      world.admitEmails = () => {
        throw emailQuotaExceeded(3_000);
      };
      expect(await errorsOf("campaigns.sendToReceivers", toReceivers(world.company, [ann]))).toEqual({
        detail: "Email quota exceeded. Your plan allows 3000 emails per month.",
      });
    });

    test("answers 429 with Retry-After to a send of more mails than the hour has left", async () => {
      world.hour = { limit: 100, used: 98, room: 2, retry_after_seconds: 75 };
      const company = await newCompany();
      await addMembers(company, 3);
      const error = await as(world, company)("campaigns.sendToList", toList(company)).catch((thrown) => thrown);
      expect(error).toMatchObject({
        code: "SMTP_RATE_LIMITED",
        data: { retryAfterSeconds: 75 },
      });
    });

    test("does not count a scheduled send in this hour, and admits an exact fit", async () => {
      world.hour = { limit: 100, used: 98, room: 2, retry_after_seconds: 75 };
      const company = await newCompany();
      await addMembers(company, 3);
      const scheduled = toList(company, { scheduled_for: "2999-01-01T00:00:00Z" });
      expect(await as(world, company)("campaigns.sendToList", scheduled)).toMatchObject({ status: "scheduled" });
      const two = toReceivers(company, [ann, { email: "bob@example.com" }]);
      expect(await as(world, company)("campaigns.sendToReceivers", two)).toMatchObject({
        status: "pending",
        total_emails: 2,
      });
    });

    test("checks the quota with the list's counter, whatever the list holds", async () => {
      const asked: number[] = [];
      world.admitEmails = (emails) => void asked.push(emails);
      const company = await newCompany();
      await addMembers(company, 7, await newList(company.id));
      await addMembers(company, 4);
      await as(world, company)("campaigns.sendToList", toList(company));
      expect(asked).toEqual([4]);
    });

    test("counts copies in the month and in the hour: one receiver with three copies is four messages", async () => {
      const asked: number[] = [];
      world.admitEmails = (emails) => void asked.push(emails);
      world.hour = { limit: 10, used: 7, room: 3, retry_after_seconds: 60 };
      const company = await newCompany();
      const cc = ["b@example.com", "c@example.com"];
      const one = toReceivers(company, [{ email: "a@example.com", cc, bcc: ["b@example.com", "d@example.com"] }]);
      expect(await refusal(as(world, company)("campaigns.sendToReceivers", one))).toMatchObject([
        429,
        { detail: { message: "This send has 4 emails, and 3 of 10 emails are left in this hour." } },
      ]);
      expect(asked).toEqual([4]);
      world.hour = { limit: null, used: 0, room: null, retry_after_seconds: 0 };
    });

    test("counts the first send in the hourly usage before it is sent, copies included", async () => {
      world.hour = { limit: 10, used: 0, room: 10, retry_after_seconds: 60 };
      const company = await newCompany();
      const withCopies = { cc: ["b@example.com", "c@example.com"], bcc: ["d@example.com"] };
      const two = toReceivers(company, [
        { ...ann, ...withCopies },
        { email: "e@example.com", ...withCopies },
      ]);
      expect(await as(world, company)("campaigns.sendToReceivers", two)).toMatchObject({ status: "pending" });
      const one = toReceivers(company, [{ ...ann, ...withCopies }]);
      expect(await refusal(as(world, company)("campaigns.sendToReceivers", one))).toMatchObject([
        429,
        { detail: { message: "This send has 4 emails, and 2 of 10 emails are left in this hour." } },
      ]);
    });

    test("checks a scheduled send against the month in which it is due, together with others due then", async () => {
      const company = await newCompany();
      await addMembers(company, 3);
      await query(
        `with plan as (insert into plans (name, emails_per_month) values ($2, 5) returning name)
         update companies set plan = plan.name from plan where id = $1`,
        [company.id, `plan-${company.id}`],
      );
      const scheduled = (month: string) =>
        as(world, company)("campaigns.sendToList", toList(company, { scheduled_for: `2999-${month}-15T12:00:00Z` }));
      expect(await scheduled("01")).toMatchObject({ status: "scheduled" });
      expect((await refusal(scheduled("01")))[0]).toBe(403);
      expect(await scheduled("02")).toMatchObject({ status: "scheduled" });
    });
  });
});
