/** The bar above: undo and redo, views, for whom, and saving. */
import { useEffect, useReducer } from "preact/hooks";
import { visual as t } from "../messages/visual.ts";
import { useEditor, useStore } from "./context.ts";
import { Icon, IconButton } from "./icon.tsx";
import type { Saving } from "./saving.ts";
import { isChanged, redo, type State, undo, type View } from "./store.ts";
import { TestSend } from "./test-send.tsx";

const MINUTE_MS = 60_000;

const VIEWS: { view: View; icon: string }[] = [
  { view: "edit", icon: "pencil" },
  { view: "desktop", icon: "monitor" },
  { view: "phone", icon: "smartphone" },
  { view: "dark", icon: "moon" },
];

function stateWords(state: State): string {
  if (state.isSaving) return t.saving;
  if (isChanged(state)) return t.unsaved;
  if (state.savedAtMs === null) return state.id === null ? t.notSaved : "";
  const minutes = Math.floor((Date.now() - state.savedAtMs) / MINUTE_MS);
  return t.saved(minutes === 0 ? t.justNow : t.minutesAgo(minutes));
}

function SavedState() {
  const words = useStore(stateWords);
  const [, draw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    const timer = setInterval(() => draw(undefined), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  return <span class="state">{words}</span>;
}

/** Begins a campaign with the template as it is saved. */
function Compose() {
  const { boot } = useEditor();
  const id = useStore((state) => (isChanged(state) || state.isSaving ? null : state.id));
  const isMarketing = useStore((state) => state.history.now.mail.template_type === "marketing");
  if (boot.isCampaign || !boot.mayCompose || !isMarketing || id === null) return null;
  return (
    <form method="post" action={`${boot.paths.root}/${id}/campaign`}>
      <input type="hidden" name="form_token" value={boot.formToken} />
      <button type="submit">{t.compose}</button>
    </form>
  );
}

export function TopBar({ saving }: { saving: Saving }) {
  const { boot, store } = useEditor();
  const name = useStore((state) => state.history.now.mail.name);
  const view = useStore((state) => state.view);
  const reader = useStore((state) => state.reader);
  const mayUndo = useStore((state) => state.history.past.length > 0);
  const mayRedo = useStore((state) => state.history.future.length > 0);
  const isSaving = useStore((state) => state.isSaving);
  return (
    <header class="visual-bar">
      <a class="button icon-button" href={boot.paths.close} aria-label={t.close} title={t.close}>
        <Icon icon="x" />
      </a>
      <h1>{name || t.mail.unnamed}</h1>
      <SavedState />
      <IconButton
        icon="undo-2"
        label={t.undo}
        keys="Ctrl Z"
        isDisabled={!mayUndo}
        onClick={() => undo(store, t.undone)}
      />
      <IconButton
        icon="redo-2"
        label={t.redo}
        keys="Ctrl Y"
        isDisabled={!mayRedo}
        onClick={() => redo(store, t.redone)}
      />
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend */}
      <div class="segmented" role="group" aria-label={t.view}>
        {VIEWS.map(({ view: one, icon }) => (
          <button
            key={one}
            type="button"
            aria-label={t.views[one]}
            title={t.views[one]}
            aria-pressed={view === one}
            onClick={() => store.set({ view: one })}
          >
            <Icon icon={icon} />
          </button>
        ))}
      </div>
      {view !== "edit" && (
        <select
          aria-label={t.reader}
          value={reader}
          onChange={(event) => store.set({ reader: event.currentTarget.value })}
        >
          <option value="">{t.sampleReader}</option>
          {boot.readers.map((email) => (
            <option key={email} value={email}>
              {email}
            </option>
          ))}
        </select>
      )}
      <TestSend />
      <Compose />
      <button type="button" class="primary" disabled={isSaving} onClick={() => saving.save()}>
        {boot.isCampaign ? t.next : t.save}
      </button>
    </header>
  );
}
