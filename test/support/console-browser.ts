import type { App } from "./app.ts";
import { someIp, type TestCompany } from "./client.ts";

export interface Shown {
  status: number;
  location: string | null;
  headers: Headers;
  html: string;
  title: string;
}

/** A browser without JavaScript: keeps the session cookie and sends the form token of the last page. */
export class ConsoleBrowser {
  cookie = "";
  token = "";
  readonly #app: App;
  readonly #ip = someIp();

  constructor(app: App) {
    this.#app = app;
  }

  async #ask(path: string, init: RequestInit, accept = "text/html"): Promise<Shown> {
    const headers = { ...(this.cookie ? { cookie: this.cookie } : {}), accept, "x-forwarded-for": this.#ip };
    const response = await fetch(`${this.#app.url}${path}`, { redirect: "manual", ...init, headers });
    const set = response.headers.get("set-cookie");
    if (set) this.cookie = set.split(";", 1)[0]!;
    const html = await response.text();
    this.token = /<meta name="csrf-token" content="([^"]+)"/.exec(html)?.[1] ?? this.token;
    return {
      status: response.status,
      location: response.headers.get("location"),
      headers: response.headers,
      html,
      title: /<h1>([^<]*)<\/h1>/.exec(html)?.[1] ?? "",
    };
  }

  open = (path: string) => this.#ask(path, {});

  send = (path: string, fields: Record<string, string> = {}, token = this.token) =>
    this.#ask(path, { method: "POST", body: new URLSearchParams({ form_token: token, ...fields }) });

  /** Asks like the editors' scripts. */
  async askJson(path: string, body?: URLSearchParams | FormData) {
    const { status, html } = await this.#ask(path, body ? { method: "POST", body } : {}, "application/json");
    return { status, answer: JSON.parse(html) };
  }

  /** Submits a form with a file. */
  attach(path: string, file: File, fields: Record<string, string> = {}, token = this.token): Promise<Shown> {
    const body = new FormData();
    for (const [name, value] of Object.entries({ form_token: token, ...fields })) body.append(name, value);
    body.append("file", file);
    return this.#ask(path, { method: "POST", body });
  }

  async signIn({ email, password }: { email: string; password: string }, next?: string): Promise<Shown> {
    await this.open("/app/login");
    return this.send("/app/login", { email, password, ...(next === undefined ? {} : { next }) });
  }
}

/** A browser in which this person is signed in. */
export async function signIn(app: App, company: TestCompany): Promise<ConsoleBrowser> {
  const browser = new ConsoleBrowser(app);
  expect(await browser.signIn(company)).toMatchObject({ status: 303 });
  return browser;
}
