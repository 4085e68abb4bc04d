import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { unusedPort } from "../../../services/lib/processes/unused-port.ts";
import { openMailbox } from "../../demo/mailbox.ts";
import { dataFolder, startService } from "../../support/service-process.ts";

const readme = readFileSync(join(import.meta.dirname, "../../../README.md"), "utf8");
const block = (name: string) => new RegExp(`<!-- ${name} -->\\n\`\`\`sh\\n([\\s\\S]*?)\`\`\``).exec(readme)![1]!;
const tour = block("tour");
/** What the keys print belongs into a DNS that there is none of here, so mail goes out unsigned. */
const firstCampaign = ["account", "relay", "keys", "report", "guard", "send", "domains"]
  .map((step) => block(`first campaign: ${step}`))
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

test("the README's tour and its first campaign work as they are pasted: all readers get their mail", async () => {
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
  } finally {
    await service.child.stop();
    await mailbox.stop();
    data.remove();
  }
}, 180_000);
