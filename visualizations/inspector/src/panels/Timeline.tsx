import { type PointerEvent as ReactPointerEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { selectCall } from '../model/actions.js';
import type { Call } from '../model/calls.js';
import type { Flow } from '../model/flow.js';
import { PARTS, TRANSCRIPT_PARTS } from '../model/view.js';
import { duration, moment, plural } from '../ui/format.js';
import { useFlowVersion, useInspector, useSize, useView } from '../ui/hooks.js';
import { type Bar, draw, drawOverview, type Palette, readPalette, type TimeWindow } from './timelineDraw.js';

const SMALLEST_MS = 0.5;

/**
 * Where the time went. Each bar shows what its call spent it on, so that slow is told from waiting for a person.
 * The Calls table is its equal in text.
 */
export function Timeline() {
  const inspector = useInspector();
  const view = useView();
  const version = useFlowVersion();
  const { flow } = inspector;
  const [panel, setPanel] = useState<HTMLElement | null>(null);
  const [body, setBody] = useState<HTMLDivElement | null>(null);
  const size = useSize(body);
  const canvas = useRef<HTMLCanvasElement>(null);
  const overview = useRef<HTMLCanvasElement>(null);
  const bars = useRef<Bar[]>([]);
  const [chosen, setChosen] = useState<TimeWindow | null>(null);
  const [hover, setHover] = useState<{ readonly call: Call; readonly x: number; readonly y: number } | null>(null);
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number } | null>(null);
  const palette = usePalette(panel);

  const whole: TimeWindow = { from: 0, to: Math.max(1, flow.lastT) };
  const window = chosen ?? currentTurn(flow, view.call) ?? whole;
  const cursor = view.travel === null ? null : (flow.eventAt(view.travel)?.t ?? null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the version stands for the flow, which is changed in place
  useLayoutEffect(() => {
    if (!palette || size.width === 0) return;
    const base = { calls: flow.calls, lanes: flow.laneCount, now: flow.lastT, window, selected: view.call, cursor, palette };
    const main = surface(canvas.current, size.width, size.height - OVERVIEW);
    if (main) bars.current = draw(main, { ...base, width: size.width, height: size.height - OVERVIEW });
    const strip = surface(overview.current, size.width, OVERVIEW - 2);
    if (strip) drawOverview(strip, { ...base, whole, width: size.width, height: OVERVIEW - 2 });
  }, [version, palette, size.width, size.height, window.from, window.to, view.call, cursor]);

  const timeAt = (clientX: number): number => {
    const left = canvas.current?.getBoundingClientRect().left ?? 0;
    return window.from + ((clientX - left) / Math.max(1, size.width)) * (window.to - window.from);
  };
  const barAt = (event: ReactPointerEvent): Bar | undefined => {
    const bounds = canvas.current?.getBoundingClientRect();
    const [x, y] = [event.clientX - (bounds?.left ?? 0), event.clientY - (bounds?.top ?? 0)];
    return bars.current.findLast((bar) => x >= bar.x - 2 && x <= bar.x + bar.w + 2 && y >= bar.y && y <= bar.y + bar.h + 1);
  };
  const zoom = (factor: number): void => {
    const middle = (window.from + window.to) / 2;
    const half = Math.max(SMALLEST_MS, ((window.to - window.from) / 2) * factor);
    setChosen({ from: Math.max(0, middle - half), to: Math.min(whole.to, middle + half) });
  };
  const pan = (part: number): void => {
    const span = window.to - window.from;
    const from = Math.max(0, Math.min(whole.to - span, window.from + span * part));
    setChosen({ from, to: from + span });
  };

  const down = (event: ReactPointerEvent): void => {
    if (event.button !== 0) return;
    const start = timeAt(event.clientX);
    const startX = event.clientX;
    const element = event.currentTarget;
    element.setPointerCapture(event.pointerId);
    const move = (moved: Event): void => {
      if (moved instanceof PointerEvent && Math.abs(moved.clientX - startX) > 4) {
        const at = timeAt(moved.clientX);
        setDrag({ from: Math.min(start, at), to: Math.max(start, at) });
      }
    };
    const up = (ended: Event): void => {
      element.removeEventListener('pointermove', move);
      element.removeEventListener('pointerup', up);
      setDrag(null);
      if (!(ended instanceof PointerEvent)) return;
      if (Math.abs(ended.clientX - startX) <= 4) {
        const bar = barAt(event);
        if (bar) selectCall(inspector, bar.call);
        return;
      }
      const at = timeAt(ended.clientX);
      const range = { from: Math.min(start, at), to: Math.max(start, at) };
      setChosen(range);
      inspector.view.patch({ range });
    };
    element.addEventListener('pointermove', move);
    element.addEventListener('pointerup', up);
  };

  const reset = (): void => {
    setChosen(null);
    inspector.view.patch({ range: null });
  };
  // A range that was dropped elsewhere (Esc) lets the window go too.
  const hadRange = useRef(false);
  useEffect(() => {
    if (hadRange.current && view.range === null) setChosen(null);
    hadRange.current = view.range !== null;
  }, [view.range]);

  const x = (t: number): number => ((t - window.from) / Math.max(1e-6, window.to - window.from)) * size.width;
  return (
    <section className="panel timeline" aria-label="Timeline" ref={setPanel}>
      <div className="panel-head">
        <h2>Timeline</h2>
        <span className="quiet num">
          {moment(window.from)} – {moment(window.to)} s
        </span>
        {chosen && (
          <button type="button" className="link" onClick={reset}>
            reset
          </button>
        )}
        <span className="grow" />
        <ul className="legend" aria-label="Colours">
          {(flow.isTranscript ? TRANSCRIPT_PARTS : PARTS).map(({ part, name }) => (
            <li key={part}>
              <span className={`swatch ${part}`} />
              {name}
            </li>
          ))}
        </ul>
      </div>
      <div
        className="timeline-body"
        id="timeline"
        ref={setBody}
        role="application"
        aria-label={`Timeline of ${plural(flow.calls.length, 'call')}. W and S zoom, A and D move. The Calls table shows the same in text.`}
        tabIndex={0}
        onKeyDown={(event) => {
          if (event.ctrlKey || event.metaKey || event.altKey) return;
          const act = { w: () => zoom(0.6), s: () => zoom(1 / 0.6), a: () => pan(-0.25), d: () => pan(0.25) }[event.key.toLowerCase()];
          if (!act) return;
          event.preventDefault();
          event.stopPropagation();
          act();
        }}
      >
        <canvas
          ref={overview}
          className="overview"
          aria-hidden="true"
          onPointerDown={(event) => {
            const bounds = event.currentTarget.getBoundingClientRect();
            const middle = ((event.clientX - bounds.left) / Math.max(1, bounds.width)) * whole.to;
            const span = Math.min(whole.to, window.to - window.from);
            const from = Math.max(0, Math.min(whole.to - span, middle - span / 2));
            setChosen({ from, to: from + span });
          }}
          onDoubleClick={() => setChosen(whole)}
        />
        <canvas
          ref={canvas}
          className="bars"
          aria-hidden="true"
          onPointerDown={down}
          onPointerMove={(event) => {
            const bar = barAt(event);
            const bounds = body?.getBoundingClientRect();
            setHover(bar ? { call: bar.call, x: event.clientX - (bounds?.left ?? 0), y: event.clientY - (bounds?.top ?? 0) } : null);
          }}
          onPointerLeave={() => setHover(null)}
          onDoubleClick={reset}
        />
        {drag && <div className="selection" style={{ left: x(drag.from), width: Math.max(1, x(drag.to) - x(drag.from)) }} />}
        {hover && !drag && <Tip {...hover} width={size.width} now={flow.lastT} />}
        {flow.calls.length === 0 && <p className="empty">Bars appear here with the first tool call.</p>}
      </div>
    </section>
  );
}

const OVERVIEW = 20;

function Tip({
  call,
  x,
  y,
  width,
  now,
}: {
  readonly call: Call;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly now: number;
}) {
  const spent = new Map<string, number>();
  for (const segment of call.segments) {
    spent.set(segment.part, (spent.get(segment.part) ?? 0) + Math.max(0, (segment.to ?? now) - segment.from));
  }
  return (
    <div className="tip" style={{ left: Math.min(x + 12, Math.max(0, width - 250)), top: Math.max(0, y - 8) }}>
      <b>{call.tool}</b> <span className="mono">{call.label.slice(0, 60)}</span>
      <div className="quiet">
        {call.status} · {[...spent].map(([part, ms]) => `${part} ${duration(ms)}`).join(' · ')}
      </div>
    </div>
  );
}

/** From the start of the selected call's turn to its end; with no call selected, of the last turn. */
function currentTurn(flow: Flow, selected: string | null): TimeWindow | null {
  const call = selected === null ? flow.calls.at(-1) : flow.call(selected);
  for (
    let at = call?.actor ? flow.actors.get(call.actor) : undefined;
    at;
    at = at.parent === null ? undefined : flow.actors.get(at.parent)
  ) {
    if (at.kind !== 'turn') continue;
    const to = at.endT ?? flow.lastT;
    const air = Math.max(1, (to - at.startT) * 0.03);
    return { from: Math.max(0, at.startT - air), to: to + air };
  }
  return null;
}

function surface(canvas: HTMLCanvasElement | null, width: number, height: number): CanvasRenderingContext2D | null {
  if (!canvas || width <= 0 || height <= 0) return null;
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext('2d');
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/** The colours of the current theme, read again when it changes. */
function usePalette(element: HTMLElement | null): Palette | null {
  const { theme } = useView();
  const [palette, setPalette] = useState<Palette | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme changes what the element's style says
  useLayoutEffect(() => {
    if (!element) return;
    const read = (): void => setPalette(readPalette(element));
    read();
    const media = window.matchMedia('(prefers-color-scheme: dark)');
    media.addEventListener('change', read);
    return () => media.removeEventListener('change', read);
  }, [element, theme]);
  return palette;
}
