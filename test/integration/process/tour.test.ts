import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { openMailbox } from "../../demo/mailbox.ts";
import { dataFolder, startService } from "../../support/service-process.ts";

const tour = /<!-- tour -->\n```sh\n([\s\S]*?)```/.exec(
  readFileSync(join(import.meta.dirname, "../../../README.md"), "utf8"),
)![1]!;

test("the README's tour works as it is pasted: both readers get their mail", async () => {
  const data = dataFolder();
  const mailbox = await openMailbox();
  const service = await (await startService({ env: { DATA_DIR: data.path } })).ready();
  try {
    const env = { ...process.env, API: service.url, SMTP_PORT: `${mailbox.port}` };
    const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", tour], { env, timeout: 30_000 });
    expect(stdout).toContain('"status":"completed"');
    const mails = mailbox.received.map(({ raw }) => raw.toString());
    expect(mails).toHaveLength(2);
    expect(mails.some((mail) => mail.includes("Subject: Hello Ann"))).toBe(true);
  } finally {
    await service.child.stop();
    await mailbox.stop();
    data.remove();
  }
}, 60_000);
