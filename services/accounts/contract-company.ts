import type { ServiceContract } from "../define.ts";
import { Bool, ById, Email, Nullable, Patch, Text, Type, Uuid } from "../lib/shapes.ts";
import { Company, CompanyName } from "./contract-shapes.ts";

const Settings = Patch(
  Type.Object({
    name: CompanyName,
    reply_to_email: Nullable(Email),
    website: Nullable(Type.String({ format: "uri", maxLength: 2048 })),
    footer_text: Text(2_000),
    double_opt_in: Bool,
    default_smtp_config_id: Nullable(Uuid),
    tracking_enabled: Bool,
  }),
);

export const contract = {
  getCompany: { summary: "Company settings", params: ById, returns: Company },
  updateCompany: {
    summary: "Change company settings",
    description: "Owners and admins only. `double_opt_in` needs an SMTP configuration to send the confirmations with.",
    params: Type.Object({ ...ById.properties, ...Settings.properties }),
    returns: Company,
    example: { reply_to_email: "hello@example.com", double_opt_in: true },
  },
} as const satisfies ServiceContract;
