/**
 * The people of a company's sample data. Known by their addresses, and outside all counts of real people and mail. Their
 * domain is one that never receives mail (RFC 2606) and is suppressed for the company.
 */
export const SAMPLE_DOMAIN = "sample.flockmail.test";

const FIRST_NAMES = ["Maria", "Kofi", "Yuki", "Elena", "Omar", "Ingrid", "Mateo", "Priya"];
const LAST_NAMES = ["Almeida", "Mensah", "Tanaka", "Petrova", "Haddad", "Larsen"];
/** Domains of mailbox providers in the report. */
const MAILBOXES = ["harbour", "meadow", "harbour", "postbox"];

export const SAMPLE_PEOPLE = FIRST_NAMES.flatMap((first, n) =>
  LAST_NAMES.map((last, m) => ({
    first,
    last,
    email: `${first}.${last}@${MAILBOXES[(n + m) % MAILBOXES.length]}.${SAMPLE_DOMAIN}`.toLowerCase(),
  })),
);

export const isSampleDomain = (domain: string): boolean => domain.endsWith(`.${SAMPLE_DOMAIN}`);

/** Counts the company's remaining sample people. One look-up by key per address. */
export const samplePeopleOf = (company: string): string => `(
  select count(*) from sample_data d
  join subscribers p on p.company_id = d.company_id and p.email_key = any ('{${SAMPLE_PEOPLE.map(({ email }) => email)}}')
  where d.company_id = ${company})`;
