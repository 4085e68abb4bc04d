import type { ServiceContract } from "../define.ts";
import { Bool, Described, Document, Email, Id, Line, Nullable, OneOf, Type, Uuid } from "../lib/shapes.ts";
import { contract as archive } from "./contract-archive.ts";
import { companyStats } from "./contract-company-stats.ts";
import { contract as events } from "./contract-events.ts";

const ByToken = Type.Object({
  token: Described(Type.String({ maxLength: 256 }), "Token from the link in the mail.", "kJ3…"),
});
const ByMail = Type.Object({ sent_email_id: Described(Uuid, "The sent email's id, as the link in the mail has it.") });

/** JSON of the preferences page, and what its PUT takes. The page's own form sends texts: "on", one or many list ids. */
const Preferences = Type.Object({
  email: Described(Type.String(), "An email address.", "ann@example.com"),
  first_name: Described(Type.String(), "First name.", "Ann"),
  last_name: Described(Type.String(), "Last name.", "Lee"),
  subscribed: Described(Bool, "Whether mail is wanted."),
  lists: Described(
    Type.Array(
      Type.Object({
        id: Id,
        name: Described(Type.String(), "What subscribers see of it.", "Our monthly letter"),
        subscribed: Described(Bool, "Whether the person is on it."),
      }),
    ),
    "Lists that the subscriber is on.",
  ),
});

const Done = Type.Object({
  detail: Described(Type.String(), "A sentence for people.", "Not found."),
  email: Described(Type.String(), "An email address.", "ann@example.com"),
});

const ListChoice = Type.Object({ id: Id, subscribed: Described(Bool, "Whether the person is on it.") });

