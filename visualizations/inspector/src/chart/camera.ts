import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { ChartBox, ChartLayout } from './chartLayout.js';

/** The part of a chart that is seen: `x`, `y` of its top left corner in chart units, and the scale. */
export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}
interface Pane {
  readonly width: number;
  readonly height: number;
}

const MIN_SCALE = 0.15;
const MAX_SCALE = 2.5;
const MARGIN = 12;

export const inView = (camera: Camera, pane: Pane, box: ChartBox): boolean =>
  box.x >= camera.x &&
  box.y >= camera.y &&
  box.x + box.w <= camera.x + pane.width / camera.scale &&
  box.y + box.h <= camera.y + pane.height / camera.scale;

/** A camera with these boxes in its middle, kept within the chart. */
function lookAt(layout: ChartLayout, pane: Pane, scale: number, boxes: readonly ChartBox[]): Camera {
  const left = Math.min(...boxes.map((box) => box.x));
  const right = Math.max(...boxes.map((box) => box.x + box.w));
  const top = Math.min(...boxes.map((box) => box.y));
  const bottom = Math.max(...boxes.map((box) => box.y + box.h));
  const clamp = (middle: number, all: number, seen: number): number =>
    seen >= all ? (all - seen) / 2 : Math.max(-MARGIN, Math.min(all - seen + MARGIN, middle - seen / 2));
  const [width, height] = [pane.width / scale, pane.height / scale];
  return { x: clamp((left + right) / 2, layout.width, width), y: clamp((top + bottom) / 2, layout.height, height), scale };
}

/**
 * The camera of a chart. It holds still while what is active stays in view, and moves only as far as it must; a person who
 * pans has it to herself until Follow is switched on again.
 */
export function useCamera(layout: ChartLayout, pane: Pane, active: readonly ChartBox[], follow: boolean, setFollow: (on: boolean) => void) {
  const [camera, setCamera] = useState<Camera>({ x: 0, y: 0, scale: 1 });
  const placed = useRef<ChartLayout | null>(null);
  const activeKey = active.map((box) => box.id).join();

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the list, which is new with every render
  useLayoutEffect(() => {
    if (pane.width === 0) return;
    setCamera((now) => {
      const fresh = placed.current !== layout;
      placed.current = layout;
      const target = active.length > 0 ? active : layout.boxes.slice(0, 1);
      if (fresh) return lookAt(layout, pane, now.scale, active.length > 0 ? active : [{ id: '', x: 0, y: 0, w: 0, h: 0, depth: 0 }]);
      if (!follow || target.every((box) => inView(now, pane, box)) || active.length === 0) return now;
      return lookAt(layout, pane, now.scale, target);
    });
  }, [layout, pane.width, pane.height, activeKey, follow]);

  const zoom = useCallback(
    (factor: number, at?: { readonly x: number; readonly y: number }) =>
      setCamera((now) => {
        const scale = Math.max(MIN_SCALE, Math.min(MAX_SCALE, now.scale * factor));
        const [px, py] = at ? [at.x, at.y] : [pane.width / 2, pane.height / 2];
        return { scale, x: now.x + px / now.scale - px / scale, y: now.y + py / now.scale - py / scale };
      }),
    [pane.width, pane.height],
  );
  const fit = (): void => {
    const scale = Math.min(1, pane.width / (layout.width + MARGIN), pane.height / (layout.height + MARGIN));
    setCamera(lookAt(layout, pane, scale, layout.boxes));
  };
  const actualSize = (): void => setCamera(lookAt(layout, pane, 1, active.length > 0 ? active : layout.boxes.slice(0, 1)));
  const center = (box: ChartBox): void => setCamera((now) => lookAt(layout, pane, now.scale, [box]));

  /** Wheel and drag. Attached by hand, because React's wheel listener is passive and could not keep the page still. */
  const attach = (element: HTMLElement | null): (() => void) | undefined => {
    if (!element) return undefined;
    const wheel = (event: WheelEvent): void => {
      event.preventDefault();
      const bounds = element.getBoundingClientRect();
      if (event.ctrlKey || event.metaKey) {
        zoom(event.deltaY < 0 ? 1.12 : 1 / 1.12, { x: event.clientX - bounds.left, y: event.clientY - bounds.top });
        return;
      }
      setFollow(false);
      setCamera((now) => ({ ...now, x: now.x + event.deltaX / now.scale, y: now.y + event.deltaY / now.scale }));
    };
    const down = (event: PointerEvent): void => {
      if (event.button !== 0 || (event.target instanceof Element && event.target.closest('[data-state],button'))) return;
      let [x, y] = [event.clientX, event.clientY];
      const move = (moved: PointerEvent): void => {
        const [dx, dy] = [moved.clientX - x, moved.clientY - y];
        [x, y] = [moved.clientX, moved.clientY];
        setFollow(false);
        setCamera((now) => ({ ...now, x: now.x - dx / now.scale, y: now.y - dy / now.scale }));
      };
      const up = (): void => {
        window.removeEventListener('pointermove', move);
        window.removeEventListener('pointerup', up);
      };
      window.addEventListener('pointermove', move);
      window.addEventListener('pointerup', up);
    };
    element.addEventListener('wheel', wheel, { passive: false });
    element.addEventListener('pointerdown', down);
    return () => {
      element.removeEventListener('wheel', wheel);
      element.removeEventListener('pointerdown', down);
    };
  };
  const attached = useRef(attach);
  attached.current = attach;
  const [element, setElement] = useState<HTMLElement | null>(null);
  useEffect(() => attached.current(element), [element]);

  return { camera, zoom, fit, actualSize, center, setElement };
}
