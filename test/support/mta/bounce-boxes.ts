/** Bounce mailboxes in a real Dovecot: their configuration rows, their reports, and other users of them. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { ImapFlow } from "imapflow";
import { BounceMailbox } from "../../../models/bounce-mailbox.ts";
import { query } from "../../../models/database/db.ts";
import { newId } from "../../../services/lib/ids.ts";
import { seal } from "../../../services/lib/secrets.ts";
import type { World } from "../../integration/tracking/world.ts";

/** The password of all mailboxes. */
export const PASSWORD = "mailbox-secret";

export interface Box {
  id: string;
  user: string;
}

/** `port` selects another server than that of these boxes. */
type User = Pick<Box, "user"> & { port?: number };

export class BounceBoxes {
  readonly #imapPort: number;

  constructor(imapPort: number) {
    this.#imapPort = imapPort;
  }

  /** Creates an SMTP configuration whose bounces are read from its own mailbox. */
  async add({ companyId }: World, given: Partial<Record<string, unknown>> = {}): Promise<Box> {
    const id = newId();
    const row = {
      host: "127.0.0.1",
      port: this.#imapPort,
      username: `box-${id.slice(-8)}@to.example`,
      password: PASSWORD,
      use_tls: false,
      folder: "INBOX",
      processed_folder: "Processed",
      ...given,
    };
    await query(
      "insert into smtp_configs (id, company_id, name, host, port, sender_email) values ($1, $2, 'S', 'localhost', 25, 'a@b.example')",
      [id, companyId],
    );
    await query(
      `insert into bounce_mailboxes (id, company_id, host, port, username, password_sealed, use_tls, folder, processed_folder, origin)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [
        id,
        companyId,
        row.host,
        row.port,
        row.username,
        seal(row.password as string, id),
        row.use_tls,
        row.folder,
        row.processed_folder,
        BounceMailbox.originOf({
          companyId,
          host: row.host as string,
          username: row.username as string,
          folder: row.folder as string,
        }),
      ],
    );
    return { id, user: row.username as string };
  }

  /** Connects as the mailbox's user. */
  async use<T>({ user, port }: User, work: (client: ImapFlow) => Promise<T>): Promise<T> {
    const options = { host: "127.0.0.1", port: port ?? this.#imapPort, secure: false, logger: false as const };
    const client = new ImapFlow({
      ...options,
      doSTARTTLS: false,
      auth: { user, pass: PASSWORD },
      disableAutoIdle: true,
    });
    client.on("error", () => {});
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.logout();
    }
  }

  put(box: User, mails: readonly string[], folder = "INBOX"): Promise<void> {
    return this.use(box, async (client) => {
      for (const mail of mails) await client.append(folder, mail);
    });
  }

  /** -1 if the folder does not exist. */
  countIn(box: User, folder: string): Promise<number> {
    return this.use(box, async (client) => {
      const status = await client.status(folder, { messages: true }).catch(() => false as const);
      return status ? status.messages! : -1;
    });
  }

  /** A proxy between reader and Dovecot. Blocks everything from the first text for which `onCommand` returns true. */
  async proxy(onCommand: (text: string) => boolean): Promise<{ port: number; server: Server; cut(): void }> {
    const sockets = new Set<Socket>();
    const server = createServer((client) => {
      const upstream = connect(this.#imapPort, "127.0.0.1");
      let silent = false;
      for (const socket of [client, upstream]) sockets.add(socket.on("error", () => {}));
      client.on("data", (data) => {
        silent ||= onCommand(data.toString("latin1"));
        if (!silent) upstream.write(data);
      });
      upstream.on("data", (data) => client.write(data));
      client.on("close", () => upstream.destroy());
      upstream.on("close", () => client.destroy());
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const cut = () => {
      for (const socket of sockets) socket.destroy();
    };
    return { port: (server.address() as AddressInfo).port, server, cut };
  }
}

export const bounceOf = (recipient: string, filler = ""): string =>
  [
    "From: MAILER-DAEMON@mx.example",
    "To: bounces@acme.example",
    "Subject: Undelivered Mail Returned to Sender",
    "MIME-Version: 1.0",
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    "",
    "--b",
    "Content-Type: text/plain",
    "",
    "Your mail could not be delivered.",
    "--b",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; mx.example",
    "",
    `Final-Recipient: rfc822; ${recipient}`,
    "Action: failed",
    "Status: 5.1.1",
    "Diagnostic-Code: smtp; 550 5.1.1 User unknown",
    "",
    "--b",
    "Content-Type: text/rfc822-headers",
    "",
    "Subject: News",
    "",
    `${filler}--b--`,
    "",
  ].join("\r\n");

export const inbound = ({ companyId }: World) =>
  query<{ recipient: string; result: string; via: string }>(
    "select recipient, result, via from inbound_messages where company_id = $1 order by recipient",
    [companyId],
  );

export const expected = ({ mails }: World) =>
  mails
    .map(({ email }) => ({ recipient: email, result: "bounced", via: "imap" }))
    .toSorted((a, b) => (a.recipient < b.recipient ? -1 : 1));
