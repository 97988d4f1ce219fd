import { createLogUpdate } from 'log-update';
import type { SessionUpdate } from '../session/updates.js';
import { createPaint, outcomeLine, runningLine } from './lines.js';

interface RunningCall {
  readonly tool: string;
  title: string;
  state: string;
  startedAt: number;
}

/** Renders a session's updates for a person: text as it streams, one line a call. */
export interface ProgressView {
  show(update: SessionUpdate): void;
  /** Takes the live lines away, to print or to ask something. */
  pause(): void;
  close(): void;
}

const REDRAW_MS = 100;

/** On a terminal the lines of running calls are redrawn in place; elsewhere a call is printed once, when it has ended. */
export function createProgressView(stream: NodeJS.WriteStream, now: () => number = Date.now): ProgressView {
  const paint = createPaint(stream);
  const live = stream.isTTY === true ? createLogUpdate(stream) : undefined;
  const running = new Map<string, RunningCall>();
  const width = () => stream.columns ?? 120;
  let atLineStart = true;
  let ticker: NodeJS.Timeout | undefined;

  const redraw = () => {
    if (!live) return;
    if (running.size === 0) {
      live.clear();
      clearInterval(ticker);
      ticker = undefined;
      return;
    }
    ticker ??= setInterval(redraw, REDRAW_MS).unref();
    live(
      [...running.values()]
        .map((call) => runningLine(call.tool, call.title, call.state, now() - call.startedAt, paint, width()))
        .join('\n'),
    );
  };
  const write = (text: string) => {
    live?.clear();
    stream.write(text);
    atLineStart = text.endsWith('\n');
  };
  const line = (text: string) => {
    write(`${atLineStart ? '' : '\n'}${text}\n`);
    redraw();
  };

  return {
    show(update) {
      switch (update.type) {
        case 'text.delta':
          write(update.text);
          return;
        case 'message.discarded':
          line(paint('yellow', `The answer so far was discarded: ${update.reason}`));
          return;
        case 'call.input':
          running.set(update.callId, { tool: update.tool, title: update.title, state: 'queued', startedAt: now() });
          return redraw();
        case 'call.state': {
          const call = running.get(update.callId) ?? { tool: update.tool, title: update.tool, state: update.state, startedAt: now() };
          call.state = update.state;
          if (update.state === 'yielded') running.delete(update.callId);
          else if (!update.state.startsWith('completed')) running.set(update.callId, call);
          return redraw();
        }
        case 'call.result': {
          const call = running.get(update.callId);
          running.delete(update.callId);
          const ms = call ? now() - call.startedAt : (update.outcome.durationMs ?? 0);
          return line(outcomeLine(update.tool, call?.title ?? update.tool, update.outcome, ms, paint, width()));
        }
        case 'call.late':
          return line(
            paint('yellow', `${update.tool} answered ${update.afterMs} ms after it had been given up; nothing of it reaches the model.`),
          );
        case 'model.retry':
          return line(paint('yellow', `${update.error.message} Asking again in ${update.delayMs} ms (attempt ${update.attempt + 1}).`));
        case 'notice':
          return line(
            paint(update.level === 'error' ? 'red' : update.level === 'warning' ? 'yellow' : 'gray', `${update.level}: ${update.message}`),
          );
        case 'task.started':
          return line(paint('gray', `task ${update.task.id} runs in the background: ${update.task.title}`));
        case 'task.ended':
          return line(paint('gray', `task ${update.task.id} ${update.task.status}: ${update.task.summary ?? update.task.title}`));
        case 'query.ended':
          if (!atLineStart) write('\n');
          if (update.end !== 'completed') line(paint('yellow', `Ended (${update.end}): ${update.reason}`));
          return;
        default:
          return;
      }
    },
    pause() {
      live?.clear();
      if (!atLineStart) write('\n');
    },
    close() {
      clearInterval(ticker);
      live?.clear();
      live?.done();
    },
  };
}
