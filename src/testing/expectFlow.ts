import type { AnyStateMachine } from 'xstate';
import * as machines from '../../machines/index.js';
import type { FlowRecording } from '../inspect/protocol/flowEvents.js';
import { readRecording } from '../inspect/recording.js';
import { type ReplayReport, replayRecording } from '../inspect/replay.js';

/** What can be expected of a recorded flow. */
export interface FlowExpectation {
  /**
   * Folds the recorded events through the machines of today and compares every state. Runs nothing.
   *
   * @param more - Machines besides the library's own, by which actors of the recording were driven.
   * @throws when a state differs, naming actor, event and both states; and when nothing could be compared.
   */
  toReplay(more?: Iterable<AnyStateMachine>): ReplayReport;
}

/** A recorded flow as a test: `expectFlow('flows/question.flow.jsonl.gz').toReplay()`. */
export function expectFlow(source: FlowRecording | string): FlowExpectation {
  const recording = typeof source === 'string' ? readRecording(source) : source;
  return {
    toReplay: (more = []) => {
      const own: readonly AnyStateMachine[] = Object.values(machines).filter(isMachine);
      const report = replayRecording(recording, [...own, ...more]);
      if (report.mismatches.length > 0) {
        const list = report.mismatches.map(({ message }) => message).join('\n  ');
        throw new Error(`The flow ${recording.header.name} no longer goes as recorded:\n  ${list}`);
      }
      if (report.steps === 0) {
        const why = report.skipped.map(({ actor, reason }) => `${actor}: ${reason}`).join('\n  ');
        throw new Error(`Nothing of the flow ${recording.header.name} could be replayed:\n  ${why}`);
      }
      return report;
    },
  };
}

const isMachine = (value: unknown): value is AnyStateMachine =>
  typeof value === 'object' && value !== null && 'root' in value && 'implementations' in value;
