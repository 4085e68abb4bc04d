/** A campaign to two receivers that waits forever, because its mail server does not exist. */
import type { TestCompany } from "./client.ts";

export async function waitingCampaign({ api }: TestCompany, name: string, body = "<p>Hello</p>"): Promise<string> {
  const smtp = await api.post("/api/emails/smtp-configs/", {
    name: "S",
    host: "127.0.0.1",
    port: 9,
    username: "",
    password: "",
    use_tls: false,
    sender_email: "news@acme.example",
  });
  const sent = await api.post("/api/emails/send/custom/", {
    name,
    smtp_config_id: smtp.body.id,
    subject: "Hello",
    body,
    receivers: [{ email: "ada@example.com" }, { email: "bob@example.com" }],
  });
  expect(sent.status).toBe(201);
  return sent.body.id;
}
