import fc from "fast-check";
import { guessesOf } from "../../../services/accounts/people/password-guesses.ts";
import { passwordErrors } from "../../../services/accounts/people/weak-password.ts";

const ADA = ["ada.lovelace@example.com", "Ada", "Lovelace", "Analytical Engines"];
const COMMON = ["This password is too common."];
const FEW = ["This password has too few different characters."];
const CLOSE = ["This password is too close to your name, address or company."];
const EASY = ["This password is too easy to guess."];

test.each([
  "1234567890",
  "0987654321",
  "password123",
  "Password1234!",
  "P@ssw0rd2024",
  "passwordpassword",
  "qwertyuiop",
  "qwertyuiop123",
  "1qaz2wsx3edc",
  "1q2w3e4r5t",
  "iloveyou123",
  "administrator",
  "abcdefghij",
  "welcome2024!",
  "football12345",
  "abcabcabcabc",
  "Summer2024!!",
  "letmein12345",
])("%s is refused", async (password) => {
  expect([COMMON, FEW]).toContainEqual(await passwordErrors(password));
});

test.each(["aaaaaaaaaa", "1111111111", "abababababab", "aabbccddaabb"])(
  "%s has too few different characters",
  async (password) => {
    expect(await passwordErrors(password)).toEqual(FEW);
  },
);

test.each([
  "christopher1",
  "Elizabeth01",
  "y4nkee$2009",
  "ｙａｎｋｅｅｓ２００９",
  "drowssap2024",
  "purple4410275",
  "dragon9482716!",
  "t1e2s3t4!8264",
])("%s is a leaked password with few characters around it", async (password) => {
  expect(await passwordErrors(password)).toEqual(COMMON);
});

test.each(["12/12/1990", "29.02.1984", "19851985aa", "ABCD1234abcd", "147258369000", "!@#$%^&*()", "constructor"])(
  "%s is easy to guess",
  async (password) => {
    expect(await passwordErrors(password)).toEqual(EASY);
  },
);

test.each([
  "correct horse battery",
  "quite another staple",
  "a new battery",
  "Tr0ub4dor&3xyz",
  "vR7!qm2Lz9#k",
  "ein langer satz über nichts",
  "パスワードではない言葉です",
])("%s is accepted", async (password) => {
  expect(await passwordErrors(password, ["ada@example.com", "Ada", "Lovelace", "Analytical Engines"])).toEqual([]);
});

test.each(["lovelace1815", "Analytical2024", "analyticalengines!", "ada.lovelace99"])(
  "%s is known",
  async (password) => {
    expect(await passwordErrors(password, ADA)).toEqual(CLOSE);
  },
);

test.each(["ecalevol1815", "l0ve1ace!!1", "analytica1843"])("%s is known, in another spelling", async (password) => {
  expect(await passwordErrors(password)).toEqual([]);
  expect(await passwordErrors(password, ADA)).toEqual(CLOSE);
});

test("no text makes the check fail, whatever the person's name", async () => {
  const text = fc.string({ unit: "binary", minLength: 0, maxLength: 60 });
  const hostile = fc.constantFrom(
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "\ud800",
    "((((()|/\\",
    "1!|0o".repeat(9),
  );
  const typed = fc.oneof(
    text,
    hostile,
    fc.tuple(text, hostile).map((parts) => parts.join("")),
  );
  const checked = fc.asyncProperty(typed, fc.array(typed, { maxLength: 4 }), async (password, words) => {
    expect(Array.isArray(await passwordErrors(password, words))).toBe(true);
  });
  await fc.assert(checked, { numRuns: 100 });
});

test("only the first 32 characters of a long password are scored", async () => {
  const start = "1!|0o4@5$7+".repeat(3).slice(0, 32);
  const { count } = await guessesOf(start, []);
  expect(await guessesOf(start + "password1234".repeat(82), [])).toEqual({ count, byWords: false });
});

test("the lists are loaded on the first check", async () => {
  const loaded: string[] = [];
  await jest.isolateModulesAsync(async () => {
    for (const name of ["@zxcvbn-ts/core", "@zxcvbn-ts/language-common"]) {
      jest.doMock(name, () => {
        loaded.push(name);
        return jest.requireActual(name);
      });
    }
    const { passwordErrors: check } = await import("../../../services/accounts/people/weak-password.ts");
    expect(loaded).toEqual([]);
    expect(await check("vR7!qm2Lz9#k")).toEqual([]);
    expect(loaded.toSorted()).toEqual(["@zxcvbn-ts/core", "@zxcvbn-ts/language-common"]);
  });
});

test("overlong passwords are refused before any check", async () => {
  expect(await passwordErrors("é".repeat(600))).toEqual(["Ensure this field has no more than 1024 bytes."]);
});
