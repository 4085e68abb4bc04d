/** Finds the faults of a design; each sentence names the path in the tree. */
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { fieldErrorSentence } from "../field-errors.ts";
import { compileTemplate } from "../template/compile.ts";
import { tokenize } from "../template/lexer.ts";
import { BLOCKS, isKind } from "./blocks/fields.ts";
import {
  type Block,
  type Design,
  isCondition,
  isLoop,
  isSaved,
  isSection,
  listsIn,
  MAX_BLOCKS,
  MAX_DEPTH,
  MAX_DESIGN_BYTES,
} from "./design.ts";
import { EMPTY_TEXT, type Field, type Fields, type Inline, type RichText } from "./fields.ts";
import { DEFINITIONS, DESIGN_SCHEMA } from "./schema.ts";

const MAX_SENTENCES = 20;

// Control characters and white space would end the address in some programs; other schemes would run or read something.
const LINK = /^(?:https?:\/\/|mailto:|tel:|\[\[)[^\s\p{Cc}]*$/iu;
const IMAGE = /^(?:https?:\/\/|\[\[)[^\s\p{Cc}]*$/iu;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const withoutTags = (text: string) => text.replace(/\[\[.*?\]\]/gs, "[[x]]");

function compileSchema(): ValidateFunction<Design> {
  // The first fault only: collecting those of a hostile tree would take minutes.
  const ajv = new Ajv({ discriminator: true, strict: false, verbose: true });
  ajv.addFormat("link", (text: string) => text === "" || LINK.test(withoutTags(text)));
  ajv.addFormat("image", (text: string) => text === "" || IMAGE.test(withoutTags(text)));
  ajv.addFormat("uuid", UUID);
  return ajv.compile<Design>({ ...DESIGN_SCHEMA, $defs: DEFINITIONS });
}

/** Compiled at the first use: it would delay each start, and most processes check no design. */
let compiled: ValidateFunction<Design> | undefined;

const ADDRESSES: Record<string, string> = {
  link: "Enter an address that starts with https://, http://, mailto:, tel: or a variable, without blanks.",
  image: "Enter an image's address that starts with https://, http:// or a variable, without blanks.",
};

const pathOf = (pointer: string) =>
  pointer
    .split("/")
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step.replaceAll("~1", "/").replaceAll("~0", "~")}`))
    .join("")
    .replace(/^\./, "");

const at = (path: string, sentence: string) => (path === "" ? sentence : `${path}: ${sentence}`);

function schemaSentence(error: ErrorObject): string {
  const { keyword, params, instancePath } = error;
  const path = pathOf(instancePath);
  if (keyword === "additionalProperties") {
    return at([path, params.additionalProperty].filter(Boolean).join("."), "This field does not exist.");
  }
  if (keyword === "required") {
    return at([path, params.missingProperty].filter(Boolean).join("."), "This field is required.");
  }
  if (keyword === "discriminator") return at(`${path}.type`, "There is no such kind of block here.");
  if (keyword === "format" && ADDRESSES[params.format]) return at(path, ADDRESSES[params.format]!);
  if (keyword === "const" && path === "version") return at(path, "This version is not known.");
  return at(path, fieldErrorSentence(error));
}

/** Variables only: conditions and loops are blocks, and a value without escaping could be markup. */
function textSentence(text: string): string | undefined {
  const { tokens, errors } = tokenize(text);
  if (errors[0]) return `${errors[0].sentence}.`;
  if (tokens.some((token) => token.type !== "text" && token.type !== "value")) {
    return "Conditions and loops are blocks; here only variables can be used.";
  }
  if (tokens.some((token) => token.type === "value" && token.raw)) return "Use two brackets: [[name]].";
  return undefined;
}

function htmlSentence(html: string): string | undefined {
  if (/<\/?mj-/i.test(html)) return "MJML cannot be used in a block of HTML.";
  if (html.lastIndexOf("<!--") > html.lastIndexOf("-->")) return "A comment is not closed.";
  return compileTemplate(html, "body").errors?.[0];
}

function* textsOf(field: Field, value: unknown, path: string): Generator<[path: string, text: string, field: Field]> {
  if (field.kind === "rich") yield* richTextsOf(value as RichText, path, field);
  else if (field.kind === "items") {
    for (const [no, one] of (value as Record<string, unknown>[]).entries()) {
      yield* fieldTexts(field.fields, one, `${path}[${no}]`);
    }
  } else if (typeof value === "string") yield [path, value, field];
}

function* fieldTexts(fields: Fields, values: Readonly<Record<string, unknown>>, path: string) {
  for (const [name, field] of Object.entries(fields)) {
    if (values[name] !== undefined) yield* textsOf(field, values[name], `${path}.${name}`);
  }
}

const tagsIn = (text: string) => tokenize(text).tokens.filter(({ type }) => type !== "text").length;

/** Texts beside each other must mean the same when they are joined: "[" before "[[name]]" makes another tag. */
function joinedSentence(content: readonly Inline[]): string | undefined {
  const texts = content.map(({ text = "" }) => text);
  const whole = texts.join("");
  const isSame = texts.reduce((sum, text) => sum + tagsIn(text), 0) === tagsIn(whole);
  return isSame ? textSentence(whole) : "A variable stands in one text, with no bracket or backslash beside it.";
}

function* inlineTexts(content: readonly Inline[], path: string, field: Field): Generator<[string, string, Field]> {
  for (const [no, { text, marks = [] }] of content.entries()) {
    if (text !== undefined) yield [`${path}.content[${no}].text`, text, field];
    for (const { attrs } of marks) {
      if (attrs?.href !== undefined) yield [`${path}.content[${no}].marks`, attrs.href, field];
    }
  }
}

/** Every paragraph with its path, also those in lists. */
function* paragraphsIn({ content }: RichText, path: string): Generator<[content: Inline[], path: string]> {
  for (const [no, one] of content.entries()) {
    const here = `${path}.content[${no}]`;
    if (one.type === "paragraph") yield [one.content ?? [], here];
    else {
      for (const [at, item] of one.content.entries()) {
        for (const [p, { content: inner = [] }] of item.content.entries()) {
          yield [inner, `${here}.content[${at}].content[${p}]`];
        }
      }
    }
  }
}

function* richTextsOf(text: RichText, path: string, field: Field): Generator<[string, string, Field]> {
  for (const [content, here] of paragraphsIn(text, path)) yield* inlineTexts(content, here, field);
}

function blockSentences(block: Block, path: string): string[] {
  const sentences: string[] = [];
  if (isCondition(block) || isLoop(block)) {
    const { tokens } = tokenize(`[[#if ${block.variable}]]`);
    const [tag] = tokens;
    if (tokens.length !== 1 || tag?.type !== "if" || tag.path !== block.variable)
      sentences.push(at(`${path}.variable`, "This is not a variable's name."));
  }
  if (!isKind(block.type)) return sentences;
  if (block.type === "text") {
    const { content: text = EMPTY_TEXT } = block as { content?: RichText };
    for (const [content] of paragraphsIn(text, path)) {
      const sentence = joinedSentence(content);
      if (sentence) sentences.push(at(`${path}.content`, sentence));
    }
    if (sentences.length > 0) return sentences;
  }
  for (const [where, text, field] of fieldTexts(BLOCKS[block.type], block as Record<string, unknown>, path)) {
    const sentence = field.kind === "html" ? htmlSentence(text) : textSentence(text);
    if (sentence) sentences.push(at(where, sentence));
  }
  return sentences;
}

/** Every block with its path, top down. */
export function* walk(blocks: readonly Block[], path = "blocks", depth = 1): Generator<[Block, string, number]> {
  for (const [no, block] of blocks.entries()) {
    const here = `${path}[${no}]`;
    yield [block, here, depth];
    for (const list of listsIn(block)) yield* walk(list.blocks, `${here}.${list.path}`, depth + 1);
  }
}

/** True if the blocks of a valid design are only frames for others. */
export const isEmptyDesign = ({ blocks }: Design): boolean =>
  [...walk(blocks)].every(([block]) => isSection(block) || isCondition(block) || isLoop(block));

/** Every text and address of a valid design with its path, top down. */
export function* textsIn(blocks: readonly Block[]): Generator<[path: string, text: string, field: Field]> {
  for (const [block, path] of walk(blocks)) {
    if (isKind(block.type)) yield* fieldTexts(BLOCKS[block.type], block as Record<string, unknown>, path);
  }
}

/** Levels of JSON; the validator would exhaust the stack at some hundred. */
const MAX_LEVELS = 64;

function isDeep(value: unknown): boolean {
  let level = [value];
  for (let no = 0; no < MAX_LEVELS && level.length > 0; no++) {
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  }
  return level.length > 0;
}

/** Returns the errors of a design; empty if it is valid. */
export function designErrors(design: unknown): string[] {
  if (isDeep(design)) return [`Blocks stand at most ${MAX_DEPTH} levels deep.`];
  if (Buffer.byteLength(JSON.stringify(design) ?? "") > MAX_DESIGN_BYTES) {
    return [`A design has at most ${MAX_DESIGN_BYTES / 1_024} KB.`];
  }
  compiled ??= compileSchema();
  const isDesign = compiled;
  if (!isDesign(design)) return [...new Set(isDesign.errors!.map(schemaSentence))].slice(0, MAX_SENTENCES);
  const all = [...walk(design.blocks)];
  if (all.length > MAX_BLOCKS) return [`A design has at most ${MAX_BLOCKS} blocks.`];
  const deep = all.find(([, , depth]) => depth > MAX_DEPTH);
  if (deep) return [at(deep[1], `Blocks stand at most ${MAX_DEPTH} levels deep.`)];
  return all.flatMap(([block, path]) => blockSentences(block, path)).slice(0, MAX_SENTENCES);
}

/** References to saved blocks, with their paths. */
export const savedAt = (blocks: readonly Block[]): { id: string; path: string }[] =>
  [...walk(blocks)].flatMap(([block, path]) => (isSaved(block) ? [{ id: block.id.toLowerCase(), path }] : []));
