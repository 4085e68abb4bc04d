/** `npm run client`: the client's types and its table of operations, from the OpenAPI document of this working copy. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { contractOf } from "../../services/contracts.ts";
import { describeApi } from "../../services/gateway/openapi/document.ts";
import { routes } from "../../services/gateway/routes.ts";
import { permissionOf } from "../../services/permissions.ts";
import { generate } from "./generate.ts";

const file = join(import.meta.dirname, "generated.ts");
const document = describeApi({ routes, contractOf, permissionOf, baseUrl: "https://mail.lantern.example" });
writeFileSync(file, generate(document));
execFileSync("npx", ["biome", "format", "--write", file], { stdio: "inherit" });
