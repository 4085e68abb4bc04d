/** Authentication of provider webhooks. */
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { carriesSecret, isRecent } from "../../../services/bounces/providers/credentials.ts";
import { mailgunToken } from "../../../services/bounces/providers/mailgun.ts";
import { isFromSendgrid, sendgridKey } from "../../../services/bounces/providers/sendgrid.ts";
import { readSns, snsUrl } from "../../../services/bounces/providers/sns.ts";
import { isFromSparkpost } from "../../../services/bounces/providers/sparkpost.ts";
import { selfMadeCertificate } from "../../support/certificate.ts";

const NOW = Date.UTC(2026, 10, 22, 12);
const seconds = (agoSeconds: number) => String(NOW / 1_000 - agoSeconds);

describe("a secret without a signature", () => {
  const basic = (pair: string) => ({ headers: { authorization: `Basic ${Buffer.from(pair).toString("base64")}` } });
  const request = (headers: Record<string, string>) => ({ headers, body: "" });

  test("is accepted as a password with any user name, even with colons in it, and as a bearer token", () => {
    expect(carriesSecret({ ...basic("anyone:s3:cret"), body: "" }, "s3:cret")).toBe(true);
    expect(carriesSecret(request({ authorization: "bearer s3cret" }), "s3cret")).toBe(true);
    expect(isFromSparkpost(request({ "x-messagesystems-webhook-token": "s3cret" }), "s3cret")).toBe(true);
  });

  test.each([
    [{}],
    [{ authorization: "" }],
    [{ authorization: "Bearer s3cre" }],
    [{ authorization: "Bearer s3cret2" }],
    [{ authorization: "s3cret" }],
    [basic("s3cret").headers],
    [basic("s3cret:other").headers],
    [{ authorization: "Basic !!!!" }],
  ])("is refused as %j", (headers) => {
    expect(carriesSecret(request(headers as Record<string, string>), "s3cret")).toBe(false);
    expect(isFromSparkpost(request(headers as Record<string, string>), "s3cret")).toBe(false);
  });
});

test("a time is accepted while recent, and up to five minutes in the future", () => {
  expect(isRecent(seconds(59), 60, NOW)).toBe(true);
  expect(isRecent(seconds(61), 60, NOW)).toBe(false);
  expect(isRecent(seconds(-299), 60, NOW)).toBe(true);
  expect(isRecent(seconds(-301), 60, NOW)).toBe(false);
  for (const text of ["", "now", "-1", "1e9", " 1"]) expect(isRecent(text, 1e12, NOW)).toBe(false);
});

describe("SendGrid", () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const secret = publicKey.export({ type: "spki", format: "der" }).toString("base64");
  const pem = publicKey.export({ type: "spki", format: "pem" }) as string;
  const body = '[{"event":"bounce","email":"zoë@example.com"}]\r\n';
  const request = (timestamp: string, signed = timestamp + body, posted = body) => ({
    headers: {
      "x-twilio-email-event-webhook-signature": sign("sha256", Buffer.from(signed), privateKey).toString("base64"),
      "x-twilio-email-event-webhook-timestamp": timestamp,
    },
    body: posted,
  });

  test("the signature covers timestamp and exact bytes; the key is base64 or PEM", () => {
    for (const key of [secret, pem]) expect(isFromSendgrid(request(seconds(10)), key, NOW)).toBe(true);
  });

  test("another body, time, key or no signature is refused", () => {
    const time = seconds(10);
    expect(isFromSendgrid(request(time, time + body, body.trim()), secret, NOW)).toBe(false);
    expect(isFromSendgrid(request(time, seconds(11) + body), secret, NOW)).toBe(false);
    const other = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey;
    const otherKey = other.export({ type: "spki", format: "der" }).toString("base64");
    expect(isFromSendgrid(request(time), otherKey, NOW)).toBe(false);
    expect(isFromSendgrid({ headers: {}, body }, secret, NOW)).toBe(false);
    const garbled = { ...request(time).headers, "x-twilio-email-event-webhook-signature": "AAAA" };
    expect(isFromSendgrid({ headers: garbled, body }, secret, NOW)).toBe(false);
  });

  test("a request older than a day is refused, a recent repetition is not", () => {
    expect(isFromSendgrid(request(seconds(24 * 3_600)), secret, NOW)).toBe(true);
    expect(isFromSendgrid(request(seconds(26 * 3_600)), secret, NOW)).toBe(false);
  });

  test("a key that is not on P-256 is recognised", () => {
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey;
    for (const wrong of ["", "no key", rsa.export({ type: "spki", format: "pem" }) as string])
      expect(sendgridKey(wrong)).toBeNull();
  });
});

describe("Mailgun", () => {
  const KEY = "key-0123456789";
  const hmac = (text: string) => createHmac("sha256", KEY).update(text).digest("hex");
  const body = (timestamp: string, fields: object = {}) =>
    JSON.stringify({ signature: { timestamp, token: "tok", signature: hmac(`${timestamp}tok`), ...fields } });
  const token = (text: string) => mailgunToken({ headers: {}, body: text }, KEY, NOW);

  test("the signature covers time and token", () => {
    expect(token(body(seconds(10)))).toBe("tok");
    expect(token(body(seconds(8 * 3_600)))).toBe("tok");
  });

  test.each([
    ["another token", body(seconds(10), { token: "tok2" })],
    ["another time", body(seconds(10), { timestamp: seconds(9) })],
    ["no signature", body(seconds(10), { signature: undefined })],
    ["an old one", body(seconds(10 * 3_600))],
    ["no JSON", "event=failed"],
    ["null", "null"],
  ])("%s is refused", (_what, text) => {
    expect(token(text)).toBeNull();
  });
});

