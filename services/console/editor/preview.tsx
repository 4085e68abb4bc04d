/** The mail as the server makes it, in a frame that runs no scripts. */
import { useEffect, useRef, useState } from "preact/hooks";
import { visual as t } from "../messages/visual.ts";
import { ask, isProblem } from "./ask.ts";
import { useEditor, useStore } from "./context.ts";
import { documentOf } from "./saving.ts";
import { contentOf, type View } from "./store.ts";

export function Preview({ view }: { view: Exclude<View, "edit"> }) {
  const { boot } = useEditor();
  const reader = useStore((state) => state.reader);
  const content = useStore(contentOf);
  const [problem, setProblem] = useState("");
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current!.submit(), [view, reader, content]);
  /** A page that must not be framed, such as the sign-in, cannot be read: a second request says why it came. */
  const explain = async (frame: HTMLIFrameElement) => {
    const fields = new URLSearchParams([...new FormData(form.current!)] as [string, string][]);
    const answer = frame.contentDocument ? {} : await ask(boot, boot.paths.preview, fields);
    setProblem(isProblem(answer) ? answer.problem : "");
  };
  return (
    <section class="visual-preview" aria-label={t.preview}>
      <form ref={form} method="post" action={boot.paths.preview} target="visual-preview" hidden>
        <input type="hidden" name="form_token" value={boot.formToken} />
        <input type="hidden" name="view" value={view} />
        <input type="hidden" name="reader" value={reader} />
        <input type="hidden" name="document" value={JSON.stringify(documentOf(content))} />
      </form>
      {problem !== "" && (
        <p class="setting-wrong" role="alert">
          {problem}
        </p>
      )}
      <iframe
        class={view}
        name="visual-preview"
        title={t.preview}
        sandbox="allow-same-origin"
        onLoad={(event) => void explain(event.currentTarget)}
      />
    </section>
  );
}
