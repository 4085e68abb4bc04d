/** What the gateway answers by itself: the description of the API, for machines and for people. */
import type { AppOptions } from "./app.ts";
import { referencePage } from "./docs.ts";
import type { Exchange } from "./exchange.ts";
import { describeApi } from "./openapi/document.ts";

type Documents = [path: string, handler: (exchange: Exchange) => Promise<void> | void][];

export function documents(options: AppOptions): Documents {
  let description: string | undefined;
  const openApi = (exchange: Exchange) => {
    exchange.state.route = "/openapi.json";
    // Written at first use: most processes are never asked.
    description ??= JSON.stringify(describeApi(options), null, 2);
    exchange.set("Content-Type", "application/json; charset=utf-8");
    // Tools of other origins read it; it says nothing that is secret.
    exchange.set("Access-Control-Allow-Origin", "*");
    exchange.body = description;
  };
  return [["/openapi.json", openApi], ...referencePage()];
}
