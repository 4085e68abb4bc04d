/** The right side: settings of the block, of its section, and of the whole mail. */
import { type Block, isCondition, isLoop, isSection, MAX_COLUMNS, SECTION, SETTINGS } from "../../lib/design/design.ts";
import { visual as t } from "../messages/visual.ts";
import type { Mail } from "./boot.ts";
import { countOf } from "./checking.ts";
import { ChecksPanel } from "./checks.tsx";
import { nameOf, setColumns, setCondition } from "./commands.ts";
import { useEditor, useStore } from "./context.ts";
import { blockAt, conditionAround, fieldsOf, outerOf } from "./document.ts";
import { Labelled } from "./field.tsx";
import { cleanFallback, labelOf } from "./fields.ts";
import { focusBlock } from "./focus.ts";
import { changeField } from "./rich-editor.ts";
import { SettingFields } from "./setting-fields.tsx";
import { designOf, type State, setValue } from "./store.ts";
import { Tabs } from "./tabs.tsx";
import { getAt, type Path } from "./tree.ts";

function VariableField({ path, value }: { path: Path; value: string }) {
  const { boot, store } = useEditor();
  const names = [...new Set([...boot.fields.map(({ name }) => name), value])];
  return (
    <Labelled label={t.settings.variable}>
      {(id) => (
        <select id={id} value={value} onChange={(event) => setValue(store, path, event.currentTarget.value)}>
          {names.map((name) => (
            <option key={name} value={name}>
              {labelOf(name)}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

/** A condition around the block, by choosing a field. */
function ShowIf({ path }: { path: Path }) {
  const { boot, store } = useEditor();
  const design = useStore(designOf);
  const around = conditionAround(design, path);
  const variable = around ? `${getAt(design, [...around, "variable"])}` : "";
  const names = [...new Set([...boot.fields.map(({ name }) => name), ...(variable ? [variable] : [])])];
  return (
    <Labelled label={t.settings.showIf}>
      {(id) => (
        <select id={id} value={variable} onChange={(event) => setCondition(store, path, event.currentTarget.value)}>
          <option value="">{t.settings.always}</option>
          {names.map((name) => (
            <option key={name} value={name}>
              {t.settings.ifFilled(labelOf(name))}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

function SectionSettings({ path }: { path: Path }) {
  const { store } = useEditor();
  const block = useStore((state) => blockAt(designOf(state), path));
  if (!block || !isSection(block)) return null;
  const { columns } = block;
  const counts = Array.from({ length: MAX_COLUMNS }, (_, no) => no + 1);
  const widths = columns.map(({ share = 1 }) => share).join(":");
  const offered = { 2: ["1:1", "1:2", "2:1"], 3: ["1:1:1", "1:2:1"] }[columns.length];
  const setWidths = (text: string) => {
    const shares = text.split(":").map(Number);
    setValue(
      store,
      [...path, "columns"],
      columns.map(({ share: _, ...column }, no) => (shares[no] === 1 ? column : { share: shares[no], ...column })),
    );
  };
  return (
    <>
      <fieldset class="setting">
        <legend>{t.settings.columns}</legend>
        <div class="segmented">
          {counts.map((n) => (
            <button
              key={n}
              type="button"
              aria-label={t.columnsOf(n)}
              aria-pressed={n === columns.length}
              onClick={() => setColumns(store, path, n)}
            >
              {n}
            </button>
          ))}
        </div>
      </fieldset>
      {offered && (
        <fieldset class="setting">
          <legend>{t.settings.widths}</legend>
          <div class="segmented">
            {offered.map((one) => (
              <button key={one} type="button" aria-pressed={one === widths} onClick={() => setWidths(one)}>
                {one}
              </button>
            ))}
          </div>
        </fieldset>
      )}
      <SettingFields fields={SECTION} path={path} values={block} />
    </>
  );
}

function ChipSettings() {
  const { boot, active } = useEditor();
  const chip = useStore((state) => state.chip);
  if (!chip) return null;
  const sample = boot.fields.find(({ name }) => name === chip.name)?.sample;
  return (
    <section class="chip-settings" aria-label={t.field.title}>
      <h2>
        {t.field.title}: {labelOf(chip.name)}
      </h2>
      {sample && <p class="hint">{t.field.sample(sample)}</p>}
      <Labelled label={t.field.fallback}>
        {(id) => (
          <input
            id={id}
            type="text"
            maxLength={100}
            value={chip.fallback}
            onInput={(event) => {
              const fallback = cleanFallback(event.currentTarget.value);
              if (active.view) changeField(active.view, { ...chip, fallback });
            }}
          />
        )}
      </Labelled>
    </section>
  );
}

function BlockSettings({ block, path }: { block: Block; path: Path }) {
  const { store } = useEditor();
  return (
    <>
      <ChipSettings />
      {(isCondition(block) || isLoop(block)) && <VariableField path={[...path, "variable"]} value={block.variable} />}
      {isCondition(block) && !block.else && (
        <button type="button" class="small-button" onClick={() => setValue(store, [...path, "else"], [])}>
          {t.addOtherwise}
        </button>
      )}
      {isSection(block) ? (
        <SectionSettings path={path} />
      ) : (
        <SettingFields fields={fieldsOf(block)} path={path} values={block as Record<string, unknown>} />
      )}
      {!isCondition(block) && <ShowIf path={path} />}
    </>
  );
}

function MailSettings() {
  const { boot, store } = useEditor();
  const mail = useStore((state: State) => state.history.now.mail);
  const design = useStore(designOf);
  const isNew = useStore((state) => state.id === null);
  const change = (field: keyof Mail, value: string) =>
    store.edit({ mail: { ...mail, [field]: value } }, `mail/${field}`);
  const line = (field: "name" | "subject" | "preheader", maxLength: number) => (
    <Labelled label={t.mail[field]}>
      {(id) => (
        <input
          id={id}
          type="text"
          maxLength={maxLength}
          value={mail[field]}
          data-mail={field}
          onInput={(event) => change(field, event.currentTarget.value)}
        />
      )}
    </Labelled>
  );
  return (
    <>
      {!boot.isCampaign && line("name", 255)}
      {line("subject", 998)}
      {line("preheader", 998)}
      {!boot.isCampaign && (
        <Labelled label={t.mail.type}>
          {(id) => (
            <select
              id={id}
              value={mail.template_type}
              onChange={(event) => change("template_type", event.currentTarget.value)}
            >
              {boot.types.map(({ value, label }) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Labelled>
      )}
      <h2>{t.mail.look}</h2>
      <SettingFields fields={SETTINGS} path={["settings"]} values={design.settings ?? {}} />
      {isNew && (
        <p>
          <a href={boot.paths.html}>{t.toHtml}</a>
        </p>
      )}
      <h2>{t.mail.shortcuts}</h2>
      <dl class="keys">
        {t.keys.map(([keys, does]) => (
          <>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </>
        ))}
      </dl>
    </>
  );
}

/** The section that holds the block, also through conditions. */
function sectionAround(state: State): Path | undefined {
  let path: Path | undefined = state.selected ?? undefined;
  while (path) {
    path = outerOf(path);
    const block = path && blockAt(designOf(state), path);
    if (block && isSection(block)) return path;
  }
  return undefined;
}

export function SettingsSide() {
  const { store } = useEditor();
  const selected = useStore((state) => state.selected);
  const design = useStore(designOf);
  const tab = useStore((state) => state.tab);
  const checks = useStore((state) => state.checks);
  const block = blockAt(design, selected);
  const section = sectionAround(store.read());
  const tabs = {
    ...(block ? { block: nameOf(block) } : {}),
    ...(section ? { section: t.tabs.section } : {}),
    mail: t.tabs.mail,
    checks: checks === null ? t.tabs.checks : `${t.tabs.checks} (${countOf(checks)})`,
  };
  const chosen = tab in tabs ? tab : "mail";
  const leave = ({ key, target }: KeyboardEvent) => {
    if (key === "Escape" && !(target as Element).closest("dialog")) focusBlock(selected);
  };
  return (
    <aside class="visual-side visual-settings" aria-label={t.regions.settings} onKeyDown={leave}>
      <Tabs tabs={tabs} chosen={chosen} choose={(next) => store.set({ tab: next })} id="settings" />
      <div
        class="side-body"
        id="panel-settings"
        role="tabpanel"
        aria-labelledby={`tab-settings-${chosen}`}
        key={selected?.join("/")}
      >
        {chosen === "block" && block && selected && <BlockSettings block={block} path={selected} />}
        {chosen === "section" && section && <SectionSettings path={section} />}
        {chosen === "mail" && <MailSettings />}
        {chosen === "checks" && <ChecksPanel />}
      </div>
    </aside>
  );
}
