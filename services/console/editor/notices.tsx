/** Notices of a refused save, of a save by somebody else, and of a restored draft. */
import { visual as t } from "../messages/visual.ts";
import { useEditor, useStore } from "./context.ts";
import { blockOnWay } from "./document.ts";
import { focusBlock } from "./focus.ts";
import type { Saving } from "./saving.ts";
import { select } from "./store.ts";
import type { Path } from "./tree.ts";

function Problems() {
  const { store } = useEditor();
  const problems = useStore((state) => state.problems);
  if (problems.length === 0) return null;
  const show = (path: Path) => {
    if (path[0] === "mail") {
      select(store, null);
      requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-mail="${path[1]}"]`)?.focus());
      return;
    }
    const block = blockOnWay(path)?.block;
    if (!block) return;
    store.set({ view: "edit" });
    select(store, block);
    focusBlock(block);
  };
  return (
    <div class="visual-problems" role="alert">
      <strong>{t.problems.title}</strong>
      <ul>
        {problems.map(({ path, sentence }) => (
          <li key={`${path.join("/")} ${sentence}`}>
            {path[0] === "mail" && `${t.mail[path[1] as keyof typeof t.mail]}: `}
            {sentence}{" "}
            {path.length > 0 && (
              <button type="button" class="small-button" onClick={() => show(path)}>
                {t.problems.show}
              </button>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

export function Notices({ saving }: { saving: Saving }) {
  const conflict = useStore((state) => state.conflict);
  const notice = useStore((state) => state.notice);
  const { store } = useEditor();
  return (
    <>
      <Problems />
      {conflict && (
        <div class="visual-problems" role="alert">
          <p>{conflict.who === null ? t.conflictInDraft(conflict.at) : t.conflict(conflict.who, conflict.at)}</p>
          <a href={conflict.theirs} target="_blank" rel="noopener">
            {t.theirs}
          </a>{" "}
          <button type="button" class="small-button" onClick={() => saving.save(conflict.seen)}>
            {t.overwrite}
          </button>
        </div>
      )}
      {notice && (
        <div class="visual-notice" role="status">
          {t.draft[notice]}{" "}
          {notice === "older" && (
            <button type="button" class="small-button" onClick={() => saving.restore()}>
              {t.draft.restore}
            </button>
          )}{" "}
          <button type="button" class="small-button" onClick={() => saving.discard()}>
            {t.draft.discard}
          </button>{" "}
          <button type="button" class="small-button" onClick={() => store.set({ notice: null })}>
            {t.close}
          </button>
        </div>
      )}
    </>
  );
}
