/**
 * Expected verdicts from the collectors of public bounce collections. Each reader understands one repository layout;
 * this file contains no collected data.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { VerdictKind } from "../../services/bounces/verdict.ts";

export interface Expected {
  /** All kinds that agree with the collection's verdict; its "temporary" may be soft or block here. */
  kinds: readonly VerdictKind[];
  /** Undefined if the collection does not say. */
  recipient?: string;
}

export interface Sample {
  collection: string;
  dialect: string;
  file: string;
  /** In any order; empty for mails known not to be reports. */
  expected: Expected[];
}

const BOUNCE: VerdictKind[] = ["hard", "soft", "block"];
const IGNORED: VerdictKind[] = ["ignored"];

/**
 * Sisimai's reasons (https://libsisimai.org/en/reason/). If it has one word for kinds that we distinguish, all of them
 * are right.
 */
const SISIMAI_KINDS: Record<string, readonly VerdictKind[]> = {
  ...Object.fromEntries(["userunknown", "hostunknown", "hasmoved", "notaccept"].map((word) => [word, ["hard"]])),
  ...Object.fromEntries(
    [
      "mailboxfull",
      "mesgtoobig",
      "emailtoolarge",
      "exceedlimit",
      "suspend",
      "expired",
      "networkerror",
      "systemfull",
    ].map((word) => [word, ["soft"]]),
  ),
  ...Object.fromEntries(
    [
      "authfailure",
      "badreputation",
      "blocked",
      "contenterror",
      "failedstarttls",
      "norelaying",
      "notcompliantrfc",
      "policyviolation",
      "rejected",
      "requireptr",
      "securityerror",
      "spamdetected",
      "virusdetected",
      "syntaxerror",
    ].map((word) => [word, ["block"]]),
  ),
  ...Object.fromEntries(
    ["systemerror", "mailererror", "toomanyconn", "speeding", "ratelimited"].map((word) => [word, ["soft", "block"]]),
  ),
  // "Unknown user" that Sisimai doubts because it was said after the content, or by certain carriers.
  filtered: BOUNCE,
  feedback: ["complaint"],
  vacation: IGNORED,
  delivered: IGNORED,
  undefined: BOUNCE,
  onhold: BOUNCE,
};

const read = (...parts: string[]) => readFileSync(join(...parts), "latin1");
const filesIn = (folder: string, ending: string) =>
  existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith(ending)) : [];

/** sisimai/go-sisimai: `{"01", 1, "5.1.1", "550", "userunknown", true, ""}` beside the mails that it bundles. */
function goSisimai(root: string): Sample[] {
  const mails = join(root, "set-of-emails/maildir/bsd");
  return filesIn(join(root, "fact"), "_test.go").flatMap((test) => {
    const text = read(root, "fact", test).split("secretlist")[0]!;
    const engine = /EngineTest\(t, "(\w+)", publiclist/.exec(text)?.[1]?.toLowerCase();
    const prefix = /-([lr]host)-/.exec(test)?.[1];
    const dialect = prefix ? `${prefix}-${engine}` : engine!;
    const byLabel = new Map<string, Expected[]>();
    for (const [, label, reason, feedback] of text.matchAll(
      /\{"(\d+)",\s*\d+,\s*"[^"]*",\s*"[^"]*",\s*"(\w+)",\s*\w+,\s*"([^"]*)"\}/g,
    )) {
      // A receiver that could not authenticate a mail uses the complaint format (RFC 6591) with another meaning.
      const kinds = feedback === "auth-failure" ? IGNORED : SISIMAI_KINDS[reason!];
      if (!kinds) throw new Error(`${test}: ${reason} is not a known reason`);
      byLabel.set(label!, [...(byLabel.get(label!) ?? []), { kinds }]);
    }
    return [...byLabel].map(([label, expected]) => {
      const file = join(mails, `${dialect}-${label}.eml`);
      return { collection: "sisimai", dialect, file, expected: deferred(file) ? [{ kinds: IGNORED }] : expected };
    });
  });
}

