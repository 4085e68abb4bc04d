/** Builds the tree of a template from its tokens, without recursion: depth is a limit, not a risk. */
import type { TemplateError, Token } from "./lexer.ts";

/** Source of a value: the recipient's variables, the current item of a loop, or the item's index. */
export type Path =
  | { from: "variables"; name: string; steps: string[] }
  | { from: "item"; steps: string[] }
  | { from: "index" };

export type Node =
  | { kind: "text"; text: string }
  | { kind: "value"; path: Path; raw: boolean; defaultText?: string; urlEncoded?: true | "mailbox" }
  | { kind: "if"; path: Path; body: Node[]; otherwise: Node[] }
  | { kind: "each"; path: Path; body: Node[] }
  /** The address of a link: its template as text, and the nodes that render it. */
  | { kind: "link"; template: string; quoted: boolean; body: Node[] }
  /** Position of the open pixel. */
  | { kind: "pixel" };

/** Tokens that the renderer adds to a body's (bodies/tracked-links.ts). */
export type MarkToken =
  | { type: "link"; template: string; quoted: boolean; at: number }
  | { type: "endlink" | "pixel"; at: number };

const MAX_DEPTH = 32;

interface Frame {
  node: Extract<Node, { kind: "if" | "each" | "link" }> | null;
  into: Node[];
  at: number;
  inElse: boolean;
}

const closing = { if: "[[/if]]", each: "[[/each]]", link: "link" };

function readPath(text: string, inEach: boolean): Path | string {
  if (text === "@index") return inEach ? { from: "index" } : "[[@index]] outside of [[#each]]";
  if (text.startsWith("@")) return `Unknown variable [[${text}]]`;
  const steps = text.split(".");
  if (steps[0] === "this" && inEach) return { from: "item", steps: steps.slice(1) };
  return { from: "variables", name: text, steps };
}

export function parse(tokens: readonly (Token | MarkToken)[]): { nodes: Node[]; errors: TemplateError[] } {
  const nodes: Node[] = [];
  const errors: TemplateError[] = [];
  const frames: Frame[] = [{ node: null, into: nodes, at: 0, inElse: false }];
  let loops = 0;
  /** Blocks open at this token; a URL does not count. */
  let depth = 0;

  const pathOf = (token: { path: string; at: number }): Path => {
    const path = readPath(token.path, loops > 0);
    if (typeof path !== "string") return path;
    errors.push({ sentence: path, at: token.at });
    return { from: "index" };
  };
  const open = (node: NonNullable<Frame["node"]>, into: Node[], at: number) => {
    frames.at(-1)!.into.push(node);
    frames.push({ node, into, at, inElse: false });
    if (node.kind !== "link") depth++;
    if (node.kind === "each") loops++;
  };
  const close = (kind: "if" | "each" | "link", at: number) => {
    const frame = frames.at(-1)!;
    if (frame.node?.kind !== kind) {
      const because = frame.node ? `: ${closing[frame.node.kind]} must come first` : " has no beginning";
      errors.push({ sentence: `${closing[kind]}${because}`, at });
      return;
    }
    if (kind !== "link") depth--;
    if (kind === "each") loops--;
    frames.pop();
  };

  for (const token of tokens) {
    if (depth > MAX_DEPTH) {
      return {
        nodes,
        errors: [...errors, { sentence: `Nested deeper than ${MAX_DEPTH} levels`, at: frames.at(-1)!.at }],
      };
    }
    const frame = frames.at(-1)!;
    switch (token.type) {
      case "text":
        frame.into.push({ kind: "text", text: token.text });
        break;
      case "value":
        frame.into.push({
          kind: "value",
          path: pathOf(token),
          raw: token.raw,
          ...(token.defaultText !== undefined && { defaultText: token.defaultText }),
          ...(token.urlEncoded && { urlEncoded: token.urlEncoded }),
        });
        break;
      case "if": {
        const node: Node = { kind: "if", path: pathOf(token), body: [], otherwise: [] };
        open(node, node.body, token.at);
        break;
      }
      case "each": {
        const node: Node = { kind: "each", path: pathOf(token), body: [] };
        open(node, node.body, token.at);
        break;
      }
      case "link": {
        const node: Node = { kind: "link", template: token.template, quoted: token.quoted, body: [] };
        open(node, node.body, token.at);
        break;
      }
      case "pixel":
        frame.into.push({ kind: "pixel" });
        break;
      case "else":
        if (frame.node?.kind !== "if") errors.push({ sentence: "[[#else]] outside of [[#if]]", at: token.at });
        else if (frame.inElse) errors.push({ sentence: "A second [[#else]] in one [[#if]]", at: token.at });
        else {
          frame.inElse = true;
          frame.into = frame.node.otherwise;
        }
        break;
      case "endif":
        close("if", token.at);
        break;
      case "endeach":
        close("each", token.at);
        break;
      case "endlink":
        close("link", token.at);
        break;
    }
  }
  for (const { node, at } of frames.slice(1)) {
    if (node && node.kind !== "link") errors.push({ sentence: `[[#${node.kind} …]] is never closed`, at });
  }
  return { nodes, errors };
}
