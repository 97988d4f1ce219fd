import { useMemo } from 'react';
import { selectCall } from '../model/actions.js';
import { type Call, isProblem, isUnanswered } from '../model/calls.js';
import { decidedBy, statusText } from '../model/describe.js';
import { choiceKey, filterCalls } from '../model/filter.js';
import { duration } from '../ui/format.js';
import { useFlowVersion, useInspector, useTicks, useView } from '../ui/hooks.js';
import { Rows } from '../ui/Rows.js';
import { Visible } from '../ui/visible.js';
import { GatePips } from './GateStrip.js';
import { NothingMatches } from './NothingMatches.js';

/** One row a tool call. */
export function CallTable() {
  const inspector = useInspector();
  const view = useView();
  const version = useFlowVersion();
  const { flow } = inspector;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version stands for the flow, which is changed in place
  const calls = useMemo(
    () => filterCalls(flow, view, view.travel),
    [version, view.filter, view.scope, view.problemsOnly, view.range, view.travel],
  );
  useTicks(view.travel === null && flow.activeCalls.size > 0, 500);
  const current = view.call === null ? -1 : indexOfCall(calls, view.call, flow.call(view.call)?.index ?? -1);
  if (flow.calls.length === 0) return <NoCalls />;
  return (
    <>
      <Rows
        id="calls"
        label="Tool calls"
        role="grid"
        className="table calls"
        columns={8}
        count={calls.length}
        rowHeight={25}
        current={current}
        tail={view.filter === ''}
        place={choiceKey(view)}
        onMove={(index) => {
          const call = calls[index];
          if (call) selectCall(inspector, call);
        }}
        onOpen={() => inspector.view.patch({ details: 'why' })}
        head={
          <div className="table-head" aria-hidden="true">
            <span className="right">#</span>
            <span>Turn</span>
            <span>Tool</span>
            <span>Input</span>
            <span>Gates</span>
            <span>Status</span>
            <span>Decided by</span>
            <span className="right">Time</span>
          </div>
        }
        row={(index) => {
          const call = calls[index];
          if (!call) return null;
          return (
            <CallRow
              call={flow.callAt(call, view.travel)}
              id={`calls-${index}`}
              row={index}
              selected={index === current}
              now={flow.lastT}
              onSelect={() => selectCall(inspector, call)}
            />
          );
        }}
      />
      {calls.length === 0 && <NothingMatches hidden={flow.calls.length} what="call" />}
    </>
  );
}

function CallRow(props: {
  readonly call: Call;
  readonly id: string;
  readonly row: number;
  readonly selected: boolean;
  readonly now: number;
  readonly onSelect: () => void;
}) {
  const { call, id, row, selected, now, onSelect } = props;
  return (
    <div
      id={id}
      className={`table-row${selected ? ' selected' : ''}`}
      role="row"
      aria-rowindex={row + 1}
      aria-selected={selected}
      onClick={onSelect}
      data-call={call.toolUseId}
    >
      <span role="gridcell" className="right quiet num">
        {call.index + 1}
      </span>
      <span role="gridcell" className="quiet num" title={call.agent}>
        {call.agent === '' ? '' : '↳'}
        {call.turn || ''}
      </span>
      <span role="gridcell" className="strong">
        <Visible text={call.tool} />
      </span>
      <span role="gridcell" className="mono" title={call.label}>
        <Visible text={call.label} />
      </span>
      <span role="gridcell">
        <GatePips call={call} />
      </span>
      <span role="gridcell" className={`status ${isProblem(call) && call.outcome === 'succeeded' ? 'failed' : call.status}`}>
        {statusText(call)}
      </span>
      <span role="gridcell" className="quiet" title={decidedBy(call)}>
        {decidedBy(call)}
      </span>
      <span role="gridcell" className="right num">
        {isUnanswered(call) ? 'unknown' : duration((call.endT ?? now) - call.startT)}
      </span>
    </div>
  );
}

/** Rows are in order of start, so the place of a call in a part of them can be searched for. */
function indexOfCall(calls: readonly Call[], toolUseId: string, index: number): number {
  let low = 0;
  let high = calls.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((calls[middle]?.index ?? 0) < index) low = middle + 1;
    else high = middle;
  }
  return calls[low]?.toolUseId === toolUseId ? low : -1;
}

function NoCalls() {
  const { flow } = useInspector();
  const view = useView();
  useTicks(flow.modelWaitsSince !== null, 1000);
  if (flow.modelWaitsSince === null || view.travel !== null || flow.header === null) {
    return <p className="empty">No tool has been called yet.</p>;
  }
  const since = Date.now() - (flow.header.startedAt + flow.modelWaitsSince);
  return <p className="empty">The model is answering ({duration(Math.max(0, since))}). Calls appear here as soon as it asks for one.</p>;
}
