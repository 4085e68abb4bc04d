import { contractOf } from "../contracts.ts";
import { routes } from "./routes.ts";

/** The routes whose contract is written. */
export const described = routes.filter(({ action }) => {
  try {
    return contractOf(action);
  } catch {
    return false;
  }
});
