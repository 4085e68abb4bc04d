/** Tells whether a refused SMTP login is about the mechanism or about the credentials. */

const MECHANISM = /mechanism|auth\w* (?:type|method|scheme)/i;
const CREDENTIALS =
  /password|credential|user ?name|account|\b(?:authentication|login) (?:was )?(?:fail|unsuccess|refused|denied|rejected)/i;

/**
 * True: another mechanism may work. Servers offer mechanisms that they do not support and answer 502 or 504 to them
 * (RFC 4954 section 4), or 535 with such a text. False: repeating the password would only lock the account.
 */
export function isAboutMechanism(refusal: Error): boolean {
  const { responseCode = 0, response = "" } = refusal as Error & { responseCode?: number; response?: string };
  if (responseCode < 500) return false;
  if (MECHANISM.test(response)) return true;
  return responseCode !== 535 && !/^\d+[ -]5\.7\.8\b/.test(response) && !CREDENTIALS.test(response);
}
