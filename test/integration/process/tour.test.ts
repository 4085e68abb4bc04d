import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { unusedPort } from "../../../services/lib/processes/unused-port.ts";
import { openMailbox } from "../../demo/mailbox.ts";
import { dataFolder, startService } from "../../support/service-process.ts";

const tour = /<!-- tour -->\n```sh\n([\s\S]*?)```/.exec(
  readFileSync(join(import.meta.dirname, "../../../README.md"), "utf8"),
)![1]!;

/** Node's pipe is a socket: a bash that is not started from another takes it for a remote login and reads its start-up file. */
const paste = (env: Record<string, string>) =>
  promisify(execFile)("bash", ["--norc", "-euo", "pipefail", "-c", tour], {
    env: { ...process.env, ...env },
    timeout: 120_000,
  });

test("without a service the tour says so in one line", async () => {
  const API = `http://127.0.0.1:${await unusedPort()}`;
  const { stdout, stderr } = await paste({ API });
  expect({ stdout, stderr }).toEqual({
    stdout: `Nothing answers at ${API}: start the service with npm start.\n`,
    stderr: "",
  });
});

test("the README's tour works as it is pasted: both readers get their mail", async () => {
  const data = dataFolder();
  const mailbox = await openMailbox();
  const service = await (await startService({ env: { DATA_DIR: data.path } })).ready();
  try {
    const { stdout } = await paste({ API: service.url, SMTP_PORT: `${mailbox.port}` });
    expect(stdout).toContain('"status":"completed"');
    const mails = mailbox.received.map(({ raw }) => raw.toString());
    expect(mails).toHaveLength(2);
    expect(mails.some((mail) => mail.includes("Subject: Hello Ann"))).toBe(true);
  } finally {
    await service.child.stop();
    await mailbox.stop();
    data.remove();
  }
}, 180_000);
