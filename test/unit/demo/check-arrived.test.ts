import { checkArrived } from "../../../scripts/demo/check-arrived.ts";

const mail = (recipient: string, id: string) => ({
  recipients: [recipient],
  raw: Buffer.from(`Message-ID: <${id}@x>\r\n\r\n`),
});

describe("the demo finds", () => {
  test("nothing wrong when everyone got one mail", () => {
    expect(checkArrived(2, 2, [mail("a", "1"), mail("b", "2")])).toEqual([]);
  });
  test("a recipient who got nothing", () => {
    expect(checkArrived(2, 2, [mail("a", "1")])).toContain("1 mails arrived, not 2");
  });
  test("a recipient who got two, though the number is right", () => {
    expect(checkArrived(2, 2, [mail("a", "1"), mail("a", "2")])).toEqual(["1 different recipients, not 2"]);
  });
  test("a mail that came twice", () => {
    expect(checkArrived(2, 2, [mail("a", "1"), mail("b", "1")])).toEqual(["1 different Message-IDs, not 2"]);
  });
  test("a count that differs from what arrived", () => {
    expect(checkArrived(2, 1, [mail("a", "1"), mail("b", "2")])).toEqual(["1 counted as sent, not 2"]);
  });
});
