/**
 * Stores all row errors of an import as CSV for 24 hours. They are written while the file is read, so that memory stays
 * constant, and on separate connections, so that they survive an import that writes nothing (dry_run).
 */
import {
  addErrors,
  addImport,
  dropImport,
  errorsAfter,
  isImportKept,
  type OwnImport,
} from "../../../models/statements/imports.ts";
import { config } from "../../lib/config.ts";
import { csvRow } from "../../lib/csv.ts";
import { notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import type { DownloadPage } from "../../lib/shapes.ts";

const PART_CHARS = 256 * 1024;
/** Limit per company of the errors kept. */
const MAX_CHARS = 128 * 1024 * 1024;

/** Import that has these errors; a foreground import gets a row only if there are errors. */
interface Owner {
  companyId: string;
  /** Size of the file. */
  bytes?: number;
  own?: OwnImport | undefined;
}

export class ErrorFile {
  readonly #own: OwnImport;
  readonly #bytes: number;
  readonly #isForeground: boolean;
  #lines = "";
  #written = 0;
  #hasRow: boolean;

  constructor({ companyId, bytes = 0, own }: Owner) {
    this.#own = own ?? { companyId, id: newId(), attempts: 0 };
    this.#bytes = bytes;
    this.#isForeground = own === undefined;
    this.#hasRow = !this.#isForeground;
  }

  /** Id of the import. */
  get id(): string {
    return this.#own.id;
  }

  add(row: number, email: string, error: string): void {
    if (this.#written > MAX_CHARS) return;
    const line = csvRow([row, email, error]);
    this.#written += line.length;
    this.#lines += this.#written > MAX_CHARS ? csvRow([row, "", "There are too many errors to list the rest."]) : line;
  }

  /** Called between two batches of rows. */
  async flushIfLarge(): Promise<void> {
    if (this.#lines.length >= PART_CHARS) await this.#write();
  }

  async #write(): Promise<void> {
    const { companyId, id } = this.#own;
    if (!this.#hasRow) await addImport(companyId, id, this.#bytes);
    this.#hasRow = true;
    const lines = this.#lines;
    this.#lines = "";
    await addErrors(this.#own, lines);
  }

  /** URL of the file; null if there are no errors. */
  get url(): string | null {
    return this.#written > 0 ? `${config().BASE_URL}/api/emails/imports/${this.#own.id}/errors/` : null;
  }

  /** Call once all rows have been read. */
  async end(): Promise<void> {
    if (this.#lines) await this.#write();
  }

  /** Call if the import failed. Background imports keep their errors, because another node may be continuing. */
  async drop(): Promise<void> {
    if (this.#hasRow && this.#isForeground) await dropImport(this.#own.companyId, this.#own.id);
  }
}

const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

export async function importErrorsCsv(companyId: string, importId: string, after?: string): Promise<DownloadPage> {
  if (after === undefined && !(await isImportKept(companyId, importId))) throw notFound();
  const part = await errorsAfter(companyId, importId, after ?? BEFORE_ALL);
  const header = after === undefined ? csvRow(["row", "email", "error"]) : "";
  return { body: header + (part?.lines ?? ""), next: part?.id ?? null };
}
