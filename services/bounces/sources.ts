/** Inbound sources: the addresses that providers send webhooks to. Secrets are write-only. */
import { createHash, randomBytes } from "node:crypto";
import { listModels, type Page } from "../../models/database/listing.ts";
import { InboundSource, type ProviderName } from "../../models/inbound-source.ts";
import { SmtpConfig } from "../../models/smtp-config.ts";
import type { AuditedChange } from "../../models/statements/audit-log.ts";
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import { type Ctx, companyOf } from "../lib/caller.ts";
import { config } from "../lib/config.ts";
import { type FieldErrors, missingObject, notFound } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { seal, unseal } from "../lib/secrets.ts";
import type { ListQuery } from "../lib/shapes.ts";
import { permittedWrite } from "../permitted-write.ts";
import { secretErrorOf } from "./providers/providers.ts";

type View = ReturnsOf<"bounces.createSource">;
type NewSource = ParamsOf<"bounces.createSource">;

const TOKEN_BYTES = 32;

const tokenHashOf = (token: string): Buffer => createHash("sha256").update(token).digest();

function viewOf({ id, provider, tokenSealed, createdAt }: InboundSource): View {
  const url = `${config().BASE_URL}/api/emails/inbound/${provider}/${unseal(tokenSealed, id)}/`;
  return { id, provider, url, created_at: createdAt.toISOString() };
}

export async function listSources(ctx: Ctx<ListQuery>): Promise<Page<View>> {
  const companyId = companyOf(ctx);
  const { results, ...page } = await listModels(
    InboundSource,
    {
      from: "inbound_sources",
      columns: "id, provider, token_sealed, created_at",
      where: ["company_id = $1"],
      values: [companyId],
      id: "id",
      orderings: {},
      searchIn: ["provider"],
      counter: [companyId, "inbound_sources", companyId],
    },
    ctx.params,
  );
  return { ...page, results: results.map(viewOf) };
}

export async function sourceErrors(
  ctx: Ctx<NewSource>,
  isValid: (field: keyof NewSource) => boolean,
): Promise<FieldErrors> {
  const { provider, secret, smtp_config_id: smtpConfigId } = ctx.params;
  const errors: FieldErrors = {};
  if (isValid("provider") && (secret === undefined || isValid("secret"))) {
    const error = secretErrorOf(provider, secret);
    if (error) errors.secret = [error];
  }
  if (isValid("smtp_config_id")) {
    const found = await SmtpConfig.count({ where: { companyId: companyOf(ctx), id: smtpConfigId! } });
    if (found === 0) errors.smtp_config_id = [missingObject(smtpConfigId!)];
  }
  return errors;
}

export async function createSource(ctx: Ctx<NewSource>): Promise<View> {
  const { provider, secret, smtp_config_id: smtpConfigId = null } = ctx.params;
  const id = newId();
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const values = {
    id,
    companyId: companyOf(ctx),
    provider,
    smtpConfigId,
    tokenHash: tokenHashOf(token),
    tokenSealed: seal(token, id),
    secretSealed: secret === undefined ? null : seal(secret.trim(), id),
  };
  const audited: AuditedChange = { action: "inbound_source.created", target: id, detail: { provider } };
  const created = await permittedWrite(ctx, "bounces.createSource", audited, (transaction) =>
    InboundSource.create(values, { transaction }),
  );
  return viewOf(created);
}

export function removeSource(ctx: Ctx<{ id: string }>): Promise<null> {
  const { id } = ctx.params;
  const audited: AuditedChange = { action: "inbound_source.deleted", target: id };
  return permittedWrite(ctx, "bounces.removeSource", audited, async (transaction) => {
    const where = { companyId: companyOf(ctx), id };
    if ((await InboundSource.destroy({ where, transaction })) === 0) throw notFound();
    return null;
  });
}

export interface Source {
  id: string;
  companyId: string;
  provider: ProviderName;
  smtpConfigId: string | null;
  secret: string | null;
  topic: string | null;
}

/** Finds a source by its token, which is the credential and valid for one provider only. */
export async function sourceAt(provider: ProviderName, token: string): Promise<Source> {
  const found = await InboundSource.findOne({ where: { tokenHash: tokenHashOf(token), provider } });
  if (!found) throw notFound();
  const { id, companyId, smtpConfigId, secretSealed, topic } = found;
  return { id, companyId, provider, smtpConfigId, secret: secretSealed && unseal(secretSealed, id), topic };
}
