import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { unusedPort } from "../../../services/lib/processes/unused-port.ts";
import { node } from "../../support/service-process.ts";

test("the demo starts its own service, and each of its 1,000 mails arrives once", async () => {
  // No service listens on this port, so the demo starts one.
  const env = { ...process.env, PORT: `${await unusedPort()}` };
  const script = join(import.meta.dirname, "../../../scripts/demo/run.ts");
  const run = promisify(execFile)(node, [script], { env, timeout: 170_000, maxBuffer: 4_000_000 });
  const { stdout } = await run.catch((error) => {
    throw new Error(`It failed: ${error.stdout.slice(-2_000)}`);
  });
  expect(stdout).toContain("Each of the 1,000 arrived exactly once.");
  expect(stdout).toContain("1,000 of 1,000");
  expect(stdout.match(/^ {2}(ar|de|el|en|es|fr|ja|ko|pl|zh) {2}\S/gm)).toHaveLength(10);
  expect(stdout.match(/^Message-ID: /gm)).toHaveLength(3);
  // Some mails are opened, so that the console has data.
  expect(stdout).toMatch(/^Counted: .*"opens":\{"total":40,"unique":40,"machine":0\}/m);
  expect(stdout).toMatch(/^Counted: .*"clicks":\{"total":15,"unique":15,"machine":0\}/m);
  // The service ends with the demo, so a sign-in link would be useless.
  expect(stdout).not.toContain("sign-in-link");
  expect(stdout.trim().split("\n").at(-1)).toMatch(/^Next: start a permanent service with `npm start`/);
}, 180_000);

test("the mailbox listens on its argument, before the environment's port, and refuses an invalid port", async () => {
  const script = join(import.meta.dirname, "../../../scripts/demo/run-mailbox.ts");
  const port = await unusedPort();
  const mailbox = spawn(node, [script, `${port}`], { env: { ...process.env, SMTP_PORT: "1" } });
  const [said] = await once(mailbox.stdout, "data");
  mailbox.kill();
  expect(`${said}`).toContain(`Accepting mail on 127.0.0.1:${port},`);
  const refused = promisify(execFile)(node, [script, "mail"]);
  await expect(refused).rejects.toMatchObject({ code: 1, stderr: '"mail" is not a port: npm run mailbox -- 2525\n' });
}, 30_000);
