/**
 * A small IMAP server in this process: one mailbox for any login, and scripted answers. Shows the behaviour of broken
 * or hostile servers; the real server is Dovecot (test/mta).
 */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";

/** A replacement answer, or undefined for the usual one. `tag` begins the last line of an answer. */
export type Instead = (command: string, tag: string, socket: Socket) => string | undefined;

export interface ImapServer {
  port: number;
  /** Messages by folder. */
  folders: Map<string, { uid: number; raw: string }[]>;
  commands: string[];
  /** Applies to all folders. */
  uidValidity: number;
  instead: Instead;
  /** Number of connected clients. */
  clients(): number;
  stop(): Promise<void>;
}

const CAPABILITIES = "IMAP4rev1 MOVE UIDPLUS IDLE";

function uidsIn(set: string, mails: readonly { uid: number }[]): number[] {
  const wanted = set.split(",").flatMap((part) => {
    const [from, to = from] = part.split(":").map(Number) as [number, number?];
    return mails.map(({ uid }) => uid).filter((uid) => uid >= from && uid <= to!);
  });
  return [...new Set(wanted)];
}

export async function startImapServer(): Promise<ImapServer> {
  const folders: ImapServer["folders"] = new Map([["INBOX", []]]);
  const sockets = new Set<Socket>();
  const server: Partial<ImapServer> = { folders, commands: [], uidValidity: 7, instead: () => undefined };
  const inbox = () => folders.get("INBOX")!;

  function move(set: string, to: string): string {
    const mails = inbox();
    const uids = uidsIn(set, mails);
    const positions = uids.map((uid) => mails.findIndex((mail) => mail.uid === uid)).sort((a, b) => b - a);
    for (const at of positions) folders.get(to)!.push(...mails.splice(at, 1));
    return positions.map((at) => `* ${at + 1} EXPUNGE\r\n`).join("");
  }

  function fetched(set: string, items: string): string {
    const mails = inbox();
    const bytes = Number(/BODY\.PEEK\[\]<0\.(\d+)>/.exec(items)?.[1] ?? 0);
    return uidsIn(set, mails)
      .map((uid) => {
        const at = mails.findIndex((mail) => mail.uid === uid);
        const { raw } = mails[at]!;
        const text = raw.slice(0, bytes);
        const body = bytes ? ` BODY[]<0> {${text.length}}\r\n${text}` : "";
        return `* ${at + 1} FETCH (UID ${uid} RFC822.SIZE ${raw.length}${body})\r\n`;
      })
      .join("");
  }

  function usual(command: string): string {
    const [, name, set, rest = ""] = /^(UID \w+|\w+) ?(\S*) ?(.*)$/s.exec(command)!;
    const folder = rest.replace(/"/g, "");
    switch (name!.toUpperCase()) {
      case "CAPABILITY":
        return `* CAPABILITY ${CAPABILITIES}\r\n`;
      case "LIST":
        // Answers the query for the hierarchy separator.
        if (folder === "") return '* LIST (\\Noselect) "/" ""\r\n';
        return [...folders.keys()].map((path) => `* LIST () "/" "${path}"\r\n`).join("");
      case "CREATE":
        folders.set(set!.replace(/"/g, ""), []);
        return "";
      case "SELECT":
        return `* ${inbox().length} EXISTS\r\n* OK [UIDVALIDITY ${server.uidValidity}] fixed\r\n* OK [UIDNEXT 1000] next\r\n`;
      case "UID SEARCH":
        return `* SEARCH ${inbox()
          .map(({ uid }) => uid)
          .join(" ")}\r\n`;
      case "UID FETCH":
        return fetched(set!, rest);
      case "UID MOVE":
        return move(set!, folder);
      default:
        return "";
    }
  }

  const listening = createServer((socket) => {
    sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => {}));
    socket.write(`* OK [CAPABILITY ${CAPABILITIES}] ready\r\n`);
    let idling = "";
    const lines = createInterface(socket);
    lines.on("error", () => {});
    lines.on("line", (line) => {
      if (/^DONE$/i.test(line)) return void socket.write(`${idling} OK done\r\n`);
      const [, tag, command] = /^(\S+) (.*)$/s.exec(line) ?? [];
      if (!tag) return;
      server.commands!.push(command!);
      const reply = server.instead!(command!, tag, socket);
      if (reply !== undefined) return void socket.write(reply);
      if (/^IDLE$/i.test(command!)) {
        idling = tag;
        return void socket.write("+ idling\r\n");
      }
      socket.write(`${usual(command!)}${tag} OK done\r\n`);
      if (/^LOGOUT$/i.test(command!)) socket.end();
    });
  }).listen(0, "127.0.0.1");
  await once(listening, "listening");
  server.port = (listening.address() as AddressInfo).port;
  server.clients = () => sockets.size;
  server.stop = async () => {
    for (const socket of sockets) socket.destroy();
    listening.close();
    await once(listening, "close");
  };
  return server as ImapServer;
}
