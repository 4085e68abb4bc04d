/** Faults of the mail; each leads to its block. */
import { FINDING_KINDS, type Finding } from "../../lib/mail-check/finding.ts";
import { sizeText } from "../../lib/size-text.ts";
import { visual as t } from "../messages/visual.ts";
import { countOf } from "./checking.ts";
import { useEditor, useStore } from "./context.ts";
import { blockOnWay, pathFrom } from "./document.ts";
import { focusBlock } from "./focus.ts";
import { Icon } from "./icon.tsx";
import { type Store, select } from "./store.ts";

/** Findings without a block lead to the settings of the mail. */
function show(store: Store, { path }: Finding): void {
  const block = path === null ? undefined : blockOnWay(pathFrom(path))?.block;
  store.set({ view: "edit" });
  select(store, block ?? null);
  store.set({ tab: block ? "block" : "mail" });
  if (block) focusBlock(block);
}

function FindingButton({ finding }: { finding: Finding }) {
  const { store } = useEditor();
  const { severity, message, fix } = finding;
  return (
    <li>
      <button type="button" class={`finding is-${severity}`} onClick={() => show(store, finding)}>
        <Icon icon={severity === "error" ? "triangle-alert" : "info"} />
        <span>
          <span class="visually-hidden">{t.checks.severities[severity]} </span>
          {message} <em>{fix}</em>
        </span>
      </button>
    </li>
  );
}

export function ChecksPanel() {
  const { checking } = useEditor();
  const checks = useStore((state) => state.checks);
  const isChecking = useStore((state) => state.isChecking);
  if (!checks) return <p class="hint">{t.checks.running}</p>;
  const { findings, warnings, size, isWhole } = checks;
  return (
    <div class="findings">
      <p>
        <strong>{t.checks.count(countOf(checks))}</strong> {size > 0 && t.checks.size(sizeText(size))}
      </p>
      {FINDING_KINDS.map((kind) => {
        const some = findings.filter((one) => one.kind === kind);
        return some.length === 0 ? null : (
          <section key={kind}>
            <h2>{t.checks.kinds[kind]}</h2>
            <ul>
              {some.map((finding) => (
                <FindingButton key={`${finding.rule} ${finding.path} ${finding.message}`} finding={finding} />
              ))}
            </ul>
          </section>
        );
      })}
      {warnings.length > 0 && (
        <section>
          <h2>{t.checks.warnings}</h2>
          <ul>
            {warnings.map((sentence) => (
              <li key={sentence} class="finding">
                <Icon icon="info" />
                <span>{sentence}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <p>
        <button type="button" disabled={isChecking} onClick={() => void checking.checkAll()}>
          {t.checks.all}
        </button>
      </p>
      <p class="hint">{isChecking ? t.checks.running : isWhole ? t.checks.isWhole : t.checks.allHint}</p>
    </div>
  );
}
