import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { openMailbox } from "../../../scripts/demo/mailbox.ts";
import { GUIDES } from "../../../services/gateway/guides/guides.ts";
import { unusedPort } from "../../../services/lib/processes/unused-port.ts";
import { createClient } from "../../client/client.ts";
import { dataFolder, startService } from "../../support/service-process.ts";

const ROOT = join(import.meta.dirname, "../../..");
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const markedIn = (file: string, mark: string) =>
  new RegExp(`<!-- ${mark} -->\\n\`\`\`sh\\n([\\s\\S]*?)\`\`\``).exec(read(file))![1]!;
const tour = markedIn("docs/api.md", "tour");
const quickStart = markedIn("README.md", "api");

/** Runs every command that the guides mark as tested, in order; each builds on the previous ones. */
const commands = GUIDES.flatMap(({ slug }) => [...read(`docs/${slug}.md`).matchAll(/^```sh try\n([\s\S]*?)^```/gm)])
  .map(([, text]) => text!)
  .join("\n");

/** Node's pipe is a socket: without a parent bash, bash takes it for a remote login and reads its start-up file. */
function paste(env: Record<string, string>, { text = tour, typed = "" } = {}) {
  const shell = promisify(execFile)("bash", ["--norc", "-euo", "pipefail", "-c", text], {
    env: { ...process.env, ...env },
    timeout: 120_000,
  });
  shell.child.stdin?.end(typed);
  return shell;
}

test("the tour says in one line that no service is running", async () => {
  const API = `http://127.0.0.1:${await unusedPort()}`;
  const { stdout, stderr } = await paste({ API });
  expect({ stdout, stderr }).toEqual({
    stdout: `Nothing answers at ${API}: start the service with npm start.\n`,
    stderr: "",
  });
});

/** Runs commands of README and guides with an API key in a separate folder, because some write files. */
async function tryGuides(baseUrl: string, smtpPort: number): Promise<string> {
  const body = { email: "guides@lantern.example", password: "guides for the evening", company_name: "Lantern Guides" };
  const { access, company } = await createClient({ baseUrl }).registerCompany({ body });
  const person = createClient({ baseUrl, token: access });
  const { key: KEY } = await person.createApiKey({ path: { id: company.id }, body: { name: "guides" } });
  const folder = mkdtempSync(join(tmpdir(), "flockmail-guides-"));
  try {
    const relay = { SMTP_HOST: "127.0.0.1", SMTP_PORT: `${smtpPort}`, SMTP_USER: "", USE_TLS: "false" };
    const env = { API: baseUrl, KEY, COMPANY: company.id, ...relay, HOOK_URL: "http://127.0.0.1:9/hook" };
    await paste(env, { text: quickStart });
    const { stdout } = await paste(env, { text: `cd ${folder}\n${commands}`, typed: "\n" });
    return stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("the commands of the README and the guides work when pasted: all readers get their mail", async () => {
  const data = dataFolder();
  const mailbox = await openMailbox();
  const service = await (await startService({ env: { DATA_DIR: data.path, DNS_SERVERS: "127.0.0.1:9" } })).ready();
  const mails = async (count: number) => {
    for (let waited = 0; mailbox.received.length < count && waited < 600; waited++) await sleep(100);
    return mailbox.received.map(({ raw }) => raw.toString());
  };
  try {
    const { stdout } = await paste({ API: service.url, SMTP_PORT: `${mailbox.port}` });
    expect(stdout).toContain('"status":"completed"');
    const toured = await mails(2);
    expect(toured).toHaveLength(2);
    expect(toured.some((mail) => mail.includes("Subject: Hello Ann"))).toBe(true);

    const answers = await tryGuides(service.url, mailbox.port);
    expect(answers).toContain('"valid":true');
    expect(answers).toContain("flock-ed25519._domainkey.lantern.example");
    expect(answers).toMatch(/^links: fail\. /m);
    expect(answers).toMatch(/^pending$/m);
    // The imported unsubscriber is not a recipient, and the bounced address gets nothing.
    expect(answers).toMatch(/"email":"bea@example\.org"[^}]*"kind":"bounced"/);
    expect(answers).toContain('"attributes":{"city":"Roma"}');
    expect(answers).toContain('"deleted":1');
    // Follows pages of two to the end.
    expect(answers).toMatch(/^\S+@\S+ \S+@\S+\n\S+@/m);
    const subjects = (await mails(4)).map((mail) => /^Subject: (.*?)\r$/m.exec(mail)![1]).slice(2);
    expect(subjects.sort()).toEqual(["Six books for Ann", "Six books for the evening"]);
  } finally {
    await service.child.stop();
    await mailbox.stop();
    data.remove();
  }
}, 300_000);
