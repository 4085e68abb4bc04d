import { passwordErrors } from "../../../services/accounts/people/weak-password.ts";

const COMMON = ["This password is too common."];
const FEW = ["This password has too few different characters."];
const CLOSE = ["This password is too close to your name, address or company."];

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
])("%s is refused", (password) => {
  expect([COMMON, FEW]).toContainEqual(passwordErrors(password));
});

test.each(["aaaaaaaaaa", "1111111111", "abababababab", "aabbccddaabb"])("%s has few characters", (password) => {
  expect(passwordErrors(password)).toEqual(FEW);
});

test.each([
  "correct horse battery",
  "quite another staple",
  "a new battery",
  "Tr0ub4dor&3xyz",
  "vR7!qm2Lz9#k",
  "ein langer satz über nichts",
  "パスワードではない言葉です",
])("%s is fine", (password) => {
  expect(passwordErrors(password, ["ada@example.com", "Ada", "Lovelace", "Analytical Engines"])).toEqual([]);
});

test.each(["lovelace1815", "Analytical2024", "analyticalengines!", "ada.lovelace99"])("%s is known", (password) => {
  expect(passwordErrors(password, ["ada.lovelace@example.com", "Ada", "Lovelace", "Analytical Engines"])).toEqual(
    CLOSE,
  );
});

test("more bytes than anybody types are refused before anything is looked at", () => {
  expect(passwordErrors("é".repeat(600))).toEqual(["Ensure this field has no more than 1024 bytes."]);
});
