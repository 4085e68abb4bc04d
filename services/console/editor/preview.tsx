/** The mail as the server makes it, in a frame that runs no scripts. */
import { useEffect, useRef } from "preact/hooks";
import { visual as t } from "../messages/visual.ts";
import { useEditor, useStore } from "./context.ts";
import { documentOf } from "./saving.ts";
import { contentOf, type View } from "./store.ts";

export function Preview({ view }: { view: Exclude<View, "edit"> }) {
  const { boot } = useEditor();
  const reader = useStore((state) => state.reader);
  const content = useStore(contentOf);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current!.submit(), [view, reader, content]);
  return (
    <section class="visual-preview" aria-label={t.preview}>
      <form ref={form} method="post" action={boot.paths.preview} target="visual-preview" hidden>
        <input type="hidden" name="form_token" value={boot.formToken} />
        <input type="hidden" name="view" value={view} />
        <input type="hidden" name="reader" value={reader} />
        <input type="hidden" name="document" value={JSON.stringify(documentOf(content))} />
      </form>
      <iframe class={view} name="visual-preview" title={t.preview} sandbox="allow-same-origin" />
    </section>
  );
}
