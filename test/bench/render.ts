/**
 * Measures CPU per rendered message of the 10 KB newsletter (20 variables, 2 conditions, 1 loop, 15 links; text and
 * HTML, all headers), compared with nodemailer's MailComposer for the same finished content.
 *
 *     node test/bench render [messages=2000] [rounds=7]
 *
 * Prints medians of alternating rounds, so that noise affects all equally; nothing passes or fails.
 */
import MailComposer from "nodemailer/lib/mail-composer/index.js";
import nunjucks from "nunjucks";
import { addressToken, LinkTokens } from "../../services/lib/tokens/link-token.ts";
import { bodiesOf, htmlProgram, subjectProgram, textProgram } from "../../services/renderer/bodies/bodies.ts";
import type { Content } from "../../services/renderer/content.ts";
import { encodeQuotedPrintable } from "../../services/renderer/mime/quoted-printable.ts";
import { skeletonOf } from "../../services/renderer/mime/skeleton.ts";
import { run } from "../../services/renderer/program/program.ts";
import { type Recipient, type Scope, scopeOf } from "../../services/renderer/program/scope.ts";
import { newsletter, reader } from "../support/newsletter.ts";

const [messages = 2000, rounds = 7] = process.argv.slice(2).map(Number);
const key = Buffer.alloc(32, 7);
const memory = Buffer.alloc(1024 * 1024);
const installation = { baseUrl: "https://mail.example.org", serviceName: "Flockmail" };

function contentIn(language: "en" | "ru", attachments: Content["attachments"] = []): Content {
  return {
    campaignId: "018f0000-0000-7000-8000-000000000001",
    companyId: "018f0000-0000-7000-8000-000000000002",
    ...newsletter(language),
    senderName: "River News",
    senderEmail: "news@example.org",
    replyToEmail: null,
    listName: "Readers",
    listId: "018f0000-0000-7000-8000-000000000003",
    companyName: "River Society",
    footerText: "1 River Street",
    isTransactional: false,
    trackingEnabled: true,
    campaignTokenId: null,
    trackingDomain: null,
    attachments,
    dkim: [],
  };
}

const recipients = (language: "en" | "ru"): Recipient[] =>
  Array.from({ length: 200 }, (_, n) => ({
    id: `018f0000-0000-7000-8000-${n.toString(16).padStart(12, "0")}`,
    ...reader(n, language),
  }));

function workOf(content: Content) {
  const bodies = bodiesOf(content);
  const numbers = new Map(bodies.links.map((link, i) => [link, i + 1]));
  const links = bodies.links.length;
  const skeleton = skeletonOf(content, bodies, installation, key, {
    links,
    numberOf: (template) => numbers.get(template),
    tokenFor: (id, link, url) => addressToken(key, id, link, url),
  });
  const scope = (recipient: Recipient): Scope =>
    scopeOf(recipient, {
      fallback: {},
      tokens: new LinkTokens(key, recipient.id),
      preferencesUrl: () => "https://mail.example.org/p/",
    });
  const { baseUrl } = installation;
  return {
    scope,
    untracked: (recipient: Recipient): Scope =>
      scopeOf(recipient, { fallback: {}, tokens: null, preferencesUrl: () => "https://mail.example.org/p/" }),
    flockmail(recipient: Recipient): number {
      const { text } = skeleton.make(recipient, scope(recipient), false);
      text.writeTo(memory);
      return text.length;
    },
    html: htmlProgram(bodies.html, baseUrl),
    text: textProgram(bodies.text(), baseUrl),
    subject: subjectProgram(bodies.subject, baseUrl),
  };
}
type Work = ReturnType<typeof workOf>;

function composed({ html, text, subject, untracked }: Work, recipient: Recipient): Promise<Buffer> {
  const values = untracked(recipient);
  const unsubscribe = `https://mail.example.org/api/emails/public/unsubscribe/${recipient.id}/`;
  return new MailComposer({
    from: "River News <news@example.org>",
    to: recipient.email,
    subject: run(subject, values),
    html: run(html, values),
    text: run(text, values),
    messageId: `<${recipient.id}@example.org>`,
    headers: {
      "X-Mailer": "Flockmail",
      Precedence: "bulk",
      "List-Unsubscribe": `<${unsubscribe}>`,
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    },
  })
    .compile()
    .build();
}

/** The body as a nunjucks template, compiled once, for the cost of the values alone. */
function inNunjucks(body: string): nunjucks.Template {
  const text = body
    .replace(/\[\[#if (\w+)\]\]/g, "{% if $1 %}")
    .replace(/\[\[#else\]\]/g, "{% else %}")
    .replace(/\[\[\/if\]\]/g, "{% endif %}")
    .replace(/\[\[#each (\w+)\]\]/g, "{% for this in $1 %}")
    .replace(/\[\[\/each\]\]/g, "{% endfor %}")
    .replace(/\[\[@index\]\]/g, "{{ loop.index0 }}")
    .replace(/\[\[([\w.]+)\]\]/g, "{{ $1 }}");
  return new nunjucks.Template(text, new nunjucks.Environment(null, { autoescape: true }), "newsletter", true);
}

type Step = (recipient: Recipient) => unknown;

function stepsFor(language: "en" | "ru"): Record<string, Step> {
  const work = workOf(contentIn(language));
  const attached = workOf(
    contentIn(language, [{ filename: "a.pdf", contentType: "application/pdf", data: Buffer.alloc(5_000_000, 1) }]),
  );
  const template = inNunjucks(contentIn(language).body);
  const finished = run(work.html, work.scope(recipients(language)[0]!));
  return {
    "values alone, HTML (no links, no encoding)": (recipient) => run(work.html, work.untracked(recipient)).length,
    "values alone, nunjucks compiled once": (recipient) =>
      template.render({ ...recipient, ...(recipient.attributes as object) }).length,
    "quoted-printable of the finished HTML": () => encodeQuotedPrintable(finished).text.length,
    "tokens of 15 links and the pixel": (recipient) => {
      const tokens = new LinkTokens(key, recipient.id);
      for (let link = 0; link <= 15; link++) tokens.text(link);
    },
    "whole message": work.flockmail,
    "whole message, 5 MB attached": attached.flockmail,
    "whole message, MailComposer": (recipient) => composed(work, recipient),
  };
}

async function cpuPerMessage(step: Step, readers: Recipient[], count: number): Promise<number> {
  const before = process.cpuUsage();
  for (let n = 0; n < count; n++) {
    const result = step(readers[n % readers.length]!);
    if (result instanceof Promise) await result;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

for (const language of ["en", "ru"] as const) {
  const steps = stepsFor(language);
  const readers = recipients(language);
  const figures: Record<string, number[]> = {};
  for (let round = 0; round < rounds; round++) {
    for (const [name, step] of Object.entries(steps)) {
      const slow = name.includes("MailComposer");
      figures[name] ??= [];
      figures[name].push(await cpuPerMessage(step, readers, slow ? Math.ceil(messages / 10) : messages));
    }
  }
  const composer = median(figures["whole message, MailComposer"]!);
  console.log(
    `\n${language}: ${Buffer.byteLength(newsletter(language).body)} bytes of HTML, ${messages} messages, median of ${rounds}`,
  );
  for (const [name, values] of Object.entries(figures)) {
    const us = median(values);
    const ratio = name.startsWith("whole") ? `   ${(us / composer).toFixed(3)} of MailComposer` : "";
    console.log(`  ${name.padEnd(46)} ${us.toFixed(1).padStart(7)} µs${ratio}`);
  }
}
