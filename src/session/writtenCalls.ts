import { isContentBlock, type LooseBlock, textField } from '../messages/blocks.js';
import { withToolset } from '../messages/clean.js';
import type { ContentBlockParam } from '../messages/types.js';
import { looseBlock } from '../model/shapes.js';

/** The calls that were ever written down: their ids must not be given again, and results are told of by them. */
export class WrittenCalls {
  private readonly ids = new Set<string>();
  /** Calls of members of a toolset, whose results must name it. */
  private readonly ofToolsets = new Map<string, LooseBlock>();

  /** `before` are ids of calls that no present history need hold. */
  constructor(private readonly before: ReadonlySet<string>) {}

  add(call: LooseBlock): void {
    const id = textField(call, 'id');
    this.ids.add(id);
    if (call.toolset_name !== undefined) this.ofToolsets.set(id, call);
  }

  has(id: string): boolean {
    return this.ids.has(id) || this.before.has(id);
  }

  /** Whether any was added: one that stands in the history, or once did. */
  get hasAny(): boolean {
    return this.ids.size > 0;
  }

  /** The block, with the name of the toolset where it is the result of a call out of one. */
  inToolset(block: ContentBlockParam): ContentBlockParam {
    if (block.type !== 'tool_result') return block;
    const loose = looseBlock(block);
    const named = withToolset(loose, this.ofToolsets.get(block.tool_use_id));
    return named !== loose && isContentBlock(named) ? named : block;
  }
}
