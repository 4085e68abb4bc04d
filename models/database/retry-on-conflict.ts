/** Runs a transaction again when PostgreSQL gave it up for another one's sake (deadlock, serialization). */
const TRIES = 4;
const CONFLICTS = ["40P01", "40001"];

const isConflict = (error: unknown): boolean => CONFLICTS.includes((error as { code?: string }).code ?? "");

export async function retryOnConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await work();
    } catch (error) {
      if (tried === TRIES || !isConflict(error)) throw error;
    }
  }
}
