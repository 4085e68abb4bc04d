/**
 * What Amazon SNS posts: notifications and the question whether a subscription is wanted, signed with a key whose
 * certificate is fetched. Source: docs.aws.amazon.com/sns, "Verifying the signatures of Amazon SNS messages".
 *
 * Anybody with an account at Amazon can sign such a message with a topic of their own: what counts is the topic that the
 * source was confirmed for first, together with the token in the address.
 */
import { verify, X509Certificate } from "node:crypto";
import { type Fields, fieldsOf, textOf } from "./event.ts";

interface SnsMessage {
  type: "Notification" | "SubscriptionConfirmation" | "UnsubscribeConfirmation";
  topic: string;
  /** What was published, as text. */
  message: string;
  /** Of a confirmation: the address to fetch. */
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

/** Other addresses there are calls of SNS's API, whose answers may quote whoever wrote the address. */
const CERTIFICATE_PATH = /^\/SimpleNotificationService-[A-Za-z0-9]{1,128}\.pem$/;
const SNS_HOST = /^sns\.[a-z]{2}(?:-[a-z]+){1,3}-\d{1,2}\.amazonaws\.com(?:\.cn)?$/;

/** Null where the address is not one of Amazon SNS over https. */
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

/** Certificates change about once a year. More addresses than regions are somebody's attempt to fill memory. */
const MAX_CERTIFICATES = 64;
const certificates = new Map<string, X509Certificate>();

async function certificateAt(url: URL, fetchText: FetchText): Promise<X509Certificate> {
  const known = certificates.get(url.href);
  if (known) return known;
  const fetched = new X509Certificate(await fetchText(url));
  if (certificates.size >= MAX_CERTIFICATES) certificates.delete(certificates.keys().next().value!);
  certificates.set(url.href, fetched);
  return fetched;
}

function isValidNow(certificate: X509Certificate, now: number): boolean {
  return Date.parse(certificate.validFrom) <= now && now <= Date.parse(certificate.validTo);
}

/**
 * The message, or null where Amazon did not sign it. Rejects where the certificate cannot be fetched: nothing is known then,
 * and SNS sends the message again.
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
