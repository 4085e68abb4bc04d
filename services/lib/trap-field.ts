/**
 * The hidden field of the sign-up forms that we make: a program that fills in every field gives itself away. Password managers
 * know `website` and fill it in; this name means nothing to them, and their own marks tell them to leave it alone.
 */
export const TRAP_FIELD = "contact_url_2";

export const TRAP_ATTRIBUTES =
  'name="contact_url_2" tabindex="-1" autocomplete="off" data-1p-ignore data-lpignore="true" data-bwignore="true"';
