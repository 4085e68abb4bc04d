// After `npm install`, in plain JavaScript that an old Node can read. npm 10 removes node_modules/.bin/node together with the
// Node of the other processor, which it leaves out: both packages have a program of that name. npm scripts need it.
import { existsSync, symlinkSync } from "node:fs";

const modules = new URL("../../../node_modules/", import.meta.url);
const program = `node-${process.platform}-${process.arch}/bin/node`;
const link = new URL(".bin/node", modules);
if (existsSync(new URL(program, modules)) && !existsSync(link)) symlinkSync(`../${program}`, link);
