/** MJML and text of every kind of block. */
import type { BlockMail } from "../block.ts";
import type { Fields } from "../fields.ts";
import { mail as button } from "./button/mail.ts";
import { mail as card } from "./card/mail.ts";
import { mail as divider } from "./divider/mail.ts";
import type { Kind } from "./fields.ts";
import { mail as footer } from "./footer/mail.ts";
import { mail as header } from "./header/mail.ts";
import { mail as heading } from "./heading/mail.ts";
import { mail as html } from "./html/mail.ts";
import { mail as image } from "./image/mail.ts";
import { mail as list } from "./list/mail.ts";
import { mail as quote } from "./quote/mail.ts";
import { mail as social } from "./social/mail.ts";
import { mail as spacer } from "./spacer/mail.ts";
import { mail as table } from "./table/mail.ts";
import { mail as text } from "./text/mail.ts";

/** Renderers of blocks. A block's values were filled with the defaults of its kind before. */
export const MAILS = {
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
} as unknown as Record<Kind, BlockMail<Fields>>;
