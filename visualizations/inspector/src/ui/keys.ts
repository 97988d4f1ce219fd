import { useEffect } from 'react';
import { nextProblem, toggleStateBreakpoint, travelBy, travelToChange, widen } from '../model/actions.js';
import type { Inspector } from '../model/inspector.js';
import { stepTarget } from '../panels/Header.js';

const PLACES: Readonly<Record<string, string>> = {
  a: '#actors',
  c: '[data-chart] [data-active="true"], [data-chart] [data-state]',
  t: '#timeline',
  l: '#log-panel .rows-scroll',
  d: '#details-panel',
};
/** Time within which the second letter of `g a` must follow. */
const CHORD_MS = 1200;

/** The keys that work everywhere. Widgets that take a key for themselves stop it first. */
export function useKeys(inspector: Inspector): void {
  useEffect(() => {
    let goAt = 0;
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      const goes = event.timeStamp - goAt < CHORD_MS;
      goAt = 0;
      if (functionKey(inspector, event) || arrowKey(inspector, event)) {
        event.preventDefault();
        return;
      }
      if (event.key === 'Escape') {
        if (!isText(event.target) && widen(inspector)) event.preventDefault();
        return;
      }
      if (isText(event.target) || !inspector.view.get().letterKeys) return;
      if (goes && PLACES[event.key]) {
        event.preventDefault();
        focus(PLACES[event.key] ?? '');
      } else if (event.key === 'g') goAt = event.timeStamp;
      else if (letterKey(inspector, event)) event.preventDefault();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [inspector]);
}

function functionKey(inspector: Inspector, event: KeyboardEvent): boolean {
  const { held, canPause } = inspector.remote.get();
  if (event.key !== 'F8' && event.key !== 'F10') return false;
  if (!inspector.mayControl || !canPause) return true;
  const { actor } = inspector.view.get();
  if (event.key === 'F8') void inspector.togglePause();
  else if (held.paused && event.shiftKey && actor !== null) void inspector.runToEnd(actor);
  else if (held.paused && !event.shiftKey) void inspector.step(stepTarget(actor, held.held));
  return true;
}

function arrowKey(inspector: Inspector, event: KeyboardEvent): boolean {
  if ((event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') || isText(event.target) || isRange(event.target)) return false;
  const direction = event.key === 'ArrowLeft' ? -1 : 1;
  if (event.shiftKey) travelToChange(inspector, direction);
  else if (direction < 0 || inspector.view.get().travel !== null) travelBy(inspector, direction);
  return true;
}

function letterKey(inspector: Inspector, event: KeyboardEvent): boolean {
  switch (event.key) {
    case '/':
      focus('#filter');
      return true;
    case '?':
      inspector.view.patch({ menu: 'help' });
      return true;
    case 'q':
      focus('#approval');
      return true;
    case 'e':
      nextProblem(inspector);
      return true;
    case 'f':
      inspector.view.patch({ cameraFollows: !inspector.view.get().cameraFollows });
      return true;
    case 'b':
    case 'B': {
      const state = document.activeElement?.getAttribute('data-state');
      if (!state || !inspector.mayControl) return false;
      toggleStateBreakpoint(inspector, state, event.key === 'b' ? 'before' : 'after');
      return true;
    }
    case 'j':
    case 'k':
      return moveRow(event.key === 'j' ? 'ArrowDown' : 'ArrowUp');
    case '+':
      return click('[data-key="+"]');
    case '-':
      return click('[data-key="-"]');
    case '0':
      return click('[data-key="0"]');
    default:
      return false;
  }
}

/** `j` and `k` act on the list that has focus, else on the log. */
function moveRow(key: string): boolean {
  const focused = document.activeElement?.closest('.rows-scroll') ?? document.querySelector('#log-panel .rows-scroll');
  focused?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  return focused !== null;
}

function focus(selector: string): void {
  const element = document.querySelector(selector);
  if (element instanceof HTMLElement || element instanceof SVGElement) element.focus();
}
function click(selector: string): boolean {
  const element = document.querySelector(selector);
  if (element instanceof HTMLElement) element.click();
  return element !== null;
}
const isText = (target: EventTarget | null): boolean =>
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement ||
  (target instanceof HTMLInputElement && target.type !== 'checkbox' && target.type !== 'radio' && target.type !== 'range');
const isRange = (target: EventTarget | null): boolean => target instanceof HTMLInputElement && target.type === 'range';
