import { createHmac } from "node:crypto";
import jwt from "jsonwebtoken";
import { keysFor } from "../../../services/lib/secrets.ts";
import { BEARER_SECONDS, signBearer, verifyBearer } from "../../../services/lib/tokens/bearer.ts";

const USER = "018f0000-0000-7000-8000-000000000001";
const MARK = "aaaabbbbccccdddd";
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const claims = (more: object = {}) => ({
  sub: USER,
  pwd: MARK,
  iss: "flockmail",
  exp: Math.floor(Date.now() / 1000) + 60,
  ...more,
});

describe("a bearer token", () => {
  beforeAll(() => {
    Object.assign(process.env, { SECRET_KEY: "today's secret secret", SECRET_KEY_OLD: "yesterday's secret" });
  });

  test("identifies the user for 15 minutes", () => {
    const token = signBearer(USER, MARK);
    expect(verifyBearer(token)).toEqual({ userId: USER, passwordMark: MARK });
    const { iat, exp } = jwt.decode(token) as jwt.JwtPayload;
    expect(exp! - iat!).toBe(BEARER_SECONDS);
    expect(BEARER_SECONDS).toBe(900);
  });

  test("is still valid if signed with the previous secret", () => {
    expect(verifyBearer(jwt.sign(claims(), keysFor("bearer")[1]!))).toEqual({ userId: USER, passwordMark: MARK });
  });

  test.each<[string, () => string]>([
    ["expired", () => jwt.sign(claims({ exp: Math.floor(Date.now() / 1000) - 1 }), keysFor("bearer")[0]!)],
    ["that never expires", () => jwt.sign({ sub: USER, iss: "flockmail" }, keysFor("bearer")[0]!)],
    ["signed with another key", () => jwt.sign(claims(), Buffer.alloc(32, 7))],
    ["signed with the key of another purpose", () => jwt.sign(claims(), keysFor("link")[0]!)],
    ["without a signature", () => `${part({ alg: "none", typ: "JWT" })}.${part(claims())}.`],
    ["that chooses another algorithm", () => jwt.sign(claims(), keysFor("bearer")[0]!, { algorithm: "HS512" })],
    [
      "whose header says none over a right signature",
      () => {
        const text = `${part({ alg: "none" })}.${part(claims())}`;
        return `${text}.${createHmac("sha256", keysFor("bearer")[0]!).update(text).digest("base64url")}`;
      },
    ],
    ["of another issuer", () => jwt.sign(claims({ iss: "somebody" }), keysFor("bearer")[0]!)],
    ["whose subject is not a user id", () => jwt.sign(claims({ sub: "admin" }), keysFor("bearer")[0]!)],
    ["that names no password", () => jwt.sign(claims({ pwd: undefined }), keysFor("bearer")[0]!)],
    ["without a subject", () => jwt.sign(claims({ sub: undefined }), keysFor("bearer")[0]!)],
    [
      "that is not yet valid",
      () => jwt.sign(claims({ nbf: Math.floor(Date.now() / 1000) + 60 }), keysFor("bearer")[0]!),
    ],
    ["with changed contents", () => signBearer(USER, MARK).replace(/\.[^.]+\./, `.${part(claims())}.`)],
    ["of enormous length", () => jwt.sign(claims({ pad: "x".repeat(10_000) }), keysFor("bearer")[0]!)],
    ["that is nothing like it", () => "hello"],
    ["that is empty", () => ""],
  ])("is refused if it is %s", (_, token) => {
    expect(verifyBearer(token())).toBeNull();
  });
});
