import { redact, redactText } from "../../services/lib/redact.ts";

describe("a log line", () => {
  test.each([
    ["an API key", "refused fm_0123456789abcdefghijKLMN of a client", "refused fm_[redacted] of a client"],
    ["a webhook secret", "signed with whsec_AAECAwQFBgcICQ==", "signed with whsec_[redacted]"],
    ["a bearer token", "Authorization: Bearer eyJhbGciOi.eyJzdWIi.c2ln", "Authorization: Bearer [redacted]"],
    ["a token by itself", "token eyJhbGciOi.eyJzdWIi.c2ln ended", "token [redacted] ended"],
    ["a password in a URL", "connect postgres://app:hunter2@db:5432/x", "connect postgres://app:[redacted]@db:5432/x"],
  ])("masks %s in a text", (_, text, clean) => {
    expect(redactText(text)).toBe(clean);
  });

  test("masks fields named after secrets and contents at any depth, and no others", () => {
    const logged = redact({
      campaignId: "c1",
      params: { password: "p", smtp: { private_key: "k", host: "mx.example.com" }, body: "<p>Hi</p>" },
      headers: { authorization: "x", "x-api-key": "y", accept: "text/html" },
      missing: { password: null },
    });
    expect(logged).toEqual({
      campaignId: "c1",
      params: {
        password: "[redacted]",
        smtp: { private_key: "[redacted]", host: "mx.example.com" },
        body: "[redacted]",
      },
      headers: { authorization: "[redacted]", "x-api-key": "[redacted]", accept: "text/html" },
      missing: { password: null },
    });
  });

  test("keeps an error's words, code and stack, without statements and values", () => {
    const error = Object.assign(new Error("duplicate key"), {
      code: "23505",
      detail: "Key (email)=(ann@example.com) already exists.",
      sql: "insert into users …",
      parameters: ["ann@example.com"],
    });
    const logged = redact({ error }) as { error: Record<string, unknown> };
    expect(Object.keys(logged.error).sort()).toEqual(["code", "message", "name", "stack"]);
  });

  test("is cut where it is long, deep or binary", () => {
    const deep: Record<string, unknown> = {};
    deep.self = deep;
    expect(JSON.stringify(redact(deep)).length).toBeLessThan(200);
    expect(redactText("x".repeat(1e6)).length).toBeLessThan(3_000);
    expect(redact({ file: Buffer.alloc(9) })).toEqual({ file: "[9 bytes]" });
  });
});