export const contract = {
  ...events,
  ...companyStats,
  ...archive,

  open: {
    summary: "Open pixel",
    description: "A forged token is 404; over the limit 429. Counted once it is stored.",
    params: ByToken,
    returns: Document,
  },
  click: {
    summary: "Tracked link",
    description: "Redirects to the campaign's link of that number. A forged token is 404 and never redirects.",
    params: Type.Object({
      token: Described(Type.String({ maxLength: 4096 }), "Token from the link in the mail.", "kJ3…"),
    }),
    returns: Document,
  },

  trackingHost: {
    summary: "Whose tracking domain a host is",
    visibility: "public",
    description: "`company_id` once it is proved; `token` proves it. For a host that nobody asked for both are null.",
    params: Type.Object({ host: Type.String({ maxLength: 253 }) }),
    returns: Type.Object({ company_id: Nullable(Uuid), token: Nullable(Type.String()) }),
  },

  previewPage: {
    summary: "A public page with a branding that is not saved yet, to look at in a frame",
    visibility: "public",
    params: Type.Object({
      page: OneOf("preferences", "unsubscribe", "confirm"),
      branding: Type.Partial(
        Type.Object({
          name: Type.String(),
          logo_url: Type.String(),
          color: Type.String(),
          background: Type.String(),
          footer_text: Type.String(),
          language: Type.String(),
        }),
      ),
    }),
    returns: Document,
  },

  unsubscribePage: {
    summary: "Unsubscribe page",
    description:
      "Shows a button and changes nothing: mail scanners follow links. Where the mail came through a public list, a second button leaves that list only.",
    params: ByMail,
    returns: Document,
  },
  unsubscribe: {
    summary: "Unsubscribe",
    description:
      "One-click (RFC 8058) as a form, the page's form, JSON or an empty body. Doing it twice is fine, and so is an id that stands for no mail (without `email` then): mailbox providers never see it fail. With `only_this_list: true`, and no `List-Unsubscribe`, the person leaves the list that the mail came through and stays subscribed to all else; where it came through none, a program gets a 400.",
    params: Type.Object({
      sent_email_id: Described(Uuid, "The sent email's id, as the link in the mail has it."),
      "List-Unsubscribe": Type.Optional(
        Described(Type.Unknown(), "As mailbox providers send it (RFC 8058).", "One-Click"),
      ),
      from: Type.Optional(Described(Type.Unknown(), "Set by the page's own form.", "page")),
      only_this_list: Type.Optional(
        Type.Unknown({
          description: "`true`: leave the list that the mail came through, and no other.",
          examples: [true],
        }),
      ),
    }),
    returns: Document,
    json: Type.Partial(Done, { required: ["detail"] }),
    example: { "List-Unsubscribe": "One-Click" },
  },
  view: { summary: "View an email in the browser", params: ByMail, returns: Document },

  subscribePage: {
    summary: "Sign-up page (public)",
    description:
      "The company's public form as a page in the reader's language, with its declared attributes as fields. A form with a fault comes back as this page, with the errors and what was typed.",
    params: Type.Object({
      company_id: Described(Uuid, "The company's id."),
      list: Type.Optional(Described(Uuid, "The list that is joined.")),
    }),
    returns: Document,
  },
  subscribeAgain: {
    summary: "The sign-up page after a form with a fault",
    visibility: "public",
    params: Type.Object({
      company_id: Uuid,
      list_id: Type.Optional(Type.String()),
      typed: Type.Record(Type.String(), Type.Unknown()),
      errors: Type.Record(Type.String(), Type.Array(Type.String())),
      busy: Type.Optional(Bool),
      status: Type.Integer(),
    }),
    returns: Document,
  },
  subscribedPage: {
    summary: "What a person sees who has sent a public form",
    visibility: "public",
    params: Type.Object({ company_id: Uuid, email: Type.String({ maxLength: 254 }), asks_to_confirm: Bool }),
    returns: Document,
  },
  confirmPage: {
    summary: "Confirmation page of a double opt-in",
    description: "Shows one button and changes nothing.",
    params: ByToken,
    returns: Document,
  },
  confirm: { summary: "Confirm a subscription", params: ByToken, returns: Document, json: Done },

  changeAddressPage: {
    summary: "Confirmation page of a change of address",
    description: "Shows one button and changes nothing. A link that was used, or is older than 7 days, is 410.",
    params: ByToken,
    returns: Document,
  },
  changeAddress: {
    summary: "Confirm a change of address",
    description:
      "From the new mailbox, once. The subscriber keeps id, names, attributes and lists; mails that were sent keep the address that they went to. Who had unsubscribed stays so.",
    params: ByToken,
    returns: Document,
    json: Done,
  },

  preferencesPage: {
    summary: "Preferences, as a page or JSON",
    params: ByToken,
    returns: Document,
    json: Preferences,
  },
  updatePreferences: {
    summary: "Update preferences",
    description:
      "Fields that are not given stay. Another `email` is not taken at once: a link goes to the new address, and the answer has the one that holds until the link is used. It is the same where the address is another subscriber's, or blocked, and nothing is mailed then. `lists` are the company's public lists, joined or not; others stay as they are.",
    params: Type.Object({
      token: Described(Type.String({ maxLength: 256 }), "Token from the link in the mail.", "kJ3…"),
      first_name: Type.Optional(Described(Line(255), "First name.", "Ann")),
      last_name: Type.Optional(Described(Line(255), "Last name.", "Lee")),
      email: Type.Optional(Described(Email, "An email address.")),
      subscribed: Type.Optional(
        Described(
          Type.Union([Bool, Type.Literal("on"), Type.Literal("true"), Type.Literal("false")]),
          "Whether mail is wanted.",
        ),
      ),
      lists: Type.Optional(
        Described(Nullable(Type.Array(ListChoice, { maxItems: 1000 })), "Public lists that are joined or left."),
      ),
      // What the page's form sends in place of `lists`.
      list: Type.Optional(
        Described(
          Type.Union([Uuid, Type.Array(Uuid, { maxItems: 1000 })]),
          "Public lists that are joined; those of the page that are not named are left.",
          ["0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"],
        ),
      ),
      from: Type.Optional(Described(Type.Unknown(), "Set by the page's own form.", "page")),
    }),
    returns: Document,
    json: Preferences,
    example: { first_name: "Ann", subscribed: true, lists: [] },
  },
} as const satisfies ServiceContract;
