/**
 * Tests the SMTP pipeline with a server that gives any legal reply at any time: nobody is lost, nobody gets an email
 * twice, only our emails are sent to their own recipients, and every result matches the server's action. A failed
 * dialogue names its seed: `SEED=123 npx jest pipeline-properties`. FUZZ=long (`npm run test:fuzz`) has ten thousand of
 * them.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Message, openPipeline, type Pipeline, type Result } from "../../support/mta/pipeline.ts";
import { type Random, randomOf } from "../../support/mta/random.ts";
import { ScriptedServer } from "../../support/mta/scripted-server.ts";

const DIALOGUES = process.env.FUZZ === "long" ? 10_000 : 2_000;
const FIRST_SEED = 1;
const MESSAGES = 8;
const MAX_TRIES = 4;
const MAX_CONNECTIONS = 100;
/** Event-loop turns without progress after which a dialogue is stuck. */
const MAX_TURNS = 5_000;

interface Note extends Message {
  no: number;
  tries: number;
}

interface Dialogue {
  random: Random;
  faults: string[];
  transcript: string[];
  waiting: Note[];
  /** Times each recipient got a message. */
  got: Map<string, number>;
}

const idLine = (no: number) => `Message-ID: <${no}@ours>`;

function note(no: number, random: Random): Note {
  const text = `${idLine(no)}\r\n\r\n..dots and\r\n${"words ".repeat(random.below(50))}\r\n`;
  const to = Array.from({ length: 1 + random.below(3) }, (_, i) => `r${no}-${i}@to`);
  return { no, tries: 0, from: `s${no}@ours`, to, body: [text], bytes: text.length, smtpUtf8: false, eightBit: false };
}

/** Checks that the server accepted only our messages, for the right recipients. */
function checkAccepted({ faults, got }: Dialogue, server: ScriptedServer): void {
  for (const { from, to, text } of server.accepted) {
    const [, id] = /^Message-ID: <(\d+)@ours>/.exec(text) ?? [];
    if (!id) faults.push(`a blank mail to ${to.join()}: ${JSON.stringify(text)}`);
    else if (from !== `s${id}@ours` || to.some((address) => !address.startsWith(`r${id}-`))) {
      faults.push(`message ${id} went from ${from} to ${to.join()}`);
    }
    for (const address of id ? to : []) got.set(address, (got.get(address) ?? 0) + 1);
  }
}

/** True if the result of a message matches the server's action on this connection. */
function checkResult({ faults }: Dialogue, { no, to }: Note, result: Result, server: ScriptedServer): void {
  const filed = server.accepted.filter(({ text }) => text.startsWith(idLine(no))).length;
  const said = JSON.stringify(result);
  if (result.kind === "accepted") {
    const refused = new Set(result.refused.map((one) => one.to));
    const takers = to.filter((address) => !refused.has(address));
    const filedTo = server.accepted.findLast(({ text }) => text.startsWith(idLine(no)))?.to ?? [];
    if (filed === 0) faults.push(`message ${no} was not accepted: ${said}`);
    else if (takers.join() !== filedTo.join()) faults.push(`message ${no} went to ${filedTo.join()}: ${said}`);
  } else if (result.kind !== "doubt" && filed > 0) {
    faults.push(`message ${no} was accepted: ${said}`);
  }
  if (result.kind === "refused") {
    if (result.reply.code === 503 && result.stage === "mail")
      faults.push(`503 says nothing about message ${no}: ${said}`);
    const about = /<[sr](\d+)[-@]/.exec(result.reply.text)?.[1];
    if (about && Number(about) !== no) faults.push(`message ${no} got the answer of ${about}`);
  }
}

