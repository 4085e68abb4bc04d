/** Exports of each folder in blocks/ besides its settings. */
import type { Brand } from "./brand.ts";
import type { Fields, ValuesOf } from "./fields.ts";

export interface BlockMail<F extends Fields> {
  /** MJML for a column; texts are escaped here. */
  mjml(values: ValuesOf<F>, brand: Brand): string;
  /** Text part, without surrounding blank lines; empty for nothing. */
  text(values: ValuesOf<F>, brand: Brand): string;
}

/** Checks that the functions fit the settings. */
export const blockMail = <F extends Fields>(_fields: F, mail: BlockMail<F>): BlockMail<F> => mail;
