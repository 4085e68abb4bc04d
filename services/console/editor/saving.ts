/**
 * Saves through the console: only this makes a version of a template. Until then a draft survives in the browser. A
 * campaign's content has no versions and is also saved after each change.
 */
import { visual as t } from "../messages/visual.ts";
import { ask, isProblem } from "./ask.ts";
import type { Boot } from "./boot.ts";
import { pathFrom } from "./document.ts";
import { type Conflict, type Content, contentOf, isChanged, type Store } from "./store.ts";
import type { Path } from "./tree.ts";

interface Saved {
  id: string;
  /** Identifies what is stored now. */
  seen: string;
  here: string;
  /** The page after the editor. */
  next?: string;
}
interface Refused {
  errors: Record<string, string[]>;
  /** Present if the content was stored all the same. */
  seen?: string;
}

/** Errors of a design begin with a path: "blocks[0].columns[0].blocks[1].href: Enter …". */
function problemOf(field: string, sentence: string): { path: Path; sentence: string } {
  const [, path, words] = (field === "design" && /^([\w[\].]+): (.*)$/s.exec(sentence)) || [];
  if (path) return { path: pathFrom(path), sentence: words! };
  return { path: field in t.mail ? ["mail", field] : [], sentence };
}

const problemsOf = ({ errors }: Refused): { path: Path; sentence: string }[] =>
  Object.entries(errors).flatMap(([field, sentences]) => sentences.map((sentence) => problemOf(field, sentence)));

export const documentOf = ({ mail, design }: Content) => ({ ...mail, design });

export interface Saving {
  save(overwrite?: string): Promise<void>;
  /** Throws away what is not saved. */
  discard(): void;
  restore(): void;
}

interface Draft {
  seen: string | null;
  content: Content;
}

interface Sending {
  /** The `seen` of the content to replace. */
  overwrite?: string;
  /** Without a click: reports no faults of the content. */
  isAuto?: boolean;
}

const PAUSE_MS = 800;

export function saving(boot: Boot, store: Store): Saving {
  const keyOf = (id: string | null) => `flockmail:draft:${boot.paths.root}:${id ?? "new"}`;
  const read = (): Draft | undefined => {
    try {
      return JSON.parse(localStorage.getItem(keyOf(store.read().id)) ?? "") as Draft;
    } catch {
      return undefined;
    }
  };
  const forget = () => localStorage.removeItem(keyOf(store.read().id));

  let timer: ReturnType<typeof setTimeout> | undefined;
  let kept: Content | undefined = contentOf(store.read());
  let isKept = true;
  let running: Promise<unknown> = Promise.resolve();
  let autosaved: Content | undefined;
  const autosave = () => {
    const content = contentOf(store.read());
    if (!boot.isCampaign || content === autosaved || !isChanged(store.read())) return;
    autosaved = content;
    // A failure leaves the content in the browser, and the next change tries again.
    running = running.then(() => send(content, { isAuto: true })).catch(() => {});
  };
  const keep = () => {
    clearTimeout(timer);
    autosave();
    const state = store.read();
    if (kept === contentOf(state)) return;
    kept = contentOf(state);
    try {
      if (isChanged(state)) localStorage.setItem(keyOf(state.id), JSON.stringify({ seen: state.seen, content: kept }));
      else forget();
      isKept = true;
    } catch {
      // The browser's storage is full or switched off.
      isKept = false;
    }
  };
  const replace = (content: Content, notice: "restored" | null) => store.edit(content, "", { notice });
  const draft = read();
  if (draft) {
    const isOlder = draft.seen !== store.read().seen;
    if (isOlder) store.set({ notice: "older" });
    else replace(draft.content, "restored");
  }
  store.subscribe(() => {
    clearTimeout(timer);
    timer = setTimeout(keep, PAUSE_MS);
  });
  addEventListener("pagehide", keep);
  addEventListener("visibilitychange", keep);
  addEventListener("beforeunload", (event) => {
    keep();
    if (!isKept && isChanged(store.read())) event.preventDefault();
  });

  async function send(content: Content, { overwrite, isAuto = false }: Sending = {}): Promise<void> {
    const { id, seen } = store.read();
    const since = overwrite ?? seen;
    const document = { ...documentOf(content), ...(since ? { unchanged_since: since } : {}) };
    const path = id ? `${boot.paths.root}/${id}/visual` : boot.paths.make;
    const fields = { document: JSON.stringify(document), ...(isAuto ? { auto: "1" } : {}) };
    const saved = await ask<Saved>(boot, path, new URLSearchParams(fields));
    if (isProblem(saved)) {
      const { status, problem, answer } = saved;
      if (status === 409 && "seen" in (answer as object)) return store.set({ conflict: answer as Conflict });
      if (status === 400 && "errors" in (answer as object)) {
        const { seen: stored = seen, ...faults } = answer as Refused;
        kept = undefined;
        return store.set({ seen: stored, problems: problemsOf(faults), said: t.problems.title });
      }
      return store.set({ problems: [{ path: [], sentence: status === 404 ? t.problems.gone : problem }] });
    }
    forget();
    kept = undefined;
    history.replaceState(null, "", saved.here);
    store.set({
      id: saved.id,
      seen: saved.seen,
      saved: content,
      savedAtMs: Date.now(),
      notice: null,
      ...(isAuto ? {} : { said: t.says.saved }),
    });
    if (saved.next && !isAuto) location.assign(saved.next);
  }

  return {
    async save(overwrite) {
      if (store.read().isSaving) return;
      store.set({ isSaving: true, problems: [], conflict: null });
      const { mail } = contentOf(store.read());
      // A template needs a name.
      const name = mail.name.trim() || mail.subject.trim() || t.mail.unnamed;
      if (name !== mail.name) store.edit({ mail: { ...mail, name } }, "mail/name");
      try {
        await running;
        await send(contentOf(store.read()), overwrite === undefined ? {} : { overwrite });
      } catch {
        store.set({ problems: [{ path: [], sentence: t.problems.away }] });
      } finally {
        store.set({ isSaving: false });
      }
    },
    discard() {
      forget();
      const { saved } = store.read();
      store.edit(saved, "", { notice: null });
    },
    restore() {
      const older = read();
      if (older) replace(older.content, null);
    },
  };
}
