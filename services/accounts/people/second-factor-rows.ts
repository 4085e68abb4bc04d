/** Statements for one-time codes: of two concurrent requests with a code only one finds it unused. */
import { query } from "../../../models/database/db.ts";

export async function spendTotpStep(userId: string, step: number): Promise<boolean> {
  const spent = await query("update users set totp_last_step = $2 where id = $1 and totp_last_step < $2 returning id", [
    userId,
    step,
  ]);
  return spent.length === 1;
}

export async function spendRecoveryCode(userId: string, codeHash: Buffer): Promise<boolean> {
  const spent = await query(
    "update recovery_codes set used_at = now() where user_id = $1 and code_hash = $2 and used_at is null returning user_id",
    [userId, codeHash],
  );
  return spent.length === 1;
}
