import { defineService } from "../define.ts";
import { asset } from "./assets.ts";
import { contract } from "./contract.ts";
import { showPage, takeForm, takeUpload } from "./handle.ts";

/** The console: pages for people, made of the API's own actions. It owns no data. */
export default defineService("console", contract, {
  actions: {
    page: showPage,
    submit: takeForm,
    upload: takeUpload,
    asset: async (ctx) => asset(ctx.params.name),
  },
});