/** Runs one connection until it ends; false when it hangs. */
async function connection(dialogue: Dialogue, server: ScriptedServer, pipelining: boolean): Promise<boolean> {
  const { random, waiting, faults } = dialogue;
  const taken = new Set<Note>();
  let over = false;
  const pipeline: Pipeline = openPipeline<Note>(server.stream, pipelining, {
    next() {
      const message = waiting.shift();
      if (message) taken.add(message);
      return message;
    },
    answered(message, result) {
      if (!taken.delete(message)) faults.push(`message ${message.no} has two results: ${JSON.stringify(result)}`);
      checkResult(dialogue, message, result, server);
      const deferred = result.kind === "refused" && result.reply.code < 500 && ++message.tries < MAX_TRIES;
      if (deferred || result.kind === "unsent") waiting.push(message);
      if (waiting.length === 0 && taken.size === 0 && random.chance(0.8)) pipeline.quit();
    },
    closed: () => {
      over = true;
    },
  });
  pipeline.wake();
  for (let turn = 0; !over && turn < MAX_TURNS; turn++) {
    await nextTurn();
    if (taken.size === 0 && waiting.length > 0) pipeline.wake();
    else if (taken.size === 0) pipeline.quit();
  }
  if (!over) faults.push("stuck: no answer is owed, and nothing is sent");
  for (const { no } of taken) faults.push(`message ${no} has no result: lost`);
  faults.push(...server.violations);
  return over;
}

/** Errors in the dialogue of this seed; empty if none. */
async function dialogueOf(seed: number, ignoresReset: boolean): Promise<{ faults: string[]; transcript: string[] }> {
  const random = randomOf(seed);
  const habits = {
    pipelining: random.chance(0.8),
    keepsTransaction: random.chance(0.5),
    ignoresReset,
    asksForNothing: random.chance(0.5),
    refusal: random.pick([0, 0.1, 0.3]),
    close: random.pick([0, 0.02, 0.1]),
  };
  const waiting = Array.from({ length: MESSAGES }, (_, i) => note(i + 1, random));
  const dialogue: Dialogue = { random, faults: [], transcript: [JSON.stringify(habits)], waiting, got: new Map() };
  for (let n = 0; waiting.length > 0 && dialogue.faults.length === 0; n++) {
    if (n === MAX_CONNECTIONS) dialogue.faults.push(`${waiting.length} messages left after ${n} connections`);
    const server = new ScriptedServer(random, habits);
    dialogue.transcript.push(`--- connection ${n + 1}`);
    const ended = await connection(dialogue, server, habits.pipelining);
    checkAccepted(dialogue, server);
    dialogue.transcript.push(...server.transcript);
    if (!ended) break;
  }
  for (const [address, n] of dialogue.got) if (n > 1) dialogue.faults.push(`${address} got ${n} mails`);
  return dialogue;
}

/** Runs the dialogues of these seeds and describes failed ones: how many of each kind, and one in full. */
async function failures(count: number, ignoresReset: boolean): Promise<string> {
  const given = Number(process.env.SEED ?? 0);
  const seeds = given ? [given] : Array.from({ length: count }, (_, i) => FIRST_SEED + i);
  const failed: string[] = [];
  const kinds = new Map<string, number>();
  for (const seed of seeds) {
    const { faults, transcript } = await dialogueOf(seed, ignoresReset);
    if (faults.length === 0) continue;
    const found = new Set(faults.map((fault) => fault.replace(/\d+/g, "N").slice(0, 16)));
    const isNew = [...found].some((kind) => !kinds.has(kind));
    for (const kind of found) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    if (isNew) failed.push(`SEED=${seed}\n${faults.join("\n")}\n${transcript.join("\n").slice(-3_000)}`);
  }
  const counts = [...kinds].map(([kind, n]) => `${n} dialogues: ${kind}`);
  return `${counts.join("\n")}\n\n${failed.join("\n\n")}`.trim();
}

test("random dialogues lose nobody, send nothing twice or empty, and record every result correctly", async () => {
  expect(await failures(DIALOGUES, false)).toBe("");
}, 300_000);

test("a connection to a server that ignores RSET is closed, so that no blank mail is sent", async () => {
  expect(await failures(DIALOGUES / 10, true)).toBe("");
}, 300_000);
