import type { ReactNode } from 'react';

/** Icons are drawn here, so that no font and no network is needed. 16 px grid, 1.5 px lines, colour of the text. */
const shapes = {
  pause: <path d="M5.5 3.5v9M10.5 3.5v9" strokeWidth="2.2" />,
  play: <path d="M5 3.2v9.6l7.5-4.8z" fill="currentColor" strokeWidth="1" />,
  step: (
    <>
      <path d="M3 7.5a5 5 0 0 1 9.6-1.6" />
      <path d="M13.2 2.8v3.4H9.8" />
      <circle cx="8" cy="12" r="1.6" fill="currentColor" stroke="none" />
    </>
  ),
  runToEnd: (
    <>
      <path d="M3 3.5v9l6-4.5z" fill="currentColor" strokeWidth="1" />
      <path d="M12.5 3.5v9" strokeWidth="2" />
    </>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.2" />
      <path d="M10.2 10.2 13.5 13.5" />
    </>
  ),
  export: (
    <>
      <path d="M8 2.5v7M5.2 6.8 8 9.6l2.8-2.8" />
      <path d="M3 11.5v2h10v-2" />
    </>
  ),
  help: (
    <>
      <path d="M5.8 6a2.2 2.2 0 1 1 3.3 1.9c-.8.5-1.1.9-1.1 1.8" />
      <circle cx="8" cy="12.4" r=".9" fill="currentColor" stroke="none" />
    </>
  ),
  sun: (
    <>
      <circle cx="8" cy="8" r="2.8" />
      <path d="M8 1.8v1.5M8 12.7v1.5M1.8 8h1.5M12.7 8h1.5M3.6 3.6l1.1 1.1M11.3 11.3l1.1 1.1M12.4 3.6l-1.1 1.1M4.7 11.3l-1.1 1.1" />
    </>
  ),
  moon: <path d="M12.8 9.6A5.2 5.2 0 0 1 6.4 3.2a5.2 5.2 0 1 0 6.4 6.4z" />,
  auto: (
    <>
      <circle cx="8" cy="8" r="5.2" />
      <path d="M8 2.8a5.2 5.2 0 0 1 0 10.4z" fill="currentColor" stroke="none" />
    </>
  ),
  chevron: <path d="M6 4l4 4-4 4" />,
  close: <path d="M4 4l8 8M12 4l-8 8" />,
  check: <path d="M3.5 8.5 6.5 11.5 12.5 4.8" />,
  cross: <path d="M4.5 4.5l7 7M11.5 4.5l-7 7" />,
  minus: <path d="M4 8h8" />,
  plus: <path d="M8 4v8M4 8h8" />,
  fit: <path d="M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3" />,
  target: (
    <>
      <circle cx="8" cy="8" r="3.6" />
      <path d="M8 1.8v3M8 11.2v3M1.8 8h3M11.2 8h3" />
    </>
  ),
  first: <path d="M4 3.5v9M12 3.5 6.5 8l5.5 4.5z" />,
  back: <path d="M10.5 3.5 5 8l5.5 4.5z" />,
  forward: <path d="M5.5 3.5 11 8l-5.5 4.5z" />,
  last: <path d="M12 3.5v9M4 3.5 9.5 8 4 12.5z" />,
  person: (
    <>
      <circle cx="8" cy="5.2" r="2.4" />
      <path d="M3.2 13.2c.6-2.6 2.4-3.9 4.8-3.9s4.2 1.3 4.8 3.9" />
    </>
  ),
  more: (
    <>
      <circle cx="3.5" cy="8" r="1.2" fill="currentColor" stroke="none" />
      <circle cx="8" cy="8" r="1.2" fill="currentColor" stroke="none" />
      <circle cx="12.5" cy="8" r="1.2" fill="currentColor" stroke="none" />
    </>
  ),
  open: <path d="M2.5 12.5v-9h4l1.4 1.8h5.6v7.2z" />,
  gate: (
    <>
      <path d="M2.5 13.5v-11M13.5 13.5v-11" />
      <path d="M2.5 5.2h11M5.5 5.2v8.3M8 5.2v8.3M10.5 5.2v8.3" strokeWidth="1.2" />
    </>
  ),
  warning: (
    <>
      <path d="M8 2.5 14 13H2z" />
      <path d="M8 6.4v3M8 11.2v.2" />
    </>
  ),
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof shapes;

export function Icon({ name, size = 14 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {shapes[name]}
    </svg>
  );
}
