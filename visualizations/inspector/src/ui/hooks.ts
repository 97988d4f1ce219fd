import { createContext, useContext, useEffect, useState, useSyncExternalStore } from 'react';
import type { Inspector } from '../model/inspector.js';
import type { Remote } from '../model/remote.js';
import type { View } from '../model/view.js';

export const InspectorContext = createContext<Inspector | null>(null);

export function useInspector(): Inspector {
  const inspector = useContext(InspectorContext);
  if (!inspector) throw new Error('No inspector above this component.');
  return inspector;
}
/** Renders again when the flow has grown; returns a number that changes with it. */
export function useFlowVersion(): number {
  const { pulse } = useInspector();
  return useSyncExternalStore(pulse.subscribe, pulse.version);
}
/** Renders again when more of a body has come. */
export function useBodiesVersion(): number {
  const { bodyPulse } = useInspector();
  return useSyncExternalStore(bodyPulse.subscribe, bodyPulse.version);
}
export function useView(): View {
  const { view } = useInspector();
  return useSyncExternalStore(view.subscribe, view.get);
}
export function useRemote(): Remote {
  const { remote } = useInspector();
  return useSyncExternalStore(remote.subscribe, remote.get);
}

/** Renders again every `ms` while `on`, for countdowns and running times. */
export function useTicks(on: boolean, ms: number): void {
  const [, tick] = useState(0);
  useEffect(() => {
    if (!on) return;
    const timer = setInterval(() => tick((count) => count + 1), ms);
    return () => clearInterval(timer);
  }, [on, ms]);
}

/** Size of an element, followed while it is mounted. */
export function useSize(element: HTMLElement | null): { readonly width: number; readonly height: number } {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useEffect(() => {
    if (!element) return;
    const observer = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    observer.observe(element);
    return () => observer.disconnect();
  }, [element]);
  return size;
}
