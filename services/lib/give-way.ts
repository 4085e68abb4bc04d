/**
 * Work in the background gives way to other companies' requests: on few cores an export, an import, recipients that are
 * written and mail that leaves take all of them. Requests of many at once have an order of their own
 * (services/gateway/access/fair-places.ts).
 *
 * | CPU      | other companies                          | the steps of a company's work                             |
 * |----------|------------------------------------------|-----------------------------------------------------------|
 * | is left  |                                          | go at once                                                |
 * | is short | asked for nothing for five seconds       | go at once                                                |
 * | is short | asked for nothing for 250 ms             | take a fifth of the rows                                  |
 * | is short | asked for something within that          | take a fifth of the rows, rest as long as each took, and go one after the other |
 * | is short | the same, and it is newsletters          | go one campaign after the other, and rest for 10 ms after each 50 mails |
 * | is short | the same, and it is webhooks or hits     | go when the event loop was idle for half as long as it was in use, after 50 ms at the latest |
 *
 * Where that does not help, the rests of steps and newsletters get longer: twice as long after each quarter of a second in which CPU
 * was short, up to eight times; each in which it was not takes one off. So they settle where CPU is just left.
 *
 * Webhooks and hits (opens and clicks, of all companies together) that rested go in larger groups, each of which costs less.
 *
 * Requests that write thousands of rows (list changes) or begin a newsletter are such steps, too, and parts of uploaded files.
 *
 * Transactional mail never rests. What is short matters more than the rest: beside steps of 100 ms of PostgreSQL the others' slowest
 * requests took as long as without any rest. Once short, CPU counts as short for ten seconds more, because rests make it look as
 * if there were enough. An import's sort and its look for who is new are one statement each, and do not rest.
 *
 * Calls of companies are noted where an action begins (mixins/database.middleware.ts), in each process those that it serves: in a
 * cluster a node gives way to whom it serves itself, and to nobody where it only sends.
 *
 * Measured on two cores that clients and PostgreSQL share, p99 of a company that asks 25 times a second, as a multiple of that in
 * silence (19-24 ms), with `test/bench noisy`. With rests as long as each step and with those that get longer: sends to everybody 4.1
 * to 12.8 and 1.9 to 2.5 (2,200 and some 600 mails per second, 28 and 58 to 71 answers), newsletters that are stopped 10.1 and 1.1 to 2.0.
 * Without any rest and with them: export of subscribers 5.7 and 2.8, of a campaign 4.3 and 3.4, import of 20,000 3.1 and 2.3;
 * exports get half of what they got. Webhooks and hits, without and with their
 * rests: beside newsletters, receipts and imports at full speed whose mails are opened (`test/bench companies`) the slowest 1 % of other
 * companies' receipts took 1,019 and 220 ms, of their newsletters 1,517 and 535.
 */
import { here } from "./give-way/circumstances.ts";
import { RestingMails } from "./give-way/resting-pieces.ts";
import { RestingSteps } from "./give-way/resting-steps.ts";

/** Exports, imports, expansion, receivers that are saved, the index of searches. */
export const bulkSteps = new RestingSteps("bulk", here);
export const mailSteps = new RestingMails(here);
