import { receiverErrors, storedReceivers } from "../../../services/campaigns/send/inline-receivers.ts";

const nested = (depth: number): unknown => (depth === 0 ? "x" : { inner: nested(depth - 1) });

describe("the errors of receivers", () => {
  test("are none for valid ones", () => {
    const receivers = [
      { email: " Ann@Example.com " },
      {
        email: "bob@example.com",
        cc: ["c@example.com"],
        bcc: null,
        order: 12,
        paid: true,
        items: ["a", { price: 3 }],
        note: null,
      },
    ];
    expect(receiverErrors(receivers)).toEqual([]);
  });

  test.each([
    [{}, "is missing 'email'."],
    [{ email: null }, "is missing 'email'."],
    [{ email: "" }, "is missing 'email'."],
    [{ email: 7 }, "has an 'email' that is not a valid string."],
    [{ email: "ann" }, "has an invalid 'email'. Enter a valid email address."],
    [
      { email: "ann@example.com\r\nBcc: x@example.com" },
      "has an invalid 'email'. Enter a valid email address. It contains an invisible character (U+000D).",
    ],
    [{ email: "a@example.com", cc: "b@example.com" }, "has a 'cc' that is not a list of email addresses."],
    [
      { email: "a@example.com", cc: ["b@example.com", "no"] },
      "has an invalid 'cc' at index 1. Enter a valid email address.",
    ],
    [{ email: "a@example.com", bcc: [7] }, "has an invalid 'bcc' at index 0. Enter a valid email address."],
    [{ email: "a@example.com", bcc: Array(51).fill("b@example.com") }, "has a 'bcc' of more than 50 addresses."],
    [{ email: "a@example.com", deep: nested(4) }, "has a variable 'deep' that is nested too deeply."],
    [
      { email: "a@example.com", ...Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`v${n}`, n])) },
      "has more than 200 variables.",
    ],
  ])("name the index: %#", (receiver, sentence) => {
    expect(receiverErrors([{ email: "ok@example.com" }, receiver])).toEqual([`Receiver at index 1 ${sentence}`]);
  });

  test("have the sentence of the specification", () => {
    const ok = { email: "ok@example.com" };
    expect(receiverErrors([ok, ok, { name: "x" }])).toEqual(["Receiver at index 2 is missing 'email'."]);
  });

  test("are reported for only the first hundred of ten thousand", () => {
    expect(receiverErrors(Array(10_000).fill({}))).toHaveLength(100);
  });
});

describe("the stored fields of receivers", () => {
  test("are trimmed addresses, copies once each, and every other field as a variable", () => {
    const given = {
      email: " Ann@Example.com ",
      cc: ["b@x.example ", "b@x.example"],
      bcc: [],
      first_name: "Ann",
      order: 12,
    };
    expect(storedReceivers([given])).toEqual([
      { email: "Ann@Example.com", cc: ["b@x.example"], bcc: null, variables: { first_name: "Ann", order: 12 } },
    ]);
  });

  test("include a variable named __proto__, which changes no prototype", () => {
    const [kept] = storedReceivers([JSON.parse('{"email":"a@example.com","__proto__":{"admin":true}}')]);
    expect(Object.keys(kept!.variables)).toEqual(["__proto__"]);
    expect((kept!.variables as { admin?: boolean }).admin).toBeUndefined();
  });
});
