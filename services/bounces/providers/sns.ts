/**
 * Verifies what Amazon SNS posts (notifications and subscription confirmations), signed with a key whose certificate is
 * fetched. Reference: docs.aws.amazon.com/sns, "Verifying the signatures of Amazon SNS messages".
 *
 * Anyone with an AWS account can sign such a message with their own topic. Only the topic that the source was first
 * confirmed for is trusted, together with the token in the address.
 */
import { verify, X509Certificate } from "node:crypto";
import { type Fields, fieldsOf, textOf } from "./event.ts";

interface SnsMessage {
  type: "Notification" | "SubscriptionConfirmation" | "UnsubscribeConfirmation";
  topic: string;
  /** Published text. */
  message: string;
  /** Address to fetch to confirm a subscription. */
  subscribeUrl: string;
}

const SIGNED = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
  UnsubscribeConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
} as const;
const ALGORITHMS = new Map([
  ["1", "sha1"],
  ["2", "sha256"],
]);

/** Other paths on that host are SNS API calls, whose responses may echo attacker-controlled text. */
const CERTIFICATE_PATH = /^\/SimpleNotificationService-[A-Za-z0-9]{1,128}\.pem$/;
const SNS_HOST = /^sns\.[a-z]{2}(?:-[a-z]+){1,3}-\d{1,2}\.amazonaws\.com(?:\.cn)?$/;

/** Null unless it is an https address of Amazon SNS. */
export function snsUrl(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const isPlain = url.protocol === "https:" && url.port === "" && url.username === "" && url.password === "";
  return isPlain && SNS_HOST.test(url.hostname) ? url : null;
}

const isKnownType = (type: string): type is SnsMessage["type"] => Object.hasOwn(SIGNED, type);

function signedText(fields: Fields, type: SnsMessage["type"]): string {
  const names = SIGNED[type].filter((name) => typeof fields[name] === "string");
  return names.map((name) => `${name}\n${fields[name] as string}\n`).join("");
}

type FetchText = (url: URL) => Promise<string>;

/** Certificates change about once a year. The limit keeps forged addresses from filling memory. */
const MAX_CERTIFICATES = 64;
const certificates = new Map<string, X509Certificate>();

async function certificateAt(url: URL, fetchText: FetchText): Promise<X509Certificate> {
  const cached = certificates.get(url.href);
  if (cached) return cached;
  const fetched = new X509Certificate(await fetchText(url));
  if (certificates.size >= MAX_CERTIFICATES) certificates.delete(certificates.keys().next().value!);
  certificates.set(url.href, fetched);
  return fetched;
}

function isValidNow(certificate: X509Certificate, now: number): boolean {
  return Date.parse(certificate.validFrom) <= now && now <= Date.parse(certificate.validTo);
}

/**
 * Returns the message, or null if Amazon did not sign it. Rejects if the certificate cannot be fetched; SNS then
 * retries.
 */
export async function readSns(body: string, fetchText: FetchText, now = Date.now()): Promise<SnsMessage | null> {
  let fields: Fields;
  try {
    fields = fieldsOf(JSON.parse(body));
  } catch {
    return null;
  }
  const type = textOf(fields.Type);
  const algorithm = ALGORITHMS.get(textOf(fields.SignatureVersion));
  const url = snsUrl(textOf(fields.SigningCertURL));
  if (!isKnownType(type) || !algorithm || !url || url.search !== "" || !CERTIFICATE_PATH.test(url.pathname))
    return null;
  const certificate = await certificateAt(url, fetchText);
  const signature = Buffer.from(textOf(fields.Signature), "base64");
  const signed = Buffer.from(signedText(fields, type));
  if (!isValidNow(certificate, now) || !verify(algorithm, signed, certificate.publicKey, signature)) return null;
  return {
    type,
    topic: textOf(fields.TopicArn),
    message: textOf(fields.Message),
    subscribeUrl: textOf(fields.SubscribeURL),
  };
}
