/** Sends the mail as it stands to one address. */
import { useState } from "preact/hooks";
import { visual as t } from "../messages/visual.ts";
import { ask, isProblem } from "./ask.ts";
import { useEditor, useStore } from "./context.ts";
import { Dialog } from "./dialog.tsx";
import { Labelled } from "./field.tsx";
import { Icon } from "./icon.tsx";
import { documentOf } from "./saving.ts";
import { contentOf } from "./store.ts";

function TestForm({ onClose }: { onClose(): void }) {
  const { boot } = useEditor();
  const content = useStore(contentOf);
  const reader = useStore((state) => state.reader);
  const [to, setTo] = useState(boot.testTo ?? "");
  const [isSending, setSending] = useState(false);
  const [sentences, setSentences] = useState<string[]>([]);
  const send = async (event: Event) => {
    event.preventDefault();
    setSending(true);
    setSentences([]);
    const fields = new URLSearchParams({ document: JSON.stringify(documentOf(content)), to, reader });
    const answer = await ask<{ sentences: string[] }>(boot, boot.paths.test, fields);
    setSending(false);
    setSentences(isProblem(answer) ? [answer.problem] : answer.sentences);
  };
  return (
    <Dialog title={t.test.title} onClose={onClose}>
      <form onSubmit={(event) => void send(event)}>
        <Labelled label={t.test.to}>
          {(id) => (
            <input
              id={id}
              type="email"
              required={true}
              value={to}
              onInput={(event) => setTo(event.currentTarget.value)}
            />
          )}
        </Labelled>
        <p class="hint">{t.test.hint}</p>
        <div role="status">
          {sentences.map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
        </div>
        <div class="buttons">
          <button type="submit" class="primary" disabled={isSending}>
            {isSending ? t.test.sending : t.test.send}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export function TestSend() {
  const { boot } = useEditor();
  const [isOpen, setOpen] = useState(false);
  if (boot.testTo === null) return null;
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        <Icon icon="send" />
        {t.test.button}
      </button>
      {isOpen && <TestForm onClose={() => setOpen(false)} />}
    </>
  );
}
