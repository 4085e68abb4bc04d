/**
 * Packages that an idle process does without, each loaded where it is first used: together 9 MB of one that has no NATS and no
 * Redis, sends nothing and has nobody at its console. By `require`, so that no caller need wait for a promise; a second use
 * costs a microsecond, so none of them stands where something happens for each mail.
 */
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

export const htmlparser2 = () => require("htmlparser2") as typeof import("htmlparser2");
export const htmlToText = () => require("html-to-text") as typeof import("html-to-text");
export const ioredis = () => require("ioredis") as typeof import("ioredis");
export const jsonwebtoken = () => require("jsonwebtoken") as typeof import("jsonwebtoken");
export const nats = () => require("nats") as typeof import("nats");
export const otplib = () => require("otplib/functional") as typeof import("otplib/functional");
export const smtpConnection = () =>
  require("nodemailer/lib/smtp-connection") as typeof import("nodemailer/lib/smtp-connection")["default"];
