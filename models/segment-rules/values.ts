/** Validates values of conditions: each function returns an error sentence for an invalid value, else undefined. */
import { isUuid } from "../../services/lib/ids.ts";
import { SUBSCRIBER_STATUSES, type SubscriberStatus } from "../subscriber.ts";

export const MAX_VALUES = 1_000;
export const MAX_TEXT = 1_000;
export const MAX_DAYS = 36_500;

type Check = (value: unknown) => string | undefined;

export const textError: Check = (value) => {
  if (typeof value !== "string") return "The value must be a text.";
  if (value === "") return "The value may not be blank.";
  return value.length > MAX_TEXT ? `The value may have no more than ${MAX_TEXT} characters.` : undefined;
};

export const numberError: Check = (value) =>
  typeof value === "number" && Number.isFinite(value) ? undefined : "The value must be a number.";

export const scalarError: Check = (value) => {
  if (typeof value === "boolean") return undefined;
  if (typeof value === "number") return numberError(value);
  return typeof value === "string" ? textError(value) : "The value must be a text, a number or a boolean.";
};

export const flagError: Check = (value) =>
  typeof value === "boolean" ? undefined : "The value must be true or false.";

export const uuidError: Check = (value) => (isUuid(value) ? undefined : "The value must be a valid UUID.");

export const statusError: Check = (value) =>
  SUBSCRIBER_STATUSES.includes(value as SubscriberStatus)
    ? undefined
    : `The value must be one of ${SUBSCRIBER_STATUSES.join(", ")}.`;

/** Also refuses the year 0000 and days that a month does not have. */
export const DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** A date without a time: a whole day. */
export const isDay = (value: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(value);

const exists = (value: string): boolean => {
  const day = new Date(`${value.slice(0, 10)}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(value.slice(0, 10));
};

/** A date without a time is midnight, a time without a zone is UTC. */
export function timeFrom(value: string): Date {
  const iso = value.replace(" ", "T");
  return new Date(/T(?!.*(?:Z|[+-]\d{2}:?\d{2})$)/.test(iso) ? `${iso}Z` : iso);
}

// Compared in UTC: an offset may lead outside the years that PostgreSQL and ISO 8601 write with four digits.
const FIRST_MS = Date.parse("0001-01-01T00:00:00Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

export const dateError: Check = (value) => {
  if (typeof value !== "string" || !DATE.test(value) || !exists(value) || Number.isNaN(timeFrom(value).getTime())) {
    return "The value must be a date (YYYY-MM-DD) or a date-time.";
  }
  const ms = timeFrom(value).getTime();
  return ms >= FIRST_MS && ms <= LAST_MS ? undefined : "The value must lie within the years 1 to 9999 (UTC).";
};

export const daysError: Check = (value) =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_DAYS
    ? undefined
    : `The value must be a whole number of days from 1 to ${MAX_DAYS}.`;

export const manyOf =
  (one: Check): Check =>
  (value) => {
    if (!Array.isArray(value)) return "The value must be an array.";
    if (value.length === 0) return "The value may not be an empty array.";
    if (value.length > MAX_VALUES) return `The value may have no more than ${MAX_VALUES} elements.`;
    for (const element of value) {
      const error = one(element);
      if (error) return error;
    }
    return undefined;
  };
