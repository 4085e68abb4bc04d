/** Settings of every kind of block. For browser code, too. */
import { fields as button } from "./button/fields.ts";
import { fields as card } from "./card/fields.ts";
import { fields as divider } from "./divider/fields.ts";
import { fields as footer } from "./footer/fields.ts";
import { fields as header } from "./header/fields.ts";
import { fields as heading } from "./heading/fields.ts";
import { fields as html } from "./html/fields.ts";
import { fields as image } from "./image/fields.ts";
import { fields as list } from "./list/fields.ts";
import { fields as quote } from "./quote/fields.ts";
import { fields as social } from "./social/fields.ts";
import { fields as spacer } from "./spacer/fields.ts";
import { fields as table } from "./table/fields.ts";
import { fields as text } from "./text/fields.ts";

export const BLOCKS = {
  heading,
  text,
  image,
  button,
  divider,
  spacer,
  list,
  quote,
  table,
  card,
  social,
  header,
  footer,
  html,
} as const;
export type Kind = keyof typeof BLOCKS;
export const isKind = (type: string): type is Kind => Object.hasOwn(BLOCKS, type);
