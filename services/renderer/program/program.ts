/**
 * Compiles a template to a program: a flat list of parts, with static text merged and pre-encoded, and small functions
 * for the rest. One program per use of a body (tracked mail, copy for cc, web view, text part), all from the same tree.
 */

import { fixedPiece, type MailPiece } from "../../lib/raw-message.ts";
import type { Node, Path } from "../../lib/template/parser.ts";
import { TOKEN_LENGTH } from "../../lib/tokens/link-token.ts";
import { MAX_URL_LENGTH } from "../bodies/tracked-links.ts";
import { asIs, type Escape, unescapeHtml } from "./escape.ts";
import { isTrue, type Read, reader, type Scope, spendCharacters, spendSteps, textOf } from "./scope.ts";
import { type Piece, plainWriter, type Writer } from "./writer.ts";

export type Program = readonly Piece[];

export interface Uses {
  /** Base address of the public pages, without a trailing slash. */
  baseUrl: string;
  escape: Escape;
  /** Escape function for `[[[raw]]]`. */
  escapeRaw: Escape;
  /** Number of a tracked link, undefined for one that is not tracked. If absent: no tracking at all, and no pixel. */
  numberOf?: (template: string) => number | undefined;
  /** The token of a link whose address contains the recipient's data. */
  tokenFor?: (sentEmailId: string, link: number, url: string) => string;
}

const UUID_LENGTH = 36;
/** The cost in steps of an address with recipient data (parsed, and signed into a token). */
const ADDRESS_STEPS = 100;

const ADDRESSES: Record<string, string> = { unsubscribe_url: "unsubscribe", view_in_browser_url: "view" };
const OWN_PAGES = new Set(["unsubscribe_url", "view_in_browser_url", "preferences_url"]);
const RUNS_CODE = /^(?:javascript|vbscript|data):/i;
// Characters that a browser drops from an address before it reads the scheme.
const DROPPED = /[\u0000-\u0020]/g;

/** A program for emails, with its fixed text as bytes. */
export type WireProgram = readonly (Buffer | Exclude<Piece, string>)[];

export const wireProgram = (program: Program): WireProgram =>
  program.filter((piece) => piece !== "").map((piece) => (typeof piece === "string" ? fixedPiece(piece) : piece));

/** Runs the program; returns the pieces of an email. */
export function write(program: WireProgram, scope: Scope): MailPiece[] {
  spendSteps(scope, program.length + 1);
  return program.map((piece) => (typeof piece === "function" ? piece(scope, undefined, -1) : piece));
}

export function run(program: Program, scope: Scope, item?: unknown, index = -1): string {
  let out = "";
  spendSteps(scope, program.length + 1);
  for (let i = 0; i < program.length; i++) {
    const piece = program[i]!;
    out += typeof piece === "string" ? piece : piece(scope, item, index);
  }
  return out;
}

function addressKind(path: Path): string | undefined {
  return path.from === "variables" && Object.hasOwn(ADDRESSES, path.name) ? ADDRESSES[path.name] : undefined;
}

/** The value as a part of an address: "&", "+", "#" and spaces in it are its own (RFC 3986 section 2.1, RFC 6068 section 5). */
function urlEncoded(read: Read, keepsAt: boolean): Read {
  return (scope, item, index) => {
    const encoded = encodeURIComponent(textOf(read(scope, item, index), scope).toWellFormed());
    return keepsAt ? encoded.replaceAll("%40", "@") : encoded;
  };
}

function readerOf({ path, defaultText, urlEncoded: encoded }: Extract<Node, { kind: "value" }>): Read {
  const read = reader(path);
  const given: Read =
    defaultText === undefined ? read : (scope, item, index) => textOf(read(scope, item, index), scope) || defaultText;
  return encoded ? urlEncoded(given, encoded === "mailbox") : given;
}

