import type { FilePlace, FlowEvent } from '../../../../src/inspect/protocol/flowEvents.js';
import { eventLabel } from '../../../../src/inspect/protocol/graph.js';
import type { Breakpoint } from '../../../../src/inspect/protocol/rpc.js';
import type { PermissionUpdate, VerdictSource } from '../../../../src/permissions/types.js';
import { statePath } from '../ui/format.js';
import { type Call, isUnanswered } from './calls.js';

/** Facts in a person's words. Pure; what it returns is text, never markup. */

/** Who said something: `rule Bash(git push *)`, `hook guard.mjs`, `person (inspector)`. */
export function sourceText(source: VerdictSource | undefined): string {
  switch (source?.type) {
    case undefined:
      return '';
    case 'rule':
      return `rule ${source.rule.text}`;
    case 'hook':
      return `hook ${source.hookName}`;
    case 'mode':
      return `mode ${source.mode}`;
    case 'tool':
      return `tool ${source.toolName}`;
    case 'safety':
      return 'safety check';
    case 'builtIn':
      return 'built in';
    case 'classifier':
      return 'classifier';
    case 'person':
      return `person (${source.surface})`;
    case 'nobody':
      return 'nobody to ask';
    case 'abort':
      return 'abort';
  }
}

/** How a call stands, in a word. */
export function statusText(call: Call): string {
  if (call.status === 'unknown') return call.endT === null ? 'requested' : isUnanswered(call) ? 'no result' : 'unknown';
  return call.status === 'checks' ? 'checking' : call.status === 'hooks' ? 'in hooks' : call.status;
}

/** The "decided by" column. */
export function decidedBy(call: Call): string {
  const decision = call.decisions.at(-1)?.decision;
  if (call.transcript) return 'unknown';
  if (!decision) return call.status === 'asking' ? 'waits for a person' : '';
  const by = sourceText(decision.winner.source) || decision.reason;
  return decision.asked ? `asked, ${by}` : by;
}

export function eventText(event: FlowEvent): string {
  switch (event.type) {
    case 'header':
      return event.name;
    case 'actor.started':
      return event.label === '' ? `${event.name} started` : `${event.name} started: ${event.label}`;
    case 'actor.stopped':
      return event.error === undefined ? event.status : `${event.status}: ${event.error}`;
    case 'event':
      // A line of a transcript is known by what it says.
      if (event.at && event.body) return `${event.event}  ${event.body.preview}`;
      return event.source === null ? eventLabel(event.event) : `${eventLabel(event.event)}  from ${actorTail(event.source)}`;
    case 'ignored':
      return `${eventLabel(event.event)} was not wanted here`;
    case 'transition':
      return `${statesText(event.from)} → ${statesText(event.to)}`;
    case 'decision':
      return `${event.decision.behavior} by ${sourceText(event.decision.winner.source) || 'nobody'}: ${event.decision.reason}`;
    case 'hook':
      return `${event.run.name}: ${event.run.verdict ?? event.run.status} (${Math.round(event.run.ms)} ms)`;
    case 'progress':
      return event.message ?? event.body?.preview ?? '';
    case 'result':
      return `${event.outcome}: ${event.summary}`;
    case 'model':
      if (event.at && event.error === undefined && event.stopReason === undefined) return `answer of ${event.model}`;
      return event.phase === 'request' ? `request to ${event.model}` : `answer ended: ${event.error ?? event.stopReason ?? 'end'}`;
    case 'context':
      return event.body.preview;
    case 'approval':
      return event.phase === 'asked'
        ? 'a person is asked'
        : `${event.behavior ?? event.phase}${event.by === undefined ? '' : ` by ${event.by}`}`;
    case 'control':
      return `${event.action} by ${event.by}${event.event === undefined ? '' : `: ${event.event}`}`;
    case 'error':
      return event.message;
    case 'note':
      return event.text;
    case 'gap':
      return `events ${event.from} to ${event.to} are missing: ${event.reason}`;
  }
}

/** `line 12`, `subagents/agent-a1.jsonl:12`. */
export const placeText = ({ file, line }: FilePlace): string => (file === undefined ? `line ${line}` : `${file}:${line}`);

export function statesText(states: readonly string[]): string {
  return states.length === 0 ? '(start)' : states.map(statePath).join(', ');
}

const actorTail = (id: string): string => id.slice(id.lastIndexOf('/') + 1);

export function breakpointText(breakpoint: Breakpoint): string {
  switch (breakpoint.on) {
    case 'state':
      return `${breakpoint.when} entering ${breakpoint.state}`;
    case 'event':
      return `event ${breakpoint.event}`;
    case 'tool':
      return `tool ${breakpoint.tool}`;
    case 'verdict':
      return `verdict ${breakpoint.behavior}`;
    case 'error':
      return 'any error';
  }
}

const FILES: Readonly<Record<string, string>> = {
  userSettings: 'your user settings',
  projectSettings: 'the project settings (shared)',
  localSettings: 'your local project settings',
  session: 'this session only',
  cliArg: 'this run only',
};

/** What "remember" would write, and where. */
export function suggestionText(update: PermissionUpdate): string {
  const where = FILES[update.destination] ?? update.destination;
  switch (update.type) {
    case 'addRules':
    case 'replaceRules':
    case 'removeRules': {
      const rules = update.rules.map(({ toolName, ruleContent }) => (ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`));
      const verb = { addRules: 'add', replaceRules: 'replace by', removeRules: 'remove' }[update.type];
      return `${verb} ${update.behavior} ${rules.join(', ')} in ${where}`;
    }
    case 'setMode':
      return `switch to mode ${update.mode} in ${where}`;
    case 'addDirectories':
    case 'removeDirectories':
      return `${update.type === 'addDirectories' ? 'add' : 'remove'} ${update.directories.join(', ')} in ${where}`;
  }
}
