import type { McpServerStatus } from '../mcp/servers.js';
import type { SessionUpdate } from '../session/updates.js';
import { CallTree, type TreeRow } from './callTree.js';
import { clip, duration, outcomeLine, printable, runningLine, visible } from './lines.js';
import type { Screen } from './screen.js';

/** Renders a session's updates for a person: text as it streams, one line a call. */
export interface ProgressView {
  show(update: SessionUpdate): void;
  close(): void;
}

export interface ProgressOptions {
  readonly now?: () => number;
  /**
   * Where nobody watches: the text of the last answer is left to whoever prints it, and only text before further calls is shown.
   * Default false: all text is shown as it streams.
   */
  readonly withholdAnswer?: boolean;
}

const REDRAW_MS = 100;
/** Where the running calls stand among a screen's footers. */
const POSITION = 0;

/** On a terminal the lines of running calls are redrawn in place; elsewhere a call is printed once, when it has ended. */
export function createProgressView(screen: Screen, { now = Date.now, withholdAnswer = false }: ProgressOptions = {}): ProgressView {
  const { paint } = screen;
  const tree = new CallTree();
  let ticker: NodeJS.Timeout | undefined;
  let removeFooter: (() => void) | undefined;
  let withheld = '';

  const row = ({ depth, item }: TreeRow, width: number): string => {
    if (item.kind === 'call') {
      const { startedAt, ...call } = item.call;
      return runningLine({ ...call, ms: now() - startedAt }, paint, {
        width,
        depth,
      });
    }
    const { id, title, startedAt } = item.task;
    return paint('gray', clip(`◌ ${id}  ${title}  in the background  ${duration(now() - startedAt)}`, width));
  };
  const footer = (width: number): readonly string[] => {
    const rows = tree.rows();
    const room = Math.max(2, Math.floor(screen.height / 2));
    const shown = rows.length > room ? rows.slice(0, room - 1) : rows;
    const more = rows.length - shown.length;
    return [...shown.map((one) => row(one, width)), ...(more > 0 ? [paint('gray', clip(`  … and ${more} more`, width))] : [])];
  };
  const settle = () => {
    if (!screen.isLive) return;
    if (tree.isEmpty) {
      clearInterval(ticker);
      ticker = undefined;
      removeFooter?.();
      removeFooter = undefined;
      return;
    }
    ticker ??= setInterval(() => screen.refresh(), REDRAW_MS).unref();
    removeFooter ??= screen.addFooter(POSITION, footer);
  };
  const releaseText = () => {
    if (withheld.trim() !== '') screen.print(printable(withheld.trimEnd()));
    withheld = '';
  };
  const print = (line: string) => {
    releaseText();
    screen.print(line);
  };

  const call = (update: Extract<SessionUpdate, { type: 'call.result' }>, agentId: string | undefined) => {
    const ended = tree.end(update.callId, agentId);
    const facts = {
      tool: update.tool,
      title: ended?.title ?? update.tool,
      ms: ended ? now() - ended.startedAt : (update.outcome.durationMs ?? 0),
      agent: agentId === undefined ? undefined : tree.agentName(agentId),
    };
    print(outcomeLine(facts, update.outcome, paint, { width: screen.width, depth: tree.depthOf(agentId) }));
  };
  const show = (update: SessionUpdate, agentId?: string): void => {
    const warn = (text: string) => print(paint('yellow', visible(text)));
    const server = ({ name, status, detail }: McpServerStatus) => {
      if (status === 'failed') warn(`MCP server ${name} failed: ${detail ?? 'no reason given'}`);
      // What a person has turned off is no news; what waits for a flag of this command line is.
      if (status === 'disabled' && detail?.includes('--trust') === true) warn(`MCP server ${name} is ${detail}`);
    };
    switch (update.type) {
      case 'agent.update':
        show(update.update, update.agentId);
        return;
      case 'text.delta':
        if (withholdAnswer) withheld += update.text;
        else screen.stream(update.text);
        return;
      case 'message.discarded':
        if (agentId === undefined) withheld = '';
        warn(`The answer so far was discarded: ${update.reason}`);
        return;
      case 'call.result':
        call(update, agentId);
        return;
      case 'call.late':
        warn(`${update.tool} answered ${update.afterMs} ms after it had been given up; nothing of it reaches the model.`);
        return;
      case 'model.retry':
        warn(`${update.error.message} Asking again in ${duration(update.delayMs)} (attempt ${update.attempt + 1}).`);
        return;
      case 'server.status':
        server(update.server);
        return;
      case 'session.started':
        if (agentId === undefined) update.servers.forEach(server);
        return;
      case 'notice': {
        const style = update.level === 'error' ? 'red' : update.level === 'warning' ? 'yellow' : 'gray';
        // What settings files have to say begins with how grave it is.
        const level = /^(error|warning): /.test(update.message) ? '' : `${update.level}: `;
        print(paint(style, `${level}${visible(update.message)}`));
        return;
      }
      case 'task.started':
        print(paint('gray', clip(`◌ ${update.task.id} runs in the background: ${update.task.title}`, screen.width)));
        return;
      case 'task.ended': {
        const { id, status, title, summary } = update.task;
        print(paint('gray', clip(`◌ ${id} ${status}: ${summary || title}`, screen.width)));
        return;
      }
      case 'session.compacted':
        print(paint('gray', `A summary stands for the first ${update.summarized} messages now; ${update.kept} stay as they are.`));
        return;
      case 'turn.started':
        if (agentId !== undefined) return;
        screen.endText();
        releaseText();
        return;
      case 'query.ended':
        // An agent's end is its call's result.
        if (agentId !== undefined) return;
        screen.endText();
        if (update.end === 'completed') withheld = '';
        else warn(`Ended (${update.end}): ${update.reason}`);
        return;
      default:
        return;
    }
  };

  return {
    show(update) {
      tree.see(update, now());
      show(update);
      settle();
    },
    close() {
      releaseText();
      clearInterval(ticker);
      removeFooter?.();
    },
  };
}
