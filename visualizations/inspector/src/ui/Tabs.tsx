import { useRef } from 'react';
import { count } from './format.js';

interface TabsProps<Id extends string> {
  readonly label: string;
  readonly tabs: readonly { readonly id: Id; readonly name: string; readonly count?: number; readonly tone?: 'err' }[];
  readonly current: Id;
  readonly onChange: (id: Id) => void;
  /** Id of the element that the tabs switch. */
  readonly panel: string;
}

/** One tab stop; arrows move between tabs. */
export function Tabs<Id extends string>({ label, tabs, current, onChange, panel }: TabsProps<Id>) {
  const list = useRef<HTMLDivElement>(null);
  const move = (to: number): void => {
    const tab = tabs[(to + tabs.length) % tabs.length];
    if (!tab) return;
    onChange(tab.id);
    list.current?.querySelector<HTMLElement>(`[data-tab="${tab.id}"]`)?.focus();
  };
  const at = tabs.findIndex((tab) => tab.id === current);
  return (
    <div
      className="tabs"
      role="tablist"
      aria-label={label}
      ref={list}
      onKeyDown={(event) => {
        if (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
        const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        move(to);
      }}
    >
      {tabs.map((tab) => (
        <button
          key={tab.id}
          type="button"
          role="tab"
          data-tab={tab.id}
          aria-selected={tab.id === current}
          aria-controls={panel}
          tabIndex={tab.id === current ? 0 : -1}
          onClick={() => onChange(tab.id)}
        >
          {tab.name}
          {tab.count !== undefined && <span className={`tab-count num ${tab.tone ?? ''}`}>{count(tab.count)}</span>}
        </button>
      ))}
    </div>
  );
}
