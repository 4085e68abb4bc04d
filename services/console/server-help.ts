/** Classifies an error of a mail server or its connection by its text, which comes from many different programs. */
type Trouble = "dns" | "connect" | "tls" | "auth" | "sender" | "later" | "other";

/**
 * Patterns in order of priority, because a text may match several: a refused login may contain 5.7.1, and a certificate
 * error may say that the connection was closed.
 */
const SIGNS: readonly [Trouble, RegExp][] = [
  ["dns", /ENOTFOUND|EAI_AGAIN|no such host|does not exist|has no address|not on the public internet/i],
  ["auth", /\b(?:535|534|530|538)\b|authenticat|\bauth\b|log ?in\b|password|credentials/i],
  ["tls", /certificate|\btls\b|\bssl\b|starttls|altname|self[- ]signed|handshake|wrong version number/i],
  [
    "sender",
    /did not accept .* as a sender|sender (?:address )?(?:rejected|refused)|not (?:verified|owned|allowed to send)|relay(?:ing)? (?:access )?denied|\b5\.7\.(?:60|1)\b/i,
  ],
  ["later", /\b4[25]\d\b|\b4\.\d+\.\d+\b|too many|rate limit|throttl|try again/i],
  [
    "connect",
    /ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|no answer|timed? ?out|closed the connection|did not answer|not smtp/i,
  ],
];

export const troubleOf = (text: string): Trouble => SIGNS.find(([, sign]) => sign.test(text))?.[0] ?? "other";

/**
 * Returns the kind of problem of a connection test: usually its stage, but a refused sender has no stage of its own.
 */
export function troubleOfTest({ stage, message }: { stage: string; message: string }): Trouble {
  if (stage === "connect") return troubleOf(message) === "sender" ? "sender" : "connect";
  return stage === "dns" || stage === "tls" || stage === "auth" ? stage : "other";
}
