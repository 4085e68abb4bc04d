/** Collects facts about a subject and a body, used for warnings to the author. */
import { compileTemplate } from "../../lib/template/compile.ts";
import type { Node, Path } from "../../lib/template/parser.ts";
import { textWarnings } from "../../lib/template/text-warnings.ts";
import { unescapeHtml } from "../program/escape.ts";
import { type BrokenLink, brokenLinks } from "../repair/broken-links.ts";
import type { Source } from "./bodies.ts";
import { outlineOf } from "./html-outline.ts";
import { showsAlways } from "./visible.ts";

export interface Facts {
  /** The variables of the recipient that it names, each once, in order. */
  variables: string[];
  /** Variables that leave a gap for people without a value: no default, and not within a condition on them. */
  bare: string[];
  /** Everybody who gets it can unsubscribe without the footer. */
  showsUnsubscribe: boolean;
  /** Sentences on its texts. */
  warnings: string[];
  brokenLinks: BrokenLink[];
  /** Whole web addresses of images and backgrounds. */
  images: string[];
}

class Names {
  readonly all = new Set<string>();
  readonly bare = new Set<string>();

  collect(nodes: readonly Node[], asked: ReadonlySet<string> = new Set()): void {
    const add = (path: Path, isBare = false) => {
      if (path.from !== "variables") return;
      this.all.add(path.name);
      if (isBare && !asked.has(path.name)) this.bare.add(path.name);
    };
    for (const node of nodes) {
      if (node.kind === "value") add(node.path, node.defaultText === undefined);
      if (node.kind === "if" || node.kind === "each") {
        add(node.path);
        const name = node.path.from === "variables" ? [node.path.name] : [];
        this.collect(node.body, new Set([...asked, ...name]));
      }
      if (node.kind === "link") this.collect(node.body, asked);
      if (node.kind === "if") this.collect(node.otherwise, asked);
    }
  }
}

const imagesIn = (body: string): string[] =>
  outlineOf(body)
    .addresses.filter(({ use }) => use === "image")
    .map(({ start, end }) => unescapeHtml(body.slice(start, end)).trim())
    .filter((address) => /^https?:\/\//i.test(address) && !address.includes("[[") && URL.canParse(address));

/** Collects facts for warnings. Bodies with syntax errors have none. */
export function factsOf(source: Pick<Source, "subject" | "body" | "preheader" | "textBody">): Facts {
  const { subject, body } = source;
  const [preheader, textBody] = [source.preheader ?? "", source.textBody ?? ""];
  const names = new Names();
  names.collect(compileTemplate(subject, "subject").template?.nodes ?? []);
  names.collect(compileTemplate(preheader, "subject").template?.nodes ?? []);
  names.collect(compileTemplate(body, "body").template?.nodes ?? []);
  names.collect(compileTemplate(textBody, "text").template?.nodes ?? []);
  return {
    variables: [...names.all],
    bare: [...names.bare],
    showsUnsubscribe: showsAlways(body, "unsubscribe_url"),
    warnings: textWarnings(source),
    brokenLinks: brokenLinks(body),
    images: [...new Set(imagesIn(body))],
  };
}
