/** Basic schemas of the contracts. Messages for violations: services/lib/field-errors.ts. */
import { type Static, type TObject, type TSchema, Type } from "@sinclair/typebox";

/** A schema with a description for the API document, and an example if the type shows none. */
export const Described = <T extends TSchema>(schema: T, description: string, example?: unknown): T => ({
  ...schema,
  description,
  ...(example === undefined ? {} : { examples: [example] }),
});

export const Uuid = Type.String({ format: "uuid" });
export const Id = Described(Uuid, "Id.");
export const Email = Type.String({ format: "email", maxLength: 254 });
export const Time = Type.String({ format: "date-time" });
/** Bound of a filter: a date without a time means the whole day in the company's time zone. */
export const DayOrTime = (description: string) =>
  Type.String({
    format: "day-or-time",
    description: `${description} A date-time, or a date: the whole day in the company's time zone.`,
    examples: ["2026-11-22"],
  });
export const CreatedAt = Described(Time, "Time of creation.");
export const UpdatedAt = Described(Time, "Time of the last change.");
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** Text that is neither empty nor only white space. */
export const Name = Type.String({ minLength: 1, maxLength: 255, pattern: "\\S", format: "line" });
export const Text = (maxLength: number) => Type.String({ maxLength });
/** A single line: text in a mail header must not contain line breaks or control characters. */
export const Line = (maxLength: number) => Type.String({ maxLength, format: "line" });
export const OneOf = <T extends string[]>(...values: [...T]) =>
  Type.Unsafe<T[number]>({ type: "string", enum: values });
export const Bool = Type.Boolean();

/** Body of a 204. */
export const Nothing = Type.Null();
/** Page of a download (download.ts). `next`: cursor of the next page; null: it is the last. */
export const DownloadPage = Type.Object({ body: Type.Unsafe<string | Buffer>({}), next: Nullable(Type.String()) });
export type DownloadPage = Static<typeof DownloadPage>;

/** Response of an "html" or "bytes" route, sent as it is. */
export const Document = Type.Object({
  status: Type.Optional(Type.Integer()),
  content_type: Type.String(),
  body: Type.Unsafe<string | Buffer>({}),
  /** Action whose pages form the body (download.ts), for bodies too large for one message. */
  body_from: Type.Optional(Type.Object({ action: Type.String(), params: Type.Unknown() })),
  headers: Type.Optional(Type.Record(Type.String(), Type.String())),
});
export type Document = Static<typeof Document>;

export const ById = Type.Object({ id: Id });

/** Maximum values of one filter. */
const MAX_FILTER_VALUES = 20;

/**
 * An equality filter of a list or export. If repeated it matches any of the values, and the action gets an array; every
 * other parameter may be given once.
 */
export const Filter = <T extends TSchema>(
  schema: T,
  description: string,
  example?: unknown,
  maxItems = MAX_FILTER_VALUES,
) => {
  const several = { type: "array", items: schema, maxItems };
  const examples = example === undefined ? {} : { examples: [example] };
  return Type.Optional(
    Type.Unsafe<Static<T> | Static<T>[]>({
      if: { type: "array" },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: several,
      else: schema,
      description,
      ...examples,
      shownAs: { anyOf: [schema, several], description: `${description} Repeat it for several values.`, ...examples },
    }),
  );
};

/** Makes an empty value count for this filter; other parameters ignore empty values. */
export const TakesEmpty = <T extends TSchema>(filter: T): T => ({ ...filter, takesEmpty: true });

/** True if a parameter of this schema may be repeated. */
export const isFilter = (schema: TSchema): boolean => "then" in schema;

/** Query of every list; extend with a resource's own filters. */
export const ListQuery = Type.Object({
  page: Type.Optional(Described(Type.Integer({ minimum: 1 }), "Page number, from 1.", 2)),
  page_size: Type.Optional(Described(Type.Integer({ minimum: 1, maximum: 100 }), "Entries per page; default 20.", 100)),
  cursor: Type.Optional(
    Type.String({
      maxLength: 8_192,
      description: "Position in the list, as returned in `next` and `previous`; `page` only numbers the page then.",
      examples: ["Zk3xq0c2"],
    }),
  ),
  search: Type.Optional(
    Type.String({ maxLength: 255, description: "Text to search for, case-insensitive.", examples: ["lantern"] }),
  ),
  ordering: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        "Field to sort by; prefix `-` for descending. Default: newest first. The 400 for any other value names the fields.",
      examples: ["-created_at"],
    }),
  ),
});
export type ListQuery = Static<typeof ListQuery>;

/**
 * Result of a list action. The gateway turns it into the paginated envelope (count, next, previous, results) and makes
 * addresses of the cursors, because only it knows the URL.
 */
export const Page = <T extends TSchema>(item: T) =>
  Type.Object({
    count: Type.Integer(),
    count_estimated: Type.Optional(Type.Literal(true)),
    next: Nullable(Type.String()),
    previous: Nullable(Type.String()),
    results: Type.Array(item),
  });

/** The object with every field optional: a PATCH body. */
export const Patch = <T extends TObject>(schema: T) => Type.Partial(schema);

export { type Static, type TSchema, Type };
