/** Texts for the gallery of starter templates. The starters' own texts: services/lib/design/starters/. */
export const starters = {
  title: "Start a template",
  lead: "Choose a design to begin with. All of it can be changed.",
  branding: "Set your logo and colors",
  empty: "Start empty",
  markdown: "Write Markdown",
  html: "Write HTML",
  copy: "Copy version A",
  kinds: {
    newsletter: "Newsletters",
    marketing: "Campaigns",
    lifecycle: "Welcome and stay in touch",
    transactional: "Emails that your programs send",
  },
};
