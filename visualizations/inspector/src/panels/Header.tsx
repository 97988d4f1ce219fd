import { useEffect, useRef } from 'react';
import { readRecording } from '../link/recording.js';
import { isWithin } from '../model/actors.js';
import type { Menu, Theme } from '../model/view.js';
import { savePreferences } from '../model/view.js';
import { plural } from '../ui/format.js';
import { useFlowVersion, useInspector, useRemote, useView } from '../ui/hooks.js';
import { Icon, type IconName } from '../ui/icons.js';
import { BreakpointMenu } from './BreakpointMenu.js';
import { ExportMenu } from './ExportMenu.js';
import { HeldMenu } from './HeldMenu.js';

const THEMES: readonly { readonly theme: Theme; readonly icon: IconName; readonly name: string }[] = [
  { theme: 'auto', icon: 'auto', name: 'Theme: as the system' },
  { theme: 'light', icon: 'sun', name: 'Theme: light' },
  { theme: 'dark', icon: 'moon', name: 'Theme: dark' },
];

export function Header() {
  const inspector = useInspector();
  const view = useView();
  const remote = useRemote();
  const { held, canPause, breakpoints, scope } = remote;
  const may = canPause && scope === 'control' && remote.status === 'live';
  const theme = THEMES.find((one) => one.theme === view.theme) ?? THEMES[0];
  const next = THEMES[(THEMES.findIndex((one) => one.theme === view.theme) + 1) % THEMES.length];
  return (
    <header className="header">
      <div className="brand">
        <Icon name="gate" size={17} />
        <h1>{inspector.flow.header?.name ?? 'Sixgates'}</h1>
        <Status />
      </div>
      {!remote.isRecorded && (
        <div className="controls" role="toolbar" aria-label="Run control">
          <button
            type="button"
            className={`button${held.paused ? ' primary' : ''}`}
            disabled={!may}
            onClick={() => void inspector.togglePause()}
            title={held.paused ? 'Resume  F8' : 'Pause  F8'}
          >
            <Icon name={held.paused ? 'play' : 'pause'} /> {held.paused ? 'Resume' : 'Pause'} <kbd>F8</kbd>
          </button>
          <button
            type="button"
            className="button icon-only"
            disabled={!may || !held.paused}
            onClick={() => void inspector.step(stepTarget(view.actor, held.held))}
            title="Let one held event go  F10"
            aria-label="Step"
          >
            <Icon name="step" />
          </button>
          <button
            type="button"
            className="button icon-only"
            disabled={!may || !held.paused || view.actor === null}
            onClick={() => view.actor !== null && void inspector.runToEnd(view.actor)}
            title="Run the selected call to its end  Shift+F10"
            aria-label="Run to the end of the call"
          >
            <Icon name="runToEnd" />
          </button>
          <MenuButton menu="held" label={plural(held.held.length, 'held event')} disabled={!held.paused}>
            {held.held.length} held
          </MenuButton>
          <MenuButton menu="breakpoints" label="Breakpoints" disabled={!canPause}>
            <span className={`break-dot${breakpoints.some((one) => one.enabled) ? ' on' : ''}`} /> Breakpoints
            {breakpoints.length > 0 && <span className="num"> {breakpoints.length}</span>}
          </MenuButton>
        </div>
      )}
      <label className="filter">
        <Icon name="search" size={13} />
        <input
          id="filter"
          type="search"
          placeholder="Filter: words, tool:Bash, is:denied, turn:3"
          aria-label="Filter"
          value={view.filter}
          onChange={(event) => inspector.view.patch({ filter: event.target.value })}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            event.preventDefault();
            event.stopPropagation();
            inspector.view.patch({ filter: '' });
            event.currentTarget.blur();
          }}
        />
        <kbd>/</kbd>
      </label>
      <div className="controls end">
        <MenuButton menu="export" label="Export" disabled={remote.status !== 'live' || scope !== 'control'}>
          <Icon name="export" /> Export
        </MenuButton>
        <OpenFile />
        <button
          type="button"
          className="button icon-only"
          aria-label={theme?.name}
          title={theme?.name}
          onClick={() => {
            if (!next) return;
            inspector.view.patch({ theme: next.theme });
            savePreferences({ theme: next.theme, letterKeys: view.letterKeys });
          }}
        >
          <Icon name={theme?.icon ?? 'auto'} />
        </button>
        <button
          type="button"
          className="button icon-only"
          aria-label="Keys and help"
          title="Keys and help  ?"
          onClick={() => inspector.view.patch({ menu: 'help' })}
        >
          <Icon name="help" />
        </button>
      </div>
    </header>
  );
}

