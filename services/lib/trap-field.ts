/**
 * Defines the hidden field (honeypot) of our sign-up forms: a program that fills in every field reveals itself.
 * Password managers would fill a field called `website`; this name means nothing to them, and their own attributes tell
 * them to ignore it.
 */
export const TRAP_FIELD = "contact_url_2";

export const TRAP_ATTRIBUTES =
  'name="contact_url_2" tabindex="-1" autocomplete="off" data-1p-ignore data-lpignore="true" data-bwignore="true"';
