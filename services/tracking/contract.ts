import type { ServiceContract } from "../define.ts";
import { Bool, Described, Document, Email, Id, Line, Nullable, OneOf, Type, Uuid } from "../lib/shapes.ts";
import { contract as archive } from "./contract-archive.ts";
import { companyStats } from "./contract-company-stats.ts";
import { contract as events } from "./contract-events.ts";

const ByToken = Type.Object({
  token: Described(Type.String({ maxLength: 256 }), "Token from the link in the mail.", "kJ3…"),
});
const ByMail = Type.Object({ sent_email_id: Described(Uuid, "Sent email's id, as in the mail's link.") });

/**
 * JSON of the preferences page, and the body of its PUT. The page's own form sends texts: "on", and one or many list
 * ids.
 */
const Preferences = Type.Object({
  email: Described(Type.String(), "An email address.", "ann@example.com"),
  first_name: Described(Type.String(), "First name.", "Ann"),
  last_name: Described(Type.String(), "Last name.", "Lee"),
  subscribed: Described(Bool, "Whether the subscriber wants mail."),
  lists: Described(
    Type.Array(
      Type.Object({
        id: Id,
        name: Described(Type.String(), "Shown to subscribers.", "Our monthly letter"),
        subscribed: Described(Bool, "Whether the person is a member."),
      }),
    ),
    "Lists of the subscriber.",
  ),
});

const Done = Type.Object({
  detail: Described(Type.String(), "Message for people.", "Not found."),
  email: Described(Type.String(), "An email address.", "ann@example.com"),
});

const ListChoice = Type.Object({ id: Id, subscribed: Described(Bool, "Whether the person is a member.") });

export const contract = {
  ...events,
  ...companyStats,
  ...archive,

  open: {
    summary: "Open pixel",
    description:
      "404 for a forged token, 429 over 60 a minute from one address. Answers after the open is stored; over the limit it is stored, too, until the address has 60 a minute on this mail.",
    params: ByToken,
    returns: Document,
  },
  click: {
    summary: "Tracked link",
    description:
      "Redirects to the campaign's link with this number. A forged token is a 404 and never redirects. Not recorded beyond 60 a minute from one address on this mail.",
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
      "Shows a button and changes nothing, because mail scanners follow links. If the mail came through a public list, a second button leaves only that list.",
    params: ByMail,
    returns: Document,
  },
  unsubscribe: {
    summary: "Unsubscribe",
    description:
      "Accepts the one-click form (RFC 8058), the page's form, JSON or an empty body. Repeating it, or sending an unknown id (without `email`), succeeds, so mailbox providers never see a failure. With `only_this_list: true`, and no `List-Unsubscribe`, the person leaves only the list that the mail came through; without such a list JSON requests get a 400.",
    params: Type.Object({
      sent_email_id: Described(Uuid, "Sent email's id, as in the mail's link."),
      "List-Unsubscribe": Type.Optional(
        Described(Type.Unknown(), "Sent by mailbox providers (RFC 8058).", "One-Click"),
      ),
      from: Type.Optional(Described(Type.Unknown(), "Set by the page's own form.", "page")),
      only_this_list: Type.Optional(
        Type.Unknown({
          description: "`true`: leave only the list that the mail came through.",
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
      "The company's public form as a page in the reader's language, with its declared attributes as fields. Invalid submissions return this page with the errors and the entered values.",
    params: Type.Object({
      company_id: Described(Uuid, "The company's id."),
      list: Type.Optional(Described(Uuid, "List to join.")),
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
    summary: "Confirmation page (public)",
    description: "Shows one button and changes nothing.",
    params: ByToken,
    returns: Document,
  },
  confirm: { summary: "Confirm a subscription", params: ByToken, returns: Document, json: Done },

  changeAddressPage: {
    summary: "Address change page (public)",
    description: "Shows one button and changes nothing. 410 for a link that was used or is older than 7 days.",
    params: ByToken,
    returns: Document,
  },
  changeAddress: {
    summary: "Confirm a change of address",
    description:
      "Works once, from the link in the new mailbox. The subscriber keeps id, names, attributes, lists and an unsubscribed status; sent mails keep the address they went to.",
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
      "Omitted fields do not change. A new `email` takes effect when the link mailed to it is followed; until then the answer shows the current address. The answer is the same if the address belongs to another subscriber or is suppressed, and nothing is mailed then. `lists` are the company's public lists, joined or not; other lists do not change.",
    params: Type.Object({
      token: Described(Type.String({ maxLength: 256 }), "Token from the link in the mail.", "kJ3…"),
      first_name: Type.Optional(Described(Line(255), "First name.", "Ann")),
      last_name: Type.Optional(Described(Line(255), "Last name.", "Lee")),
      email: Type.Optional(Described(Email, "An email address.")),
      subscribed: Type.Optional(
        Described(
          Type.Union([Bool, Type.Literal("on"), Type.Literal("true"), Type.Literal("false")]),
          "Whether the subscriber wants mail.",
        ),
      ),
      lists: Type.Optional(
        Described(Nullable(Type.Array(ListChoice, { maxItems: 1000 })), "Public lists to join or leave."),
      ),
      // Sent by the page's form instead of `lists`.
      list: Type.Optional(
        Described(
          Type.Union([Uuid, Type.Array(Uuid, { maxItems: 1000 })]),
          "Public lists to join; other lists of the page are left.",
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
