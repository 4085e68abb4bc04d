export interface CopyAddress {
  /** Counts the addresses of cc and bcc together, from 1. */
  no: number;
  email: string;
  kind: "cc" | "bcc";
}

/** Copies of an email. An address in both fields gets one. */
export function copyAddresses({ cc, bcc }: { cc: string[] | null; bcc: string[] | null }): CopyAddress[] {
  const kinds = new Map<string, "cc" | "bcc">();
  for (const email of cc ?? []) kinds.set(email, "cc");
  for (const email of bcc ?? []) if (!kinds.has(email)) kinds.set(email, "bcc");
  return [...kinds].map(([email, kind], n) => ({ no: n + 1, email, kind }));
}
