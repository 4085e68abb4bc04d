/** The parts of the editor side by side. */
import { Canvas } from "./canvas.tsx";
import { useStore } from "./context.ts";
import { Notices } from "./notices.tsx";
import { Palette } from "./palette.tsx";
import { Preview } from "./preview.tsx";
import type { Saving } from "./saving.ts";
import { SettingsSide } from "./settings.tsx";
import { TopBar } from "./top-bar.tsx";

/** Announces changes to screen readers. */
function Announcer() {
  const said = useStore((state) => state.said);
  return (
    <p class="visually-hidden" role="status" aria-live="polite">
      {said}
    </p>
  );
}

export function App({ saving }: { saving: Saving }) {
  const view = useStore((state) => state.view);
  return (
    <>
      <TopBar saving={saving} />
      <Announcer />
      <div class="visual-notices">
        <Notices saving={saving} />
      </div>
      <Palette />
      {view === "edit" ? <Canvas /> : <Preview view={view} />}
      <SettingsSide />
    </>
  );
}
