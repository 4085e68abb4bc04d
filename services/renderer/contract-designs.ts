/** Designs of a company's templates, all at once. */
import type { ServiceContract } from "../define.ts";
import { Described, Id, Type } from "../lib/shapes.ts";

export const Updated = Type.Object({
  updated: Type.Integer({ description: "Templates whose mail changed; each has a new version.", examples: [12] }),
  unchanged: Type.Integer({ description: "Templates whose mail is the same.", examples: [3] }),
  failed: Type.Array(
    Type.Object({
      id: Id,
      name: Described(Type.String(), "Name.", "June newsletter"),
      errors: Described(Type.Array(Type.String()), "Reasons.", ["blocks[0].id: There is no such saved block."]),
    }),
    { description: "Templates whose mail could not be made; they keep the one they have." },
  ),
});

export const contract = {
  updateDesigns: {
    summary: "Update the designs of templates",
    description:
      "Extension. Makes the mails of all templates with a design again, with the company's present branding and saved blocks. Campaigns that exist keep theirs.",
    params: Type.Object({}),
    returns: Updated,
  },
} as const satisfies ServiceContract;