describe("Amazon SNS", () => {
  const { cert, key } = selfMadeCertificate({ names: ["sns.amazonaws.com"] });
  const HOST = "https://sns.eu-west-1.amazonaws.com";
  let certificates = 0;
  const certificateUrl = () => `${HOST}/SimpleNotificationService-${"a".repeat(20)}${++certificates}.pem`;
  const ORDER = ["Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];

  function signed(fields: Record<string, string>, version = "2"): Record<string, string> {
    const text = ORDER.filter((name) => name in fields).map((name) => `${name}\n${fields[name]}\n`);
    const signature = sign(version === "1" ? "sha1" : "sha256", Buffer.from(text.join("")), key).toString("base64");
    return { ...fields, SignatureVersion: version, Signature: signature, SigningCertURL: certificateUrl() };
  }
  const notification = {
    Type: "Notification",
    MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
    TopicArn: "arn:aws:sns:eu-west-1:123456789012:bounces",
    Message: '{"notificationType":"Bounce"}',
    Timestamp: "2026-11-22T11:59:00.000Z",
  };
  const confirmation = {
    Type: "SubscriptionConfirmation",
    MessageId: "165545c9-2a5c-472c-8df2-7ff2be2b3b1b",
    Token: "2336412f37",
    TopicArn: notification.TopicArn,
    Message: "You have chosen to subscribe",
    SubscribeURL: `${HOST}/?Action=ConfirmSubscription&Token=2336412f37`,
    Timestamp: notification.Timestamp,
  };
  const read = (fields: object, fetched: string | Error = cert) =>
    readSns(JSON.stringify(fields), async () => {
      if (fetched instanceof Error) throw fetched;
      return fetched;
    });

  test.each(["1", "2"])("verifies signature version %s, with and without a subject", async (version) => {
    for (const fields of [notification, { ...notification, Subject: "Amazon SES" }]) {
      await expect(read(signed(fields, version))).resolves.toEqual({
        type: "Notification",
        topic: notification.TopicArn,
        message: notification.Message,
        subscribeUrl: "",
      });
    }
    await expect(read(signed(confirmation, version))).resolves.toMatchObject({
      type: "SubscriptionConfirmation",
      subscribeUrl: confirmation.SubscribeURL,
    });
  });

  test("refuses any changed field", async () => {
    for (const name of ["Message", "MessageId", "Timestamp", "TopicArn", "Signature"]) {
      await expect(read({ ...signed(notification), [name]: "other" })).resolves.toBeNull();
    }
    await expect(read({ ...signed(notification), Subject: "added" })).resolves.toBeNull();
    await expect(read({ ...signed(confirmation), SubscribeURL: `${HOST}/?other` })).resolves.toBeNull();
    await expect(read({ ...signed(notification), SignatureVersion: "3" })).resolves.toBeNull();
  });

  test("fetches nothing for a certificate that is not Amazon's", async () => {
    const addresses = [
      "http://sns.eu-west-1.amazonaws.com/SimpleNotificationService-a.pem",
      "https://sns.eu-west-1.amazonaws.com.evil.example/SimpleNotificationService-a.pem",
      "https://evil.example/sns.eu-west-1.amazonaws.com/SimpleNotificationService-a.pem",
      "https://sns.eu-west-1.amazonaws.com@evil.example/SimpleNotificationService-a.pem",
      "https://sns.eu-west-1.amazonaws.com:8443/SimpleNotificationService-a.pem",
      "https://bucket.s3.amazonaws.com/SimpleNotificationService-a.pem",
      "https://sns.eu-west-1.amazonaws.com/?Action=x&y=.pem",
      "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-a.pem?x",
      "https://sns.eu-west-1.amazonaws.com/other.pem",
      "https://169.254.169.254/SimpleNotificationService-a.pem",
    ];
    const fetched = jest.fn(async () => cert);
    for (const SigningCertURL of addresses) {
      await expect(readSns(JSON.stringify({ ...signed(notification), SigningCertURL }), fetched)).resolves.toBeNull();
    }
    expect(fetched).not.toHaveBeenCalled();
  });

  test("refuses an expired certificate, and reports a failure to fetch one as such", async () => {
    const expired = selfMadeCertificate({ names: ["sns.amazonaws.com"], expired: true });
    await expect(read(signed(notification), expired.cert)).resolves.toBeNull();
    await expect(read(signed(notification), new Error("time-out"))).rejects.toThrow("time-out");
    await expect(read(signed(notification), "<html>")).rejects.toThrow();
  });

  test("fetches a certificate once", async () => {
    const fetched = jest.fn(async () => cert);
    const message = JSON.stringify(signed(notification));
    for (let i = 0; i < 3; i++) await expect(readSns(message, fetched)).resolves.not.toBeNull();
    expect(fetched).toHaveBeenCalledTimes(1);
  });

  test.each(["", "[]", "null", '{"Type":"Notification"}', '{"Type":"toString","SignatureVersion":"2"}'])(
    "%s is refused",
    async (body) => {
      await expect(readSns(body, async () => cert)).resolves.toBeNull();
    },
  );

  test("confirms subscriptions at hosts of SNS alone, including China and GovCloud", () => {
    for (const host of [
      "sns.us-east-1.amazonaws.com",
      "sns.us-gov-west-1.amazonaws.com",
      "sns.cn-north-1.amazonaws.com.cn",
    ])
      expect(snsUrl(`https://${host}/?Action=ConfirmSubscription`)?.hostname).toBe(host);
    for (const other of ["https://sqs.us-east-1.amazonaws.com/", "http://sns.us-east-1.amazonaws.com/", "sns"])
      expect(snsUrl(other)).toBeNull();
  });
});
