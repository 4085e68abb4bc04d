import fc from "fast-check";
import { cleanFilename } from "../../../services/campaigns/media/upload.ts";
import { requestHash } from "../../../services/campaigns/send/idempotency.ts";
import { receiverErrors, storedReceivers } from "../../../services/campaigns/send/inline-receivers.ts";
import { sniff } from "../../../services/lib/sniff.ts";

const anyObject = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue());
const nearlyReceiver = fc.record(
  {
    email: fc.oneof(fc.emailAddress(), fc.jsonValue()),
    cc: fc.oneof(fc.array(fc.emailAddress()), fc.jsonValue()),
    bcc: fc.jsonValue(),
    ["__proto__"]: fc.jsonValue(),
    note: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

test("any input as receivers is reported by index or stored, and never throws", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(anyObject, nearlyReceiver)), (receivers) => {
      const errors = receiverErrors(receivers as Record<string, unknown>[]);
      for (const error of errors) expect(error).toMatch(/^Receiver at index \d+ /);
      if (errors.length === 0)
        expect(storedReceivers(receivers as Record<string, unknown>[])).toHaveLength(receivers.length);
    }),
  );
});

test.each(["__proto__", "a.constructor", "toString"])("a text named %j is plain text", (name) => {
  expect(sniff(Buffer.from("words"), name)).toBe("text/plain");
});

test("any bytes have a type", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 4_096 }), fc.string({ unit: "binary" }), (bytes, name) => {
      expect(sniff(Buffer.from(bytes), name)).toMatch(/^[a-z]+\/[a-z0-9.+-]+$/);
    }),
  );
});

test("any name is clean: one line, no folder, not empty, not too long", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 600 }), (given) => {
      const name = cleanFilename(given);
      expect(name).toMatch(/^[^/\\\p{Cc}]+$/u);
      expect(name.length).toBeLessThanOrEqual(255);
      expect(name.isWellFormed()).toBe(true);
      expect(() => encodeURIComponent(name)).not.toThrow();
    }),
  );
});

test("a body's hash is independent of the order of its keys, and changes with its content", () => {
  fc.assert(
    fc.property(anyObject, fc.jsonValue(), (body, other) => {
      const reversed = Object.fromEntries(Object.entries(body).reverse());
      expect(requestHash("custom", reversed).equals(requestHash("custom", body))).toBe(true);
      expect(requestHash("to_list", body).equals(requestHash("custom", body))).toBe(false);
      const changed = { ...body, x: [other] };
      const same = JSON.stringify(body.x) === JSON.stringify([other]);
      expect(requestHash("custom", changed).equals(requestHash("custom", body))).toBe(same);
    }),
  );
});
