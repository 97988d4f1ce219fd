import type { Call, Part } from '../model/calls.js';
import { moment } from '../ui/format.js';

export interface Palette {
  readonly part: Readonly<Record<Part, string>>;
  readonly failed: string;
  readonly denied: string;
  readonly grid: string;
  readonly text: string;
  readonly selected: string;
  readonly window: string;
  readonly onBar: string;
  readonly font: string;
}
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

const AXIS = 16;

export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  // Canvas does not know light-dark(): a probe lets the browser resolve it.
  const probe = document.createElement('span');
  element.append(probe);
  const resolve = (name: string): string => {
    probe.style.color = colour(name);
    return getComputedStyle(probe).color;
  };
  const palette: Palette = {
    part: {
      queued: resolve('--part-queued'),
      checks: resolve('--part-checks'),
      hooks: resolve('--part-hooks'),
      asking: resolve('--part-asking'),
      running: resolve('--part-running'),
      unknown: resolve('--part-unknown'),
    },
    failed: resolve('--err'),
    denied: resolve('--warn'),
    grid: resolve('--line'),
    text: resolve('--quiet'),
    selected: resolve('--accent'),
    window: resolve('--accent'),
    onBar: resolve('--fg'),
    font: `10px ${style.fontFamily}`,
  };
  probe.remove();
  return palette;
}

/** A step of 1, 2 or 5 times a power of ten that gives about `wanted` marks. */
export function niceStep(span: number, wanted: number): number {
  const raw = Math.max(span / Math.max(1, wanted), 0.001);
  const power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= raw) ?? power * 10;
}

/** End of a call on the canvas: an unfinished one reaches to now, and none ends before it began. */
export const endOf = (call: Call, now: number): number => Math.max(call.startT, call.endT ?? now);

const problemColour = (call: Call, palette: Palette): string | null =>
  call.outcome === 'denied'
    ? palette.denied
    : call.outcome === 'failed' || call.outcome === 'invalid' || call.isError
      ? palette.failed
      : null;

export interface DrawInput {
  readonly calls: readonly Call[];
  readonly lanes: number;
  readonly now: number;
  readonly window: TimeWindow;
  readonly width: number;
  readonly height: number;
  readonly selected: string | null;
  readonly cursor: number | null;
  readonly palette: Palette;
}

