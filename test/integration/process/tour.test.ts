import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { openMailbox } from "../../../scripts/demo/mailbox.ts";
import { GUIDES, guidePage } from "../../../services/gateway/guides/guides.ts";
import { unusedPort } from "../../../services/lib/processes/unused-port.ts";
import { createClient } from "../../client/client.ts";
import { dataFolder, startService } from "../../support/service-process.ts";

const readme = readFileSync(join(import.meta.dirname, "../../../README.md"), "utf8");
const block = (name: string) => new RegExp(`<!-- ${name} -->\\n\`\`\`sh\\n([\\s\\S]*?)\`\`\``).exec(readme)![1]!;
const tour = block("tour");
/** What the keys print belongs into a DNS that there is none of here, so mail goes out unsigned. */
const firstCampaign = ["account", "relay", "keys", "report", "guard", "send", "domains"]
  .map((step) => block(`first campaign: ${step}`))
  .join("\n");

/** Every command that the guides mark as tried, in the order of the guides: each goes on with what came before. */
const commands = GUIDES.map((guide) => [
  ...guidePage("Flockmail", guide).matchAll(/<pre class="try">([\s\S]*?)<\/pre>/g),
])
  .flatMap((found) => found.map(([, text]) => text!))
  .map((text) =>
    text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&"),
  )
  .join("\n");

/** Node's pipe is a socket: a bash that is not started from another takes it for a remote login and reads its start-up file. */
function paste(env: Record<string, string>, { text = tour, typed = "" } = {}) {
  const shell = promisify(execFile)("bash", ["--norc", "-euo", "pipefail", "-c", text], {
    env: { ...process.env, ...env },
    timeout: 120_000,
  });
  shell.child.stdin?.end(typed);
  return shell;
}

async function newOwner(url: string): Promise<{ EMAIL: string; password: string }> {
  const [EMAIL, password] = ["you@lantern.example", "books for the evening"];
  await fetch(`${url}/api/auth/register/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: EMAIL, password, company_name: "Lantern Books" }),
    signal: AbortSignal.timeout(60_000),
  });
  return { EMAIL, password };
}

test("without a service the tour says so in one line", async () => {
  const API = `http://127.0.0.1:${await unusedPort()}`;
  const { stdout, stderr } = await paste({ API });
  expect({ stdout, stderr }).toEqual({
    stdout: `Nothing answers at ${API}: start the service with npm start.\n`,
    stderr: "",
  });
});

/** The guides' commands with an API key, in a folder of their own: some of them write files. */
async function tryGuides(baseUrl: string, smtpPort: number): Promise<string> {
  const body = { email: "guides@lantern.example", password: "guides for the evening", company_name: "Lantern Guides" };
  const { access, company } = await createClient({ baseUrl }).registerCompany({ body });
  const person = createClient({ baseUrl, token: access });
  const { key: KEY } = await person.createApiKey({ path: { id: company.id }, body: { name: "guides" } });
  const folder = mkdtempSync(join(tmpdir(), "flockmail-guides-"));
  try {
    const env = { API: baseUrl, KEY, COMPANY: company.id, SMTP_HOST: "127.0.0.1", SMTP_PORT: `${smtpPort}` };
    const { stdout } = await paste(
      { ...env, HOOK_URL: "http://127.0.0.1:9/hook" },
      { text: `cd ${folder}\n${commands}` },
    );
    return stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("the README's tour, its first campaign and the guides work as they are pasted: all readers get their mail", async () => {
  const data = dataFolder();
  const mailbox = await openMailbox();
  const service = await (await startService({ env: { DATA_DIR: data.path, DNS_SERVERS: "127.0.0.1:9" } })).ready();
  try {
    const { stdout } = await paste({ API: service.url, SMTP_PORT: `${mailbox.port}` });
    expect(stdout).toContain('"status":"completed"');
    const mails = mailbox.received.map(({ raw }) => raw.toString());
    expect(mails).toHaveLength(2);
    expect(mails.some((mail) => mail.includes("Subject: Hello Ann"))).toBe(true);

    const { EMAIL, password } = await newOwner(service.url);
    const relay = { RELAY_HOST: "127.0.0.1", RELAY_PORT: `${mailbox.port}`, RELAY_USER: "", USE_TLS: "false" };
    const { stdout: shown } = await paste(
      { API: service.url, EMAIL, ...relay },
      { text: firstCampaign, typed: `${password}\n\n` },
    );
    expect(shown).toContain('"valid":true');
    expect(shown).toContain("flock-ed25519._domainkey.lantern.example");
    expect(shown).toMatch(/^links: fail\. /m);
    expect(shown).toMatch(/^pending$/m);
    for (let waited = 0; mailbox.received.length < 3 && waited < 600; waited++) await sleep(100);
    expect(mailbox.received[2]!.raw.toString()).toContain("Subject: Six books for the evening");

    const answers = await tryGuides(service.url, mailbox.port);
    expect(answers).toContain('"selector":"fm1"');
    // Whoever had unsubscribed elsewhere is no reader here, and the address that bounced gets nothing.
    expect(answers).toMatch(/"email":"bea@example\.org"[^}]*"kind":"bounced"/);
    expect(answers).toContain('"attributes":{"city":"Roma"}');
    for (let waited = 0; mailbox.received.length < 4 && waited < 600; waited++) await sleep(100);
    expect(mailbox.received[3]!.raw.toString()).toContain("Good evening, Ann");
  } finally {
    await service.child.stop();
    await mailbox.stop();
    data.remove();
  }
}, 300_000);
