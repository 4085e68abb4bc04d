import { checkArrived } from "../../../scripts/demo/check-arrived.ts";

const mail = (recipient: string, id: string) => ({
  recipients: [recipient],
  raw: Buffer.from(`Message-ID: <${id}@x>\r\n\r\n`),
});

describe("the demo's check", () => {
  test("finds nothing wrong when everyone got one mail", () => {
    expect(checkArrived(2, 2, [mail("a", "1"), mail("b", "2")])).toEqual([]);
  });
  test("finds a recipient who got nothing", () => {
    expect(checkArrived(2, 2, [mail("a", "1")])).toContain("1 mails arrived, not 2");
  });
  test("finds a recipient who got two, though the total is right", () => {
    expect(checkArrived(2, 2, [mail("a", "1"), mail("a", "2")])).toEqual(["1 different recipients, not 2"]);
  });
  test("finds a mail that was delivered twice", () => {
    expect(checkArrived(2, 2, [mail("a", "1"), mail("b", "1")])).toEqual(["1 different Message-IDs, not 2"]);
  });
  test("finds a count that differs from the delivered mails", () => {
    expect(checkArrived(2, 1, [mail("a", "1"), mail("b", "2")])).toEqual(["1 counted as sent, not 2"]);
  });
});
