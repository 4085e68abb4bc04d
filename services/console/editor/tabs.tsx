/** Tabs of a side. Arrow keys choose the next one. */
interface Props<T extends string> {
  tabs: Partial<Record<T, string>>;
  chosen: T;
  choose(tab: T): void;
  id: string;
}

export function Tabs<T extends string>({ tabs, chosen, choose, id }: Props<T>) {
  const names = Object.keys(tabs) as T[];
  const go = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const next = names[(names.indexOf(chosen) + by + names.length) % names.length]!;
    choose(next);
    document.getElementById(`tab-${id}-${next}`)?.focus();
  };
  return (
    <div class="side-tabs" role="tablist" onKeyDown={go}>
      {names.map((name) => (
        <button
          key={name}
          id={`tab-${id}-${name}`}
          type="button"
          role="tab"
          aria-selected={name === chosen}
          aria-controls={`panel-${id}`}
          tabIndex={name === chosen ? 0 : -1}
          onClick={() => choose(name)}
        >
          {tabs[name]}
        </button>
      ))}
    </div>
  );
}
