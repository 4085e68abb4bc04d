/** What a page says of the write that led to it, by the name that the redirect carries: the address holds no free text. */
export const notices = {
  saved: "Saved.",
  deleted: "Deleted.",
  campaignSent: "It is on its way.",
  campaignScheduled: "It is scheduled. Until then you can change or cancel it.",
} as const;

export type NoticeName = keyof typeof notices;
