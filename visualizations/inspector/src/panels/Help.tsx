import { useEffect, useRef } from 'react';
import { savePreferences } from '../model/view.js';
import { useInspector, useView } from '../ui/hooks.js';
import { Icon } from '../ui/icons.js';

const KEYS: readonly (readonly [title: string, rows: readonly (readonly [keys: string, what: string])[]])[] = [
  [
    'Look',
    [
      ['/', 'filter'],
      ['j k, ↑ ↓', 'next and previous row'],
      ['Enter', 'open the row'],
      ['Esc', 'close, then widen the scope'],
      ['e', 'next problem'],
      ['g a, g c, g t, g l, g d', 'go to actors, chart, timeline, log, details'],
    ],
  ],
  [
    'Time',
    [
      ['← →', 'one event back, one on'],
      ['Shift ← →', 'last and next change of the selected actor'],
      ['W S A D', 'on the timeline: zoom and move'],
      ['+ − 0', 'chart: zoom in, out, actual size'],
      ['f', 'camera follows the active state'],
    ],
  ],
  [
    'Control',
    [
      ['F8', 'pause, resume'],
      ['F10', 'let one held event go'],
      ['Shift F10', 'run the selected call to its end'],
      ['b', 'on a state: break before entering'],
      ['Shift b', 'on a state: break after entering'],
      ['q', 'go to the question that waits'],
      ['y n', 'on the question: allow, deny'],
    ],
  ],
];

export function Help() {
  const inspector = useInspector();
  const view = useView();
  const close = (): void => inspector.view.patch({ menu: null });
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    button.current?.focus();
    return () => {
      if (before instanceof HTMLElement || before instanceof SVGElement) before.focus();
    };
  }, []);
  // Not modal: a question that comes meanwhile must be within reach.
  return (
    <dialog
      open
      className="help card"
      aria-label="Keys and help"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        event.stopPropagation();
        close();
      }}
    >
      <div className="card-head">
        <h2>Keys</h2>
        <span className="grow" />
        <button ref={button} type="button" className="tool" aria-label="Close" onClick={close}>
          <Icon name="close" />
        </button>
      </div>
      <div className="help-columns">
        {KEYS.map(([title, rows]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {rows.map(([keys, what]) => (
                <div key={keys}>
                  <dt>
                    {keys.split(', ').map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <label className="check">
        <input
          type="checkbox"
          checked={view.letterKeys}
          onChange={(event) => {
            inspector.view.patch({ letterKeys: event.target.checked });
            savePreferences({ theme: view.theme, letterKeys: event.target.checked });
          }}
        />
        Single letters act as keys
      </label>
      <p className="quiet">
        Time travel only folds what was recorded: no tool and no model is called again. Pausing holds events between actors; a running
        process or stream goes on, and its results wait.
      </p>
    </dialog>
  );
}