export interface Bar {
  readonly call: Call;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

function laneHeight(height: number, lanes: number): number {
  return Math.max(3, Math.min(18, (height - AXIS - 4) / Math.max(1, lanes)));
}

/** The bars of the window. Ordinary ones narrower than a pixel are drawn once per pixel; problems are never merged away. */
export function draw(context: CanvasRenderingContext2D, input: DrawInput): Bar[] {
  const { calls, lanes, now, window, width, height, selected, cursor, palette } = input;
  const span = Math.max(1e-6, window.to - window.from);
  const x = (t: number): number => ((t - window.from) / span) * width;
  context.clearRect(0, 0, width, height);
  axis(context, window, width, height, palette);
  const lane = laneHeight(height, lanes);
  const gap = lane > 8 ? 3 : lane > 5 ? 2 : 1;
  const bars: Bar[] = [];
  const lastPixel = new Map<number, number>();
  const problems: [Bar, string][] = [];
  let chosen: Bar | null = null;
  for (let at = 0; at < calls.length; at++) {
    const call = calls[at];
    if (!call || call.startT > window.to) break;
    const end = endOf(call, now);
    if (end < window.from) continue;
    const left = x(call.startT);
    const right = Math.max(left + 1.5, x(end));
    const y = AXIS + 3 + call.lane * lane;
    if (y > height) continue;
    const bar: Bar = { call, x: left, y, w: right - left, h: lane - gap };
    const colour = problemColour(call, palette);
    if (colour !== null) problems.push([bar, colour]);
    if (call.toolUseId === selected) chosen = bar;
    const pixel = Math.round(right);
    if (bar.w < 2 && lastPixel.get(call.lane) === pixel && colour === null) continue;
    lastPixel.set(call.lane, pixel);
    bars.push(bar);
    for (const segment of call.segments) {
      const from = x(segment.from);
      const to = x(Math.max(segment.from, segment.to ?? now));
      context.fillStyle = palette.part[segment.part];
      context.fillRect(from, y, Math.max(to - from, segment.part === 'running' ? 1 : 0), bar.h);
    }
    if (call.segments.length === 0) {
      context.fillStyle = palette.part.running;
      context.fillRect(left, y, bar.w, bar.h);
    }
    label(context, bar, width, palette);
  }
  for (const [bar, colour] of problems) {
    context.fillStyle = colour;
    context.fillRect(Math.max(bar.x, bar.x + bar.w - 3), bar.y, Math.min(3, bar.w), bar.h);
  }
  if (chosen) {
    context.strokeStyle = palette.selected;
    context.lineWidth = 2;
    context.strokeRect(chosen.x - 1.5, chosen.y - 1.5, chosen.w + 3, chosen.h + 3);
  }
  if (cursor !== null) {
    context.fillStyle = palette.selected;
    context.fillRect(x(cursor) - 0.5, 0, 1, height);
  }
  return bars;
}

function label(context: CanvasRenderingContext2D, bar: Bar, width: number, palette: Palette): void {
  const room = Math.min(width, bar.x + bar.w) - Math.max(0, bar.x);
  if (bar.h < 11 || room < 44) return;
  context.save();
  context.beginPath();
  context.rect(Math.max(0, bar.x), bar.y, room, bar.h);
  context.clip();
  context.fillStyle = palette.onBar;
  context.font = '10px ui-monospace, "Liberation Mono", monospace';
  context.fillText(`${bar.call.tool} ${bar.call.label}`, Math.max(0, bar.x) + 5, bar.y + bar.h - 3.5);
  context.restore();
}

function axis(context: CanvasRenderingContext2D, window: TimeWindow, width: number, height: number, palette: Palette): void {
  const step = niceStep(window.to - window.from, width / 110);
  context.font = palette.font;
  for (let t = Math.ceil(window.from / step) * step; t <= window.to; t += step) {
    const x = Math.round(((t - window.from) / (window.to - window.from)) * width) + 0.5;
    context.fillStyle = palette.grid;
    context.fillRect(x, AXIS - 3, 1, height);
    context.fillStyle = palette.text;
    context.fillText(tickText(t, step), x + 4, 10);
  }
}

function tickText(t: number, step: number): string {
  if (step >= 1000) {
    const seconds = Math.round(t / 1000);
    return seconds >= 60 ? `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}` : `${seconds} s`;
  }
  return step >= 1 ? `${moment(t).replace(/0{1,2}$/, '')} s` : `${t.toFixed(2)} ms`;
}

/** The whole flow in a strip: how many calls run at each moment, where something failed, and which window is shown. */
export function drawOverview(context: CanvasRenderingContext2D, input: DrawInput & { readonly whole: TimeWindow }): void {
  const { calls, now, window, whole, width, height, palette } = input;
  const span = Math.max(1e-6, whole.to - whole.from);
  const columns = Math.max(1, Math.floor(width / 2));
  const busy = new Float32Array(columns);
  const marks = new Map<number, string>();
  const column = (t: number): number => Math.max(0, Math.min(columns - 1, Math.floor(((t - whole.from) / span) * columns)));
  for (const call of calls) {
    const last = column(endOf(call, now));
    for (let at = column(call.startT); at <= last; at++) busy[at] = (busy[at] ?? 0) + 1;
    const colour = problemColour(call, palette);
    if (colour !== null) marks.set(last, colour);
    else if (call.status === 'asking') marks.set(last, palette.part.asking);
  }
  let most = 1;
  for (const value of busy) most = Math.max(most, value);
  context.clearRect(0, 0, width, height);
  context.fillStyle = palette.part.checks;
  for (const [at, value] of busy.entries()) {
    if (value === 0) continue;
    const h = Math.max(2, (Math.sqrt(value) / Math.sqrt(most)) * (height - 5));
    context.fillRect(at * 2, height - h, 2, h);
  }
  for (const [at, colour] of marks) {
    context.fillStyle = colour;
    context.fillRect(at * 2, 0, 2, 3);
  }
  const left = ((window.from - whole.from) / span) * width;
  const right = ((window.to - whole.from) / span) * width;
  context.fillStyle = palette.window;
  context.globalAlpha = 0.14;
  context.fillRect(left, 0, Math.max(3, right - left), height);
  context.globalAlpha = 1;
  context.fillRect(left, 0, 1.5, height);
  context.fillRect(Math.max(left + 1.5, right - 1.5), 0, 1.5, height);
}
