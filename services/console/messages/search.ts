/** Results of the search field in the sidebar. */
export const search = {
  title: "Search",
  field: "Search everything",
  all: "Show all",
  lead: "Subscribers, campaigns, templates and pages.",
  pages: "Pages",
  results: (word: string) => `Results for “${word}”`,
  nothing: (word: string) => `Nothing found for “${word}”`,
  nothingHint: "Try part of an email address, or a word from a campaign’s name.",
} as const;
