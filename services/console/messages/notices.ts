/** What a page says of the write that led to it, by the name that the redirect carries: the address holds no free text. */
export const notices = {
  saved: "Saved.",
  deleted: "Deleted.",
  campaignResumed: "Resumed. What had failed is tried again now.",
  campaignCancelled: "Cancelled. It will not be sent.",
  campaignMade: "This is the new campaign. It is on its way.",
  draftMade: "This draft was made. Nothing is sent before you send it.",
} as const;

export type NoticeName = keyof typeof notices;
