/** What a page says of the write that led to it, by the name that the redirect carries: the address holds no free text. */
export const notices = {
  saved: "Saved.",
  deleted: "Deleted.",
  discarded: "The file is gone. Nothing of it was imported.",
} as const;

export type NoticeName = keyof typeof notices;
