/**
 * A login service for Postfix that speaks Dovecot's protocol (Dovecot "Auth protocol", version 1.1) and knows one user,
 * with selectable mechanisms.
 */
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";

export const LOGIN = { username: "ann", password: "correct horse" };

export type Mechanism = "PLAIN" | "LOGIN" | "CRAM-MD5";

export interface Sasl {
  /** Options for startPostfix. */
  main: Record<string, string>;
  stop(): Promise<void>;
}

const CHALLENGE = "<1896.697170952@mx.to.example>";
const base64 = (text: string) => Buffer.from(text).toString("base64");
const decoded = (text: string) => Buffer.from(text, "base64").toString();
const isRight = (username: string, password: string) => username === LOGIN.username && password === LOGIN.password;

/** Decides from the client's answers so far: true or false at the end, else the next challenge. */
function step(mechanism: string, answers: readonly string[]): boolean | string {
  switch (mechanism) {
    case "PLAIN": {
      if (answers.length === 0) return "";
      const [, username = "", password = ""] = answers[0]!.split("\0");
      return isRight(username, password);
    }
    case "LOGIN":
      if (answers.length < 2) return answers.length === 0 ? "Username:" : "Password:";
      return isRight(answers[0]!, answers[1]!);
    default: {
      if (answers.length === 0) return CHALLENGE;
      const digest = createHmac("md5", LOGIN.password).update(CHALLENGE).digest("hex");
      return answers[0] === `${LOGIN.username} ${digest}`;
    }
  }
}

function serve(socket: Socket, mechanisms: readonly Mechanism[]): void {
  const logins = new Map<string, { mechanism: string; answers: string[] }>();
  const go = (id: string) => {
    const { mechanism, answers } = logins.get(id)!;
    const next = step(mechanism, answers);
    if (typeof next === "string") socket.write(`CONT\t${id}\t${base64(next)}\n`);
    else socket.write(next ? `OK\t${id}\tuser=${LOGIN.username}\n` : `FAIL\t${id}\tuser=${LOGIN.username}\n`);
  };
  socket.write("VERSION\t1\t1\n");
  for (const mechanism of mechanisms)
    socket.write(`MECH\t${mechanism}${mechanism === "CRAM-MD5" ? "" : "\tplaintext"}\n`);
  socket.write(`SPID\t${process.pid}\nCUID\t1\nCOOKIE\t${"0".repeat(32)}\nDONE\n`);
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      const [command, id = "", third = "", ...rest] = text.slice(0, end).split("\t");
      text = text.slice(end + 1);
      if (command === "AUTH") {
        const initial = rest.find((field) => field.startsWith("resp="))?.slice("resp=".length);
        logins.set(id, { mechanism: third, answers: initial === undefined ? [] : [decoded(initial)] });
        go(id);
      } else if (command === "CONT") {
        logins.get(id)?.answers.push(decoded(third));
        go(id);
      }
    }
  });
}

export async function startSasl(mechanisms: readonly Mechanism[]): Promise<Sasl> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    serve(socket, mechanisms);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    main: {
      smtpd_sasl_auth_enable: "yes",
      smtpd_sasl_type: "dovecot",
      smtpd_sasl_path: `inet:127.0.0.1:${(server.address() as { port: number }).port}`,
      smtpd_sasl_security_options: "noanonymous",
      // No address is trusted without login.
      mynetworks: "192.0.2.1",
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}
