import { readFileSync } from "node:fs";
import { join } from "node:path";
import { iconsUsed } from "../../support/icons-used.ts";

test("the sprite has each icon that a page of the console uses, and no other", () => {
  const sprite = readFileSync(join(import.meta.dirname, "../../../services/console/assets/icons.svg"), "utf8");
  expect([...sprite.matchAll(/<symbol id="([^"]+)"/g)].map(([, name]) => name)).toEqual(iconsUsed());
});
