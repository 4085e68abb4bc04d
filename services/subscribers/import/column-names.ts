/** Known column names of our own export and of other products. */
import { stateOf } from "./status-words.ts";

const FIELDS = ["email", "first_name", "last_name", "name", "status", "attributes"] as const;
export type Field = (typeof FIELDS)[number];
export const isField = (name: string): name is Field => (FIELDS as readonly string[]).includes(name);

// Column names as `squashed` returns them. If a file has several, the first one counts and the others become
// attributes.
export const ALIASES: Record<"email" | "first_name" | "last_name" | "name", string[]> = {
  email: `email emailaddress mail mailaddress emailadresse mailadresse email1value primaryemail adresseemail adressemail
    courriel correo correoelectronico indirizzoemail emailadres`.split(/\s+/),
  first_name: "firstname fname forename givenname vorname prenom nombre nome voornaam".split(" "),
  last_name:
    "lastname lname surname familyname nachname familienname nom nomdefamille apellido apellidos cognome".split(" "),
  name: "name fullname contactname subscribername".split(" "),
};
export const STATUS = new Set(
  `status subscriptionstatus subscriberstatus contactstatus emailstatus emailmarketing emailmarketingstatus
  emailsubscriptionstatus marketingstatus`.split(/\s+/),
);
export const FLAGS = new Map(
  (
    [
      [
        "unsubscribed",
        "unsubscribed unsubscribedat unsubtime unsubscribetime unsubscribedate optedout optout optouttime " +
          "unsubscribedfromallemail emailoptout optedoutofemail hasoptedoutofemail",
      ],
      ["unsubscribed", "blacklisted blocklisted emailblacklisted emailblocklisted emailblacklist emailblocklist"],
      ["bounced", "bounced hardbounced hardbounce bouncedat cleaned cleantime cleanedat"],
      ["complained", "complained complainedat markedasspam spamcomplaint"],
    ] as const
  ).flatMap(([status, names]) => names.split(" ").map((name) => [name, stateOf(status)] as const)),
);
/** listmonk and Keila. */
export const OBJECTS = new Set(["attributes", "attribs", "data"]);

/** Columns of our export besides attributes, in order; an attribute may have any name that only other products use. */
export const OWN = ["email", "first_name", "last_name", "status", "created_at"];
export const READ_ONLY = new Set(["created_at", "lists"]);
