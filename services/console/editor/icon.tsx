/** An icon of the console's sprite. Its button needs a label. */
import { useEditor } from "./context.ts";

export function Icon({ icon }: { icon: string }) {
  const { boot } = useEditor();
  return (
    <svg class="icon" aria-hidden="true">
      <use href={`${boot.icons}#${icon}`} />
    </svg>
  );
}

interface ButtonProps {
  icon: string;
  label: string;
  onClick(): void;
  isPressed?: boolean;
  isDisabled?: boolean;
  keys?: string;
}

/** A button with an icon alone. It leaves the focus, and with it the selection of a text, where it is. */
export function IconButton({ icon, label, onClick, isPressed, isDisabled, keys }: ButtonProps) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={keys ? `${label} (${keys})` : label}
      aria-pressed={isPressed}
      disabled={isDisabled}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onClick}
    >
      <Icon icon={icon} />
    </button>
  );
}