/** A held event of the selected actor first; else the oldest. */
export function stepTarget(actor: string | null, held: readonly { readonly actor: string }[]): string | undefined {
  if (actor === null) return undefined;
  return held.find((one) => isWithin(one.actor, actor))?.actor;
}

function Status() {
  const { status, held, isRecorded } = useRemote();
  const { flow } = useInspector();
  useFlowVersion();
  const recorded = flow.isTranscript ? 'transcript' : 'recording';
  const [tone, text] = {
    connecting: ['', 'connecting'],
    live: isRecorded ? ['', recorded] : held.paused ? ['paused', 'paused'] : ['live', 'live'],
    disconnected: ['bad', 'disconnected'],
    refused: ['bad', 'refused'],
    recording: ['', recorded],
    noLink: ['bad', 'no link'],
  }[status] ?? ['', status];
  return (
    <span className={`pill ${tone}`} data-link={status}>
      <span className="dot" />
      {text}
    </span>
  );
}

interface MenuButtonProps {
  readonly menu: Exclude<Menu, null | 'help'>;
  readonly label: string;
  readonly disabled: boolean;
  readonly children: React.ReactNode;
}

function MenuButton({ menu, label, disabled, children }: MenuButtonProps) {
  const inspector = useInspector();
  const view = useView();
  const open = view.menu === menu;
  const place = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    const outside = (event: PointerEvent): void => {
      if (event.target instanceof Node && !place.current?.contains(event.target)) inspector.view.patch({ menu: null });
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, [open, inspector]);
  return (
    <div
      className="menu-place"
      ref={place}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !open) return;
        event.stopPropagation();
        event.preventDefault();
        inspector.view.patch({ menu: null });
        button.current?.focus();
      }}
    >
      <button
        ref={button}
        type="button"
        className="button"
        aria-expanded={open}
        aria-haspopup="dialog"
        disabled={disabled}
        onClick={() => inspector.view.patch({ menu: open ? null : menu })}
      >
        {children}
      </button>
      {open && (
        <div className="menu card" role="dialog" aria-label={label}>
          {menu === 'breakpoints' && <BreakpointMenu />}
          {menu === 'held' && <HeldMenu />}
          {menu === 'export' && <ExportMenu />}
        </div>
      )}
    </div>
  );
}

function OpenFile() {
  const inspector = useInspector();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        className="visually-hidden"
        tabIndex={-1}
        aria-label="Open a recording"
        accept=".jsonl,.gz"
        onChange={(event) => {
          const file = event.target.files?.[0];
          event.target.value = '';
          if (file) void openFile(inspector, file);
        }}
      />
      <button
        type="button"
        className="button icon-only"
        aria-label="Open a recording"
        title="Open a recording (*.flow.jsonl.gz)"
        onClick={() => input.current?.click()}
      >
        <Icon name="open" />
      </button>
    </>
  );
}

async function openFile(inspector: ReturnType<typeof useInspector>, file: File): Promise<void> {
  try {
    inspector.openRecording(await readRecording(new Uint8Array(await file.arrayBuffer())));
  } catch (error) {
    inspector.notice(`${file.name}: ${error instanceof Error ? error.message : String(error)}`, 'error');
  }
}
