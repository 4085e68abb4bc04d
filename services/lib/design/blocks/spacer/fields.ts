import { type Fields, pixels } from "../../fields.ts";

export const fields = { height: pixels(24, 200, 4) } as const satisfies Fields;
