/**
 * Opens a mailbox by IMAP: checks and pins the address, then TLS, login and folders. All errors are sentences for the
 * user.
 */
import { isIP } from "node:net";
import type { ImapFlow } from "imapflow";
import { config } from "../../lib/config.ts";
import { toOneLine } from "../../lib/one-line.ts";
import { unseal } from "../../lib/secrets.ts";
import { HostError, PERMIT_HELP, type PinnedAddress, resolvePublic } from "../../lib/ssrf/guard.ts";
import type { ClaimedMailbox } from "./bounce-mailboxes.ts";

/** Bytes read of each message; the relevant parts of a report come first. */
export const MAX_MAIL_BYTES = 1024 * 1024;
/** Limit of responses that contain no message. */
const MAX_LINE_BYTES = 256 * 1024;
const CONNECT_MS = 15_000;
/** Must exceed the duration of IDLE (reader.ts). */
const SILENCE_MS = 120_000;
const MAX_ADDRESSES = 4;
const IMPLICIT_TLS_PORT = 993;
const MAX_SENTENCE = 300;

/** Problem that the user or the operator has to fix, or that may be temporary (`mayPass`). */
export class MailboxError extends Error {
  readonly mayPass: boolean;

  /** `cause` is logged only. */
  constructor(sentence: string, mayPass = false, cause?: unknown) {
    // The sentence may quote the server, and is stored.
    super(toOneLine(sentence).slice(0, MAX_SENTENCE).toWellFormed(), { cause });
    this.name = "MailboxError";
    this.mayPass = mayPass;
  }
}

interface ImapError extends Error {
  code?: string;
  authenticationFailed?: boolean;
  responseText?: string;
  serverResponseCode?: string;
  response?: unknown;
}

const serverText = ({ responseText, response, message }: ImapError) =>
  responseText || (typeof response === "string" && response) || message;

/** Converts any error of the library or the network into a sentence for the user. */
export function sentenceOf(error: unknown, { host, port }: Pick<ClaimedMailbox, "host" | "port">): MailboxError {
  if (error instanceof MailboxError) return error;
  const imapError = error as ImapError;
  const where = `${host}:${port}`;
  if (imapError.authenticationFailed) {
    return new MailboxError(`The IMAP server ${where} refused the login: ${serverText(imapError)}.`);
  }
  if (/server does not support STARTTLS/i.test(imapError.message)) {
    return new MailboxError(`The IMAP server ${where} offers no STARTTLS.`);
  }
  if (/certificate|self.signed|altname/i.test(`${imapError.code} ${imapError.message}`)) {
    return new MailboxError(`No TLS with the IMAP server ${where}: ${imapError.message}.`);
  }
  return new MailboxError(
    `The IMAP server ${where} failed: ${serverText(imapError)} (${imapError.code ?? "no code"}).`,
    true,
  );
}

async function addressesOf({ host }: ClaimedMailbox): Promise<PinnedAddress[]> {
  try {
    return (await resolvePublic(host, { allowPrivate: config().ALLOW_PRIVATE_NETWORKS })).slice(0, MAX_ADDRESSES);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    if (error.reason === "dns") throw new MailboxError(error.message, true);
    throw new MailboxError(`${error.message} ${PERMIT_HELP}`);
  }
}

function passwordOf({ id, password_sealed: sealed }: ClaimedMailbox): string {
  try {
    return unseal(sealed, id);
  } catch {
    throw new MailboxError("The stored mailbox password can no longer be read. Enter it again.");
  }
}

/** Errors that broke a connection; the pending command does not report them. */
const broken = new WeakMap<ImapFlow, Error>();

/** Returns what broke the connection, or else the error of the command. */
export const reasonOf = (client: ImapFlow, error: unknown): unknown => broken.get(client) ?? error;

async function connectTo(address: PinnedAddress, box: ClaimedMailbox, password: string): Promise<ImapFlow> {
  // Load the library only when the first mailbox is opened.
  const imap = await import("imapflow");
  const secure = box.use_tls && box.port === IMPLICIT_TLS_PORT;
  const client = new imap.ImapFlow({
    // Connect to the checked address, so that the name is not resolved again. The certificate must match the name.
    host: address.address,
    port: box.port,
    ...(isIP(box.host) ? {} : { servername: box.host }),
    secure,
    ...(secure ? {} : { doSTARTTLS: box.use_tls }),
    auth: { user: box.username, pass: password },
    logger: false,
    disableAutoIdle: true,
    disableCompression: true,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    maxLineLength: MAX_LINE_BYTES,
    maxLiteralSize: MAX_MAIL_BYTES + 1,
    maxResponseSize: MAX_MAIL_BYTES + MAX_LINE_BYTES,
  });
  client.on("error", (error: Error) => broken.set(client, error));
  try {
    await client.connect();
    return client;
  } catch (error) {
    client.close();
    throw error;
  }
}

async function connectToFirst(box: ClaimedMailbox): Promise<ImapFlow> {
  const password = passwordOf(box);
  let failure: unknown;
  for (const address of await addressesOf(box)) {
    try {
      return await connectTo(address, box, password);
    } catch (error) {
      failure = error;
      // Stop here: other addresses of the server would refuse the login too.
      if ((error as ImapError).authenticationFailed) break;
    }
  }
  throw sentenceOf(failure, box);
}

async function openFolders(client: ImapFlow, box: ClaimedMailbox): Promise<void> {
  const { folder, processed_folder: processed } = box;
  // Refuses servers without MOVE or UIDPLUS: messages would be moved by expunging, which also removes those that other
  // clients marked as deleted.
  if (!client.capabilities.has("MOVE") && !client.capabilities.has("UIDPLUS")) {
    throw new MailboxError(
      `The IMAP server ${box.host} supports neither MOVE nor UIDPLUS, so mails cannot be moved safely.`,
    );
  }
  const listed = await client.list();
  // Some servers keep all folders below INBOX; the library adds that prefix.
  const prefix = client.namespace?.prefix ?? "";
  const isThere = (path: string) =>
    /^inbox$/i.test(path) || listed.some((one) => one.path === path || one.path === prefix + path);
  if (!isThere(folder)) throw new MailboxError(`The mailbox has no folder "${folder}".`);
  if (!isThere(processed)) {
    await client.mailboxCreate(processed).catch((error: ImapError) => {
      throw new MailboxError(`The folder "${processed}" does not exist and cannot be created: ${serverText(error)}.`);
    });
  }
  await client.mailboxOpen(folder).catch((error: ImapError) => {
    throw new MailboxError(`The folder "${folder}" cannot be opened: ${serverText(error)}.`);
  });
}

/** Logs in and opens the folder. Rejects with a MailboxError. */
export async function openMailbox(box: ClaimedMailbox): Promise<ImapFlow> {
  const client = await connectToFirst(box);
  try {
    await openFolders(client, box);
    return client;
  } catch (error) {
    client.close();
    throw sentenceOf(reasonOf(client, error), box);
  }
}
