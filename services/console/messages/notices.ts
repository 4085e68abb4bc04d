/** What a page says of the write that led to it, by the name that the redirect carries: the address holds no free text. */
export const notices = {
  saved: "Saved.",
  deleted: "Deleted.",
  queued: "It is on its way.",
} as const;

export type NoticeName = keyof typeof notices;
