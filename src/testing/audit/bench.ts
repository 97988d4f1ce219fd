import { PermissionEngine } from '../../permissions/engine.js';
import { type Explanation, explainCall } from '../../permissions/explain.js';
import { nodePathFs } from '../../permissions/paths.js';
import type { PermissionMode, PermissionRule } from '../../permissions/types.js';
import { boundsOf } from '../../settings/load.js';
import type { LoadedSettings } from '../../settings/types.js';
import type { AnyTool } from '../../tool/types.js';
import type { CallCase } from '../explore/types.js';
import { spell } from '../spelling/index.js';
import type { Thoroughness } from '../spelling/shell.js';
import type { Witness } from './finding.js';

/** Judges calls under the settings that are audited, with the permission machine itself. */
export class AuditBench {
  private readonly full: PermissionEngine;
  private readonly links = new Map<string, string>();

  constructor(
    readonly settings: LoadedSettings,
    readonly cwd: string,
    readonly home: string,
    readonly tools: readonly AnyTool[],
  ) {
    this.full = this.engine(settings.rules);
  }

  get mode(): PermissionMode {
    return this.settings.mode;
  }

  explain(call: Pick<CallCase, 'tool' | 'input' | 'links'>): Explanation {
    return this.explainWith(this.full, call);
  }

  /** The same without one of the rules. */
  without(rule: PermissionRule): (call: CallCase) => Explanation {
    const engine = this.engine(this.settings.rules.filter((other) => other !== rule));
    return (call) => this.explainWith(engine, call);
  }

  facts(call: CallCase) {
    return this.full.facts({ toolName: call.tool, input: call.input });
  }

  bash(command: string): CallCase {
    return { tool: 'Bash', input: { command }, text: `Bash(${command})` };
  }

  /** Calls that a rule speaks of, plainly or in every spelling. */
  spell(rule: Pick<PermissionRule, 'text' | 'root'>, thoroughness: Thoroughness): readonly CallCase[] {
    const { cwd, home, tools } = this;
    const allowed = this.settings.rules.flatMap(({ behavior, toolName, ruleContent }) =>
      behavior === 'allow' && toolName === 'Bash' && ruleContent !== undefined ? [ruleContent] : [],
    );
    return spell(rule.text, { cwd, home, root: rule.root, tools, thoroughness, allowed });
  }

  witness(call: CallCase, { decision, reason }: Explanation): Witness {
    const how = call.spelling === undefined ? '' : ` (${call.spelling})`;
    return { call: `${call.text}${how}`, mode: this.mode, decision, reason };
  }

  private explainWith(engine: PermissionEngine, call: Pick<CallCase, 'tool' | 'input' | 'links'>): Explanation {
    this.links.clear();
    for (const [path, target] of Object.entries(call.links ?? {})) this.links.set(path, target);
    return explainCall(engine, { toolName: call.tool, input: call.input });
  }

  private engine(rules: readonly PermissionRule[]): PermissionEngine {
    const { settings, cwd, home, tools, links } = this;
    return new PermissionEngine({
      rules,
      mode: settings.mode,
      cwd,
      home,
      ...boundsOf(settings),
      canAsk: true,
      toolNames: tools.map(({ name }) => name),
      fs: { readlink: (path) => links.get(path) ?? nodePathFs.readlink(path), readdir: (path) => nodePathFs.readdir(path) },
    });
  }
}
