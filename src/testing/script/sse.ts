import { readWireEvent } from '../../model/wire.js';

/** One server-sent event of a recorded response. */
export interface RecordedEvent {
  readonly name: string | null;
  readonly data: string;
}

/** Splits recorded server-sent events. Comments are skipped; several `data:` lines are joined by a newline, as the standard says. */
export function splitSse(text: string): readonly RecordedEvent[] {
  const events: RecordedEvent[] = [];
  let name: string | null = null;
  let data: string[] = [];
  for (const line of `${text}\n\n`.split(/\r\n|\n|\r/)) {
    if (line === '') {
      if (name !== null || data.length > 0) events.push({ name, data: data.join('\n') });
      name = null;
      data = [];
    } else if (line.startsWith('event:')) name = line.slice(6).trim();
    else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
  }
  return events;
}

/** The JSON events in recorded server-sent events; data that is no JSON is left out. */
export function parseSse(text: string): readonly unknown[] {
  return splitSse(text).flatMap(({ name, data }) => {
    const wire = readWireEvent(name, data);
    return wire.kind === 'event' ? [wire.event] : [];
  });
}