/**
 * Sisimai labels a delay with the reason for waiting, whereas the report's own fields count here. OpenSMTPD's reports
 * say "delayed" for mails that it has given up after four days.
 */
const deferred = (file: string): boolean => {
  const text = read(file);
  if (/^Action: *failed|^\S+: Envelope expired$/im.test(text)) return false;
  return /^Action: *(?:delayed|delivered|relayed|expanded)|WARNING MESSAGE ONLY|^Subject: (?:Warning: message|Delivery Status Notification \(Delay\))/im.test(
    text,
  );
};

/** Mailman 2 and flufl.bounce: `('Postfix', 'postfix_01.txt', ['ann@example.com'])`; `Stop` is a warning. */
function mailman(root: string): Sample[] {
  const layouts = [
    ["tests/test_bounces.py", "tests/bounces"],
    ["flufl/bounce/_detectors/tests/detectors.py", "flufl/bounce/tests/data"],
  ] as const;
  return layouts
    .filter(([script]) => existsSync(join(root, script)))
    .flatMap(([script, mails]) => {
      const byFile = new Map<string, Sample>();
      for (const [, module, name, list] of read(root, script).matchAll(
        /^\s+\('(\w+)',\s*'([\w.]+)',\s*(\[[^\]]*\]|Stop)/gm,
      )) {
        const addresses = [...list!.matchAll(/'([^']+)'/g)].map(([, address]) => address!);
        const expected: Expected[] =
          list === "Stop" ? [{ kinds: IGNORED }] : addresses.map((recipient) => ({ kinds: BOUNCE, recipient }));
        const known = byFile.get(name!);
        // Modules find different numbers of recipients.
        if (known && known.expected.length >= expected.length) continue;
        if (expected.length === 0) continue;
        byFile.set(name!, {
          collection: "mailman",
          dialect: module!.toLowerCase(),
          file: join(root, mails, name!),
          expected,
        });
      }
      return [...byFile.values()];
    });
}

const PARSER_KINDS: Record<string, readonly VerdictKind[]> = {
  user_unknown: ["hard"],
  user_disabled: ["hard", "soft"],
  domain_error: ["hard", "soft", "block"],
  over_quota: ["soft"],
  spam: ["block"],
};

