/** The versions that the saves of a template leave. */

import type { ServiceContract } from "../define.ts";
import { DesignTree } from "../lib/design/shape.ts";
import { ById, Described, Id, Nullable, Time, Type } from "../lib/shapes.ts";
import { ContentView } from "../lib/template/content-shapes.ts";
import { MAX_VERSIONS } from "./version-rows.ts";

const VERSION = {
  version: Type.Integer({ minimum: 1, description: "Numbered from 1 for each template, without gaps.", examples: [3] }),
  subject: Described(
    Type.String({ examples: ["News for [[first_name]]"] }),
    "Subject of the mail. Templates may contain variables.",
  ),
  created_at: { ...Time, description: "Time of saving." },
  created_by: Nullable(
    Type.Object(
      {
        id: Id,
        name: Type.String({
          description: "Address of the person, or name of the API key.",
          examples: ["ann@example.com"],
        }),
      },
      { description: "Author; null if unknown or deleted." },
    ),
  ),
};
export const Version = Type.Object(VERSION);
export const FullVersion = Type.Object({
  ...VERSION,
  body: Described(Type.String({ examples: ["<p>Hello [[first_name]],</p>"] }), "The mail in HTML, with variables."),
  ...ContentView,
  design: Described(Nullable(DesignTree), "The template's design then; null: it had none."),
  markdown: Described(
    Nullable(Type.String({ examples: ["# Hello [[first_name]]"] })),
    "The template's Markdown then; null: it had none.",
  ),
});

const OfTemplate = Type.Object({
  ...ById.properties,
  version: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: "Number of the version.", examples: [3] }),
});

export const versions = {
  listVersions: {
    summary: "List the versions of a template",
    description: `Extension. Newest first, without paging. Each save and each restore creates a version; the newest ${MAX_VERSIONS} are kept.`,
    params: ById,
    returns: Type.Array(Version),
  },
  getVersion: { summary: "Get a version of a template", params: OfTemplate, returns: FullVersion },
} as const satisfies ServiceContract;

/** Parameters of restoring a version; the response is the template. */
export const RESTORE = {
  summary: "Restore a version of a template",
  description:
    "Extension. Restores everything that was saved, including the name, as a new version. Fields that the service has gained since get their defaults.",
  params: OfTemplate,
} as const;
