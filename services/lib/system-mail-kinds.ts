/** Defines the kinds of system mail and their data; ids become signed links when the email is rendered. */
export interface SystemMailData {
  invitation: { invitationId: string; company: string; inviter: string; role: string };
  verify: { tokenId: string };
  reset: { tokenId: string };
  password_changed: { at: string };
  locked_out: { at: string };
  key_created: { company: string; key: string; by: string };
  member_joined: { company: string; member: string; role: string };
  confirmation_unsent: { company: string; reason: string };
  smtp_host_changed: { company: string; config: string; host: string; by: string };
  campaign_stopped: { company: string; campaign: string; reason: string };
}
export type SystemMailKind = keyof SystemMailData;