/** rjbs/Mail-DeliveryStatus-BounceParser: `check_report('t/corpus/x.msg', is_bounce => 1, addresses => [qw(…)])`. */
function bounceParser(root: string): Sample[] {
  const byName: [RegExp, readonly VerdictKind[]][] = [
    [/^(?:aol-vacation|polish-autoreply|bluebottle|boxbe|autoreply)/, IGNORED],
    // Servers that require sender confirmation refuse in the session: neither a bounce nor a delivered mail.
    [/^whitelist/, ["block", "ignored"]],
    [/^spam-rejection/, ["block"]],
    [/^warning/, [...BOUNCE, "ignored"]],
    [/^quota/, ["soft"]],
    [/^message-too-large/, ["soft"]],
    [/^(?:relaying-denied|not-a-relay|rcpthosts|aol-senderblock|junkemailfilter)/, ["block", "hard"]],
    [/(?:unknown|doesnotexist|nomailbox|rcpt-dne|no-such-domain)/, ["hard", "soft"]],
  ];
  const scripts = filesIn(join(root, "t"), ".t").map((name) => read(root, "t", name));
  const sample = (name: string, expected: Expected[]): Sample => ({
    collection: "BounceParser",
    dialect: "various",
    file: join(root, "t/corpus", name),
    expected,
  });
  return filesIn(join(root, "t/corpus"), ".msg").flatMap((name) => {
    const script = scripts.find((text) => text.includes(`/${name}`)) ?? "";
    const about = script.slice(script.indexOf(`/${name}`)).slice(0, 400);
    const addresses = /addresses\s*=>\s*\[\s*(?:qw\(([^)]*)\)|((?:'[^']*',?\s*)+))/.exec(about.split(/\.msg/)[1] ?? "");
    if (!script && !byName.some(([pattern]) => pattern.test(name))) return [];
    const named = (addresses?.[1] ?? addresses?.[2] ?? "").split(/[\s',]+/).filter((word) => word.includes("@"));
    const reason = /std_reason\s*=>\s*['"](\w+)/.exec(about.split(/\.msg/)[1] ?? "")?.[1];
    // It calls messages that it cannot use bounces without reports; these are ordinary mail.
    if (/reports\s*=>\s*0/.test(about.split(/\.msg/)[1] ?? "")) return sample(name, [{ kinds: IGNORED }]);
    const kinds = PARSER_KINDS[reason ?? ""] ?? byName.find(([pattern]) => pattern.test(name))?.[1] ?? BOUNCE;
    return sample(name, named.length > 0 ? named.map((recipient) => ({ kinds, recipient })) : [{ kinds }]);
  });
}

/** crazy-max/CwsMailBounceHandler: the status code is in the file's name. */
function cws(root: string): Sample[] {
  const kindOf = (name: string): readonly VerdictKind[] | undefined => {
    if (name.startsWith("fbl")) return ["complaint"];
    const code = /^bounce_(\d)(\d)(\d)_/.exec(name);
    if (!code) return undefined;
    const [, kind, subject, detail] = code;
    if (kind === "4") return ["soft", "block", "ignored"];
    if (subject === "1" && detail !== "0") return ["hard", "soft", "block"];
    return BOUNCE;
  };
  return filesIn(join(root, "tests/emls"), ".eml").flatMap((name) => {
    const kinds = kindOf(name);
    const file = join(root, "tests/emls", name);
    return kinds
      ? [{ collection: "CwsMailBounceHandler", dialect: name.split("_")[0]!, file, expected: [{ kinds }] }]
      : [];
  });
}

/** livebg/bounce_email and its forks: one folder with bounces and one with other mail. */
function bounceEmail(root: string): Sample[] {
  return (["bounces", "non_bounces"] as const).flatMap((folder) =>
    filesIn(join(root, "test", folder), ".txt").map((name) => ({
      collection: "bounce_email",
      dialect: folder,
      file: join(root, "test", folder, name),
      expected: [{ kinds: folder === "bounces" ? [...BOUNCE, "ignored" as const] : IGNORED }],
    })),
  );
}

/** Ordinary mails from other software's tests; none is a bounce. */
function ordinary(root: string): Sample[] {
  const folders = [
    ["discourse", "test/emails", ".txt", "lib/email_reply_trimmer.rb"],
    ["redmine", "test/fixtures/mail_handler", ".eml", "app/models/mail_handler.rb"],
    ...["error_emails", "plain_emails", "mime_emails", "rfc2822", "attachment_emails", "multi_charset"].map((name) => [
      "mail",
      `spec/fixtures/emails/${name}`,
      ".eml",
      "lib/mail.rb",
    ]),
  ] as [string, string, string, string][];
  return folders
    .filter(([, , , sign]) => existsSync(join(root, sign)))
    .flatMap(([dialect, folder, ending]) =>
      filesIn(join(root, folder), ending).map((name) => ({
        collection: "ordinary mail",
        dialect,
        file: join(root, folder, name),
        expected: [{ kinds: IGNORED }],
      })),
    );
}

const READERS = [goSisimai, mailman, bounceParser, cws, bounceEmail, ordinary];

/** All samples of a checkout, or of a folder of checkouts. */
export function samplesIn(folder: string): Sample[] {
  const inside = readdirSync(folder).map((name) => join(folder, name));
  const roots = [folder, ...inside.filter((path) => statSync(path).isDirectory())];
  const samples = roots.flatMap((root) => READERS.flatMap((reader) => reader(root)));
  return samples.filter(({ file }) => existsSync(file));
}

/**
 * Patterns are developed on odd file numbers and measured on even ones; files without a number are divided by their
 * letters.
 */
export function isHeldOut({ file }: Sample): boolean {
  const digits = /(\d+)\D*$/.exec(basename(file))?.[1];
  const number =
    digits === undefined ? [...basename(file)].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) : Number(digits);
  return number % 2 === 0;
}
