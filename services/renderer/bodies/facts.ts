/** What a subject and a body say about themselves, for warnings to whoever wrote them. */
import { compileTemplate } from "../../lib/template/compile.ts";
import type { Node, Path } from "../../lib/template/parser.ts";
import type { Source } from "./bodies.ts";
import { showsAlways } from "./visible.ts";

export interface Facts {
  /** The variables of the recipient that it names, each once, in order. */
  variables: string[];
  /** Everybody who gets it can unsubscribe without the footer. */
  showsUnsubscribe: boolean;
}

function collect(nodes: readonly Node[], names: Set<string>): void {
  const add = (path: Path) => path.from === "variables" && names.add(path.name);
  for (const node of nodes) {
    if (node.kind === "value" || node.kind === "if" || node.kind === "each") add(node.path);
    if (node.kind === "if" || node.kind === "each" || node.kind === "link") collect(node.body, names);
    if (node.kind === "if") collect(node.otherwise, names);
  }
}

/** Nothing is said of what has a syntax error. */
export function factsOf(source: Pick<Source, "subject" | "body" | "preheader" | "textBody">): Facts {
  const { subject, body, preheader, textBody } = source;
  const names = new Set<string>();
  collect(compileTemplate(subject, "subject").template?.nodes ?? [], names);
  collect(compileTemplate(preheader ?? "", "subject").template?.nodes ?? [], names);
  collect(compileTemplate(body, "body").template?.nodes ?? [], names);
  collect(compileTemplate(textBody ?? "", "text").template?.nodes ?? [], names);
  return { variables: [...names], showsUnsubscribe: showsAlways(body, "unsubscribe_url") };
}
