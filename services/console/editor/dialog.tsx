/** A dialog over the editor. Escape closes it, and the focus returns to where it was. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { visual as t } from "../messages/visual.ts";
import { IconButton } from "./icon.tsx";

interface Props {
  title: string;
  onClose(): void;
  children: ComponentChildren;
}

export function Dialog({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => dialog.current!.showModal(), []);
  return (
    <dialog class="dialog image-dialog" ref={dialog} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{title}</h2>
        <IconButton icon="x" label={t.closeDialog} onClick={() => dialog.current!.close()} />
      </header>
      {children}
    </dialog>
  );
}
