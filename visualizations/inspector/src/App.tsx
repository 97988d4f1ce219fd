import { type CSSProperties, useEffect, useState } from 'react';
import { followTarget } from './model/actions.js';
import type { Inspector } from './model/inspector.js';
import { ActorTree } from './panels/ActorTree.js';
import { Approvals } from './panels/Approvals.js';
import { Banners } from './panels/Banners.js';
import { ChartPanel } from './panels/ChartPanel.js';
import { Details } from './panels/Details.js';
import { GateStrip } from './panels/GateStrip.js';
import { Header } from './panels/Header.js';
import { Help } from './panels/Help.js';
import { Log } from './panels/Log.js';
import { Timeline } from './panels/Timeline.js';
import { Transport } from './panels/Transport.js';
import { Welcome } from './panels/Welcome.js';
import { InspectorContext, useFlowVersion, useRemote, useSize, useView } from './ui/hooks.js';
import { useKeys } from './ui/keys.js';
import { Splitters } from './ui/Splitters.js';

export function App({ inspector }: { readonly inspector: Inspector }) {
  return (
    <InspectorContext value={inspector}>
      <Page inspector={inspector} />
    </InspectorContext>
  );
}

function Page({ inspector }: { readonly inspector: Inspector }) {
  const view = useView();
  const remote = useRemote();
  const version = useFlowVersion();
  useKeys(inspector);

  // Follows what is going on until a person chooses something.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version stands for the flow, which is changed in place
  useEffect(() => {
    if (!view.follow) return;
    const call = followTarget(inspector);
    const actor = call?.actor ?? inspector.flow.roots[0] ?? null;
    if (actor !== view.actor || (call?.toolUseId ?? null) !== view.call) inspector.view.patch({ actor, call: call?.toolUseId ?? null });
  }, [inspector, version, view.follow, view.actor, view.call]);

  useEffect(() => {
    document.documentElement.dataset.theme = view.theme;
  }, [view.theme]);
  const waiting = remote.approvals.length;
  const name = inspector.flow.header?.name;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${name === undefined ? '' : `${name} · `}Sixgates inspector`;
  }, [waiting, name]);

  // Menus open below what waits for a person, never over it.
  const [above, setAbove] = useState<HTMLDivElement | null>(null);
  const { height } = useSize(above);
  const empty = inspector.flow.events.length === 0;
  const transcript = inspector.flow.isTranscript;
  return (
    <div className="app" style={{ '--above': `${height}px` } as CSSProperties}>
      <Header />
      <div className="above" ref={setAbove}>
        <Approvals />
        <Banners />
      </div>
      {empty ? (
        <Welcome />
      ) : (
        <Splitters
          left={<ActorTree />}
          right={<Details />}
          top={
            <>
              <GateStrip />
              {transcript ? (
                <p className="unrecorded">Read from a transcript: gates, hooks, decisions and states are not in it, so they are unknown.</p>
              ) : (
                <ChartPanel />
              )}
            </>
          }
          middle={<Timeline />}
          bottom={<Log />}
          flatTop={transcript}
        />
      )}
      <Transport />
      {view.menu === 'help' && <Help />}
    </div>
  );
}