/** True for an href that cannot become code for any values: it begins with a safe scheme or one of our own pages. */
function isHarmless([first]: readonly Node[]): boolean {
  if (first === undefined) return true;
  if (first.kind === "text") return /^\s*(?:(?:https?|mailto|tel|sms):|[#/?])/i.test(first.text);
  return (
    first.kind === "value" && !first.urlEncoded && first.path.from === "variables" && OWN_PAGES.has(first.path.name)
  );
}

const token =
  (link: number): Piece =>
  (scope) =>
    scope.tokens!.text(link);

export function build(nodes: readonly Node[], writer: Writer, uses: Uses): Program {
  const pieces: Piece[] = [];
  let pending = "";

  const add = (piece: Piece) => {
    const last = pieces.length - 1;
    if (piece === "") return;
    if (typeof piece === "string" && typeof pieces[last] === "string") pieces[last] += piece;
    else pieces.push(piece);
  };
  // Text is buffered until another part follows: how a space is encoded depends on the next character.
  const flush = () => {
    if (pending) add(writer.text(pending));
    pending = "";
  };
  const addValue = (piece: () => Piece) => {
    flush();
    add(piece());
    add(writer.afterValue);
  };
  const addSlot = (length: number, piece: Piece) => {
    flush();
    add(writer.slot(length));
    add(piece);
  };
  const branch = (body: readonly Node[]): Program => {
    const program = [...build(body, writer, uses)];
    const end = writer.settle();
    return end ? [...program, end] : program;
  };

  function addLink(node: Extract<Node, { kind: "link" }>): void {
    const fixed = node.body.every(({ kind }) => kind === "text");
    const link = uses.numberOf?.(node.template);
    if (link === undefined && (fixed || (node.quoted && isHarmless(node.body)))) {
      addAll(node.body);
    } else if (fixed) {
      pending += `${uses.baseUrl}/api/emails/public/click/`;
      addSlot(TOKEN_LENGTH, token(link!));
      pending += "/";
    } else {
      addValue(() => writer.value(dynamicHref(node, uses, link), asIs));
    }
  }

  function addAll(list: readonly Node[]): void {
    for (const node of list) {
      switch (node.kind) {
        case "text":
          pending += node.text;
          break;
        case "value": {
          const address = addressKind(node.path);
          if (address) {
            const inAddress = node.urlEncoded ? encodeURIComponent : asIs;
            pending += inAddress(`${uses.baseUrl}/api/emails/public/${address}/`);
            addSlot(UUID_LENGTH, (scope) => scope.id);
            pending += inAddress("/");
          } else {
            const read = readerOf(node);
            addValue(() => writer.value(read, node.raw ? uses.escapeRaw : uses.escape));
          }
          break;
        }
        case "if": {
          flush();
          add(writer.settle());
          const read = reader(node.path);
          const body = branch(node.body);
          const otherwise = branch(node.otherwise);
          add((scope, item, index) => run(isTrue(read(scope, item, index)) ? body : otherwise, scope, item, index));
          break;
        }
        case "each": {
          flush();
          add(writer.settle());
          add(loop(reader(node.path), branch(node.body)));
          break;
        }
        case "link":
          addLink(node);
          break;
        case "pixel":
          if (!uses.numberOf) break;
          pending += `<img src="${uses.baseUrl}/api/emails/public/open/`;
          addSlot(TOKEN_LENGTH, token(0));
          pending += '.gif" alt="" width="1" height="1" style="display:block;width:1px;height:1px;border:0">';
          break;
      }
    }
  }

  addAll(nodes);
  flush();
  return pieces.map((piece) => (typeof piece === "string" ? flat(piece) : piece));
}

/**
 * The same text as a flat string. V8 keeps a string that was concatenated character by character as a tree of thousands
 * of nodes, and would walk it again for every email: 60 µs instead of 4.
 */
const flat = (text: string): string => Buffer.from(text).toString();

function loop(read: ReturnType<typeof reader>, body: Program): Piece {
  return (scope, item, index) => {
    const items = read(scope, item, index);
    if (!Array.isArray(items)) return "";
    let out = "";
    for (let i = 0; i < items.length; i++) {
      const written = run(body, scope, items[i], i);
      spendCharacters(scope, written.length);
      out += written;
    }
    return out;
  };
}

/**
 * An href that contains the recipient's data, as HTML for the attribute. A scheme that would run code is replaced; http
 * and https are tracked if a link number is given.
 */
function dynamicHref(node: Extract<Node, { kind: "link" }>, uses: Uses, link: number | undefined) {
  const untracked: Uses = { baseUrl: uses.baseUrl, escape: uses.escape, escapeRaw: uses.escapeRaw };
  const asHtml = build(node.body, plainWriter(), untracked);
  const asText = build(decoded(node.body), plainWriter(), { ...untracked, escape: asIs, escapeRaw: unescapeHtml });
  return (scope: Scope, item: unknown, index: number): string => {
    spendSteps(scope, ADDRESS_STEPS);
    const url = run(asText, scope, item, index).trim();
    if (RUNS_CODE.test(url.replace(DROPPED, ""))) return "#";
    const href = link !== undefined && /^https?:\/\//i.test(url) && URL.canParse(url) ? new URL(url).href : "";
    if (href && href.length <= MAX_URL_LENGTH && uses.tokenFor) {
      return `${uses.baseUrl}/api/emails/public/click/${uses.tokenFor(scope.id, link!, href)}/`;
    }
    const html = run(asHtml, scope, item, index);
    // A space would end an unquoted attribute value, and the rest would become attributes.
    return node.quoted ? html : html.replace(/[\s`]/g, (char) => `&#${char.charCodeAt(0)};`);
  };
}

/** The same nodes with their static text decoded as a browser does. */
function decoded(nodes: readonly Node[]): Node[] {
  return nodes.map((node) => {
    if (node.kind === "text") return { kind: "text", text: unescapeHtml(node.text) };
    if (node.kind === "if") return { ...node, body: decoded(node.body), otherwise: decoded(node.otherwise) };
    if (node.kind === "each") return { ...node, body: decoded(node.body) };
    return node;
  });
}
