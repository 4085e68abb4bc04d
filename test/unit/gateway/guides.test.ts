/** The guides: working links, a search, and tested code samples. */
import { execFile } from "node:child_process";
import { globSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { HELP } from "../../../services/console/help.ts";
import { contractOf } from "../../../services/contracts.ts";
import { GUIDES, guidePage, guidesIndex, IMAGES, searchPage } from "../../../services/gateway/guides/guides.ts";
import { operationsOf, search, sectionsOf } from "../../../services/gateway/guides/search.ts";
import { describeApi } from "../../../services/gateway/openapi/document.ts";
import { routes } from "../../../services/gateway/routes.ts";
import { permissionOf } from "../../../services/permissions.ts";
import { newSecret, signedHeaders, signingKey } from "../../../services/webhooks/signature.ts";
import { program } from "../../support/programs.ts";

const document = describeApi({ routes, contractOf, permissionOf, baseUrl: "https://mail.lantern.example" });
const PATHS = ["", ...GUIDES.map(({ slug }) => `${slug}/`), "search/"].map((path) => `/docs/guides/${path}`);
const ELSEWHERE = ["/docs/", "/openapi.json", "/docs/guides/guides.css"];
const pages = new Map<string, string>();
beforeAll(async () => {
  for (const guide of GUIDES) pages.set(`/docs/guides/${guide.slug}/`, await guidePage("Flockmail", guide));
  pages.set("/docs/guides/", await guidesIndex("Flockmail"));
  pages.set("/docs/guides/search/", searchPage("Flockmail", "", []));
});

const ROOT = join(import.meta.dirname, "../../..");
const guideText = (slug: string) => readFileSync(join(ROOT, "docs", `${slug}.md`), "utf8");

test("docs/README.md lists every page of docs/", () => {
  const files = readdirSync(join(ROOT, "docs")).filter((file) => file.endsWith(".md") && file !== "README.md");
  expect(GUIDES.map(({ slug }) => `${slug}.md`).sort()).toEqual(files.sort());
  for (const { slug } of GUIDES) expect(guideText(slug)).toMatch(/^# \S/);
  expect(readFileSync(join(ROOT, "Dockerfile"), "utf8")).toMatch(/^COPY docs .\/docs$/m);
});

test("pages of the console mentioned in guides are in its navigation", () => {
  const navigation = readFileSync(join(ROOT, "services/console/messages/navigation.ts"), "utf8");
  const named = GUIDES.flatMap(({ slug }) => [...guideText(slug).matchAll(/\*\*([^*]+ → [^*]+)\*\*/g)]);
  const labels = named.flatMap(([, path]) => path!.split(/\s→\s/));
  expect(labels.length).toBeGreaterThan(10);
  expect(labels.filter((label) => !navigation.includes(`: "${label}"`))).toEqual([]);
});

/** Settings and programs of PostgreSQL and pgbouncer that appear only in operators' guides. */
const DATABASE_TERMS = new Set(["shared_buffers", "checkpoint_timeout", "pg_upgrade", "ignore_startup_parameters"]);

describe("the guides", () => {
  test.each(PATHS)("%s: every link leads to an existing page and heading, and every heading has an id", (path) => {
    const page = pages.get(path)!;
    const links = [...page.matchAll(/href="([^"]+)"/g)].map(([, link]) => link!);
    for (const link of links.filter((one) => !/^(https:|data:)/.test(one))) {
      const { pathname, hash } = new URL(link, `http://x${path}`);
      expect([...pages.keys(), ...ELSEWHERE]).toContain(pathname);
      if (hash) expect(pages.get(pathname)).toContain(` id="${hash.slice(1)}"`);
    }
    const pictures = [...page.matchAll(/<img src="([^"]+)" alt="[^"]+"/g)].map(([, src]) => src!);
    expect(pictures.filter((src) => !IMAGES.includes(src.replace(/^(?:\.\.\/)?images\//, "")))).toEqual([]);
    expect(page.match(/<img/g) ?? []).toHaveLength(pictures.length);
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...page.matchAll(/<h[23]>/g)]).toEqual([]);
    expect(page).not.toMatch(/<script| style="| on\w+="/);
  });

  test("and headings that the console's pages link to exist", () => {
    for (const target of Object.values(HELP)) {
      const [slug, heading = ""] = target.split("#");
      const page = pages.get(`/docs/guides/${slug}`);
      expect([target, page !== undefined && (heading === "" || page.includes(` id="${heading}"`))]).toEqual([
        target,
        true,
      ]);
    }
  });

  test("mention only existing fields, metrics and settings", () => {
    // Guides for operators also name metrics, and settings of PostgreSQL and other programs, so our own files count as
    // sources of names.
    const files = globSync("{services,mixins,models,k8s}/**/*.{ts,sql,yaml}", { cwd: ROOT });
    const all = [JSON.stringify(document), ...files.map((file) => readFileSync(join(ROOT, file), "utf8"))].join("\n");
    const known = /^(?:[a-z]+_[a-z_]+)$/;
    for (const [path, page] of pages) {
      const codes = [...page.matchAll(/<code>([^<]+)<\/code>/g)].map(([, code]) => code!);
      const fields = codes.filter((code) => known.test(code) && !/^(subscribed|cleaned|nonsubscribed)_/.test(code));
      expect([path, fields.filter((field) => !DATABASE_TERMS.has(field) && !all.includes(field))]).toEqual([path, []]);
    }
  });

  test("can be searched by words, like operations; the search page escapes the query", () => {
    const entries = [
      ...GUIDES.flatMap(({ slug, title }) => sectionsOf(slug, title, pages.get(`/docs/guides/${slug}/`)!)),
      ...operationsOf(document),
    ];
    expect(search(entries, "rotate secret")[0]!.link).toMatch(/^webhooks\/#rotate-the-secret$|rotateWebhookSecret$/);
    expect(search(entries, "mailchimp EXPORT").map(({ link }) => link)).toContain("moving/#from-mailchimp");
    expect(search(entries, "create template").map(({ link }) => link)).toContain("../#/Templates/createTemplate");
    expect([search(entries, "  "), search(entries, "zebra giraffe")]).toEqual([[], []]);
    expect(search(entries, "a").length).toBeLessThanOrEqual(30);
    const page = searchPage("Flockmail", '"><script>alert(1)</script>', []);
    expect(page).not.toContain("<script>");
  });
});

const run = promisify(execFile);
/** The sample in this language from the guide on webhooks. */
const codeOf = (language: string) =>
  new RegExp(`\\n### ${language}\\n\\n\`\`\`\\w+\\n(.*?)\`\`\``, "s").exec(guideText("webhooks"))![1]!;

interface Language {
  file: string;
  main: [file: string, text: string];
  command: (folder: string) => Promise<[path: string, args: string[], env: Record<string, string>]>;
}

const commandOf = async (name: string, packages: string[], args: string[]): ReturnType<Language["command"]> => {
  const { path, env } = await program(name, packages);
  return [path, args, env];
};

const LANGUAGES: Record<string, Language> = {
  JavaScript: {
    file: "verify.js",
    main: [
      "main.js",
      `import { verify } from "./verify.js"; const e = process.env;
process.stdout.write(String(verify(e.SECRET, e.ID, e.TIME, e.SIGNATURE, e.BODY)));`,
    ],
    command: async () => [process.execPath, ["main.js"], {}],
  },
  Python: {
    file: "verify.py",
    main: [
      "main.py",
      `import os
from verify import verify
e = os.environ
print(str(verify(e["SECRET"], e["ID"], e["TIME"], e["SIGNATURE"], e["BODY"].encode())).lower(), end="")`,
    ],
    command: () => commandOf("python3", ["python3.11-minimal", "libpython3.11-minimal"], ["main.py"]),
  },
  Go: {
    file: "verify.go",
    main: [
      "main.go",
      `package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Print(verify(os.Getenv("SECRET"), os.Getenv("ID"), os.Getenv("TIME"), os.Getenv("SIGNATURE"), []byte(os.Getenv("BODY"))))
}`,
    ],
    command: () => commandOf("go", ["golang-1.19-go", "golang-1.19-src"], ["run", "main.go", "verify.go"]),
  },
  PHP: {
    file: "verify.php",
    main: [
      "main.php",
      `<?php require "verify.php";
echo var_export(verify(getenv("SECRET"), getenv("ID"), getenv("TIME"), getenv("SIGNATURE"), getenv("BODY")), true);`,
    ],
    command: () =>
      commandOf("php8.2", ["php8.2-cli", "php8.2-common", "libsodium23", "libargon2-1"], ["-n", "main.php"]),
  },
  Ruby: {
    file: "verify.rb",
    main: [
      "main.rb",
      `require_relative "verify"
print verify(ENV["SECRET"], ENV["ID"], ENV["TIME"], ENV["SIGNATURE"], ENV["BODY"])`,
    ],
    command: async (folder) => {
      const packages = ["ruby3.1", "libruby3.1", "libyaml-0-2", "libgmp10"];
      const [path, args, env] = await commandOf("ruby3.1", packages, ["main.rb"]);
      return [path, args, { ...env, ...rubyPaths(path), HOME: folder }];
    },
  },
};

/**
 * Environment that lets a Ruby unpacked from Debian packages find its library, which it looks for in its original
 * folder.
 */
function rubyPaths(path: string): Record<string, string> {
  if (path.startsWith("/usr/")) return {};
  const library = join(path, "../../lib");
  const architecture = join(library, `${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu/ruby/3.1.0`);
  return { RUBYLIB: [join(library, "ruby/3.1.0"), architecture].join(":"), RUBYOPT: "--disable-gems" };
}

/**
 * `npm test` runs the JavaScript sample, which needs no other program; FAILURES=long runs all samples, with programs
 * from PATH or Debian packages.
 */
const tried = process.env.FAILURES === "long" ? Object.keys(LANGUAGES) : ["JavaScript"];

describe("the code that checks a webhook's signature", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "flockmail-verify-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each(tried)(
    "accepts exactly the service's signatures, in %s",
    async (name) => {
      const { file, main, command } = LANGUAGES[name]!;
      const home = join(folder, name);
      await mkdir(home);
      await writeFile(join(home, file), codeOf(name));
      await writeFile(join(home, main[0]), main[1]);
      await writeFile(join(home, "package.json"), '{"type":"module"}');
      const [path, args, env] = await command(home);
      const secret = newSecret();
      const body = '{"type":"opened","recipient":"zoë@example.com"}';
      const at = (now: Date, secrets = [secret]) => signedHeaders(secrets.map(signingKey), "id-1", body, now);
      const ask = async (headers: ReturnType<typeof at>, more: Record<string, string> = {}) => {
        const values = {
          SECRET: secret,
          ID: headers["webhook-id"],
          TIME: headers["webhook-timestamp"],
          SIGNATURE: headers["webhook-signature"],
          BODY: body,
          ...more,
        };
        const options = { cwd: home, env: { ...process.env, ...env, ...values }, timeout: 170_000 };
        return (await run(path, args, options)).stdout;
      };
      const now = new Date();
      expect(await ask(at(now))).toBe("true");
      expect(await ask(at(now, [newSecret(), secret]))).toBe("true");
      expect(await ask(at(now), { BODY: `${body} ` })).toBe("false");
      expect(await ask(at(now), { ID: "id-2" })).toBe("false");
      expect(await ask(at(now, [newSecret()]))).toBe("false");
      expect(await ask(at(now), { TIME: "soon" })).toBe("false");
      expect(await ask(at(now), { SIGNATURE: "" })).toBe("false");
      expect(await ask(at(new Date(now.getTime() - 600_000)))).toBe("false");
    },
    600_000,
  );
});
