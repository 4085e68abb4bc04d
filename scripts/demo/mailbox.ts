/** The recipients' side of the demo: an SMTP server on this machine that stores what it receives. */
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

export interface Received {
  recipients: string[];
  raw: Buffer;
}

export interface Mailbox {
  port: number;
  received: Received[];
  stop(): Promise<void>;
}

const whole = async (stream: NodeJS.ReadableStream): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

/** `port` 0 picks a free one; `arrived` is called after each accepted mail. */
export async function openMailbox(port = 0, arrived: (mail: Received) => void = () => {}): Promise<Mailbox> {
  const received: Received[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    disableReverseLookup: true,
    onData(stream, session, accepted) {
      const recipients = session.envelope.rcptTo.map(({ address }) => address);
      whole(stream).then((raw) => {
        received.push({ recipients, raw });
        accepted();
        arrived({ recipients, raw });
      }, accepted);
    },
  });
  await new Promise<void>((done, failed) => {
    server.once("error", failed);
    server.listen(port, "127.0.0.1", done);
  });
  server.removeAllListeners("error");
  // A client that disconnects during a session does not cause an error.
  server.on("error", () => {});
  const address = server.server.address() as AddressInfo;
  return { port: address.port, received, stop: () => new Promise((done) => server.close(done)) };
}
