/**
 * Who is blocked, as SQL for sets: audience expansion and the check right before a mail leaves use the same text.
 *
 * Two anti-joins. By address: a hash join over email_key. By domain and the domains above it: looked at only when the
 * company has any domain suppression at all, which is asked once per statement.
 */
interface Addresses {
  /** SQL of the address in lower case, e.g. "s.email_key" or "lower(a.email)". */
  key: string;
  /** SQL of the company's id, e.g. "$1". It must not depend on the row. */
  company: string;
  /** SQL boolean: transactional mail passes 'unsubscribed'. A literal "true" or "false" plans best. */
  transactional: string;
}

/** A condition that holds for addresses that may be written to. */
export function notSuppressed({ key, company, transactional }: Addresses): string {
  const counts = `(not ${transactional} or x.kind <> 'unsubscribed')`;
  return `(not exists (select 1 from suppressions x where x.company_id = ${company} and x.email_key = ${key} and ${counts})
    and (not exists (select 1 from suppressions d where d.company_id = ${company} and d.domain is not null)
      or not exists (select 1 from suppressions x where x.company_id = ${company}
        and (x.domain = any (domains_of(${key})) or x.domain_unicode = any (domains_of(${key}))))))`;
}
