/** Data that the page gives the editor. */
import type { Brand } from "../../lib/design/brand.ts";
import type { Block, Design } from "../../lib/design/design.ts";

export interface Mail {
  name: string;
  subject: string;
  preheader: string;
  template_type: "marketing" | "transactional";
}

/** Blocks that designs share: sections, or blocks for a column. */
export interface SavedBlock {
  id: string;
  name: string;
  blocks: Block[];
}

export interface Boot {
  /** True for the content of a campaign's draft, which is saved after each change. */
  isCampaign: boolean;
  /** Null for a new template. */
  id: string | null;
  /** Identifies the content, sent back with each save; null for a new template. */
  seen: string | null;
  mail: Mail;
  design: Design | null;
  brand: Brand;
  /** Variables with a value of some reader. */
  fields: { name: string; sample: string }[];
  readers: string[];
  images: { id: string; url: string; path: string; filename: string; alt: string; isCopy: boolean }[];
  /** Saved blocks when the page is opened; the store has the current ones. */
  savedBlocks: SavedBlock[];
  maySaveBlocks: boolean;
  /** May begin a campaign. */
  mayCompose: boolean;
  /** Address of the person, for test mails; null if the person may send none. */
  testTo: string | null;
  types: { value: Mail["template_type"]; label: string }[];
  icons: string;
  formToken: string;
  paths: {
    /** Path before the id. */
    root: string;
    close: string;
    /** Path that saves a new template. */
    make: string;
    preview: string;
    check: string;
    test: string;
    savedBlocks: string;
    upload: string;
    /** Below it are the library and what is done with single images. */
    media: string;
    /** The same template as HTML. */
    html: string;
  };
}

export function bootOf({ dataset }: HTMLElement): Boot {
  const { boot, icons, formToken } = dataset;
  return { ...(JSON.parse(boot!) as Boot), icons: icons!, formToken: formToken! };
}
