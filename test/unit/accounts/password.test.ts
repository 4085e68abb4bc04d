import { DUMMY_HASH, hashPassword, isPassword } from "../../../services/accounts/password.ts";

// N = 2, so that hashing takes no time.
const cheap = `scrypt$1$1$1$${Buffer.alloc(16).toString("base64url")}$${Buffer.alloc(32).toString("base64url")}`;

describe("a stored password", () => {
  test("matches its own password only, and shows its parameters but not the password", async () => {
    const hash = await hashPassword("correct horse battery");
    expect(hash).toMatch(/^scrypt\$14\$8\$5\$[\w-]{22}\$[\w-]{43}$/);
    expect(await isPassword("correct horse battery", hash)).toBe(true);
    expect(await isPassword("correct horse battery ", hash)).toBe(false);
  });

  test("differs each time", async () => {
    expect(await hashPassword("correct horse battery")).not.toBe(await hashPassword("correct horse battery"));
  });

  test("is checked with its own parameters, not with today's", async () => {
    // scrypt("pleaseletmein", "SodiumChloride", N = 2^14, r = 8, p = 1): RFC 7914 section 12, its first 32 bytes.
    const salt = Buffer.from("SodiumChloride").toString("base64url");
    const known = Buffer.from("7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2", "hex");
    const stored = `scrypt$14$8$1$${salt}$${known.toString("base64url")}`;
    expect(await isPassword("pleaseletmein", stored)).toBe(true);
  });

  test("does not depend on Unicode composition", async () => {
    const hash = await hashPassword("Zürich Zürich".normalize("NFC"));
    expect(await isPassword("Zürich Zürich".normalize("NFD"), hash)).toBe(true);
  });

  test("does not exist for an unknown user; the check matches no password and costs as much as any other", async () => {
    expect(await isPassword("", DUMMY_HASH)).toBe(false);
    const somebodys = await hashPassword("correct horse battery");
    expect(DUMMY_HASH.split("$").slice(0, 4)).toEqual(somebodys.split("$").slice(0, 4));
  });

  test("causes an internal error in an unknown format, not a wrong password", async () => {
    await expect(isPassword("x", "md5$abc")).rejects.toThrow("unknown form");
  });
});

test("logins beyond the queue are refused temporarily, and queued ones are served", async () => {
  const many = await Promise.allSettled(Array.from({ length: 110 }, () => isPassword("x", cheap)));
  const refused = many.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  expect(refused).toHaveLength(8);
  expect(refused.every(({ code, retryable }) => code === "UNAVAILABLE" && retryable)).toBe(true);
  expect(await isPassword("x", cheap)).toBe(false);
});
