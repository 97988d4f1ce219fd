import { blocksOf, isBlank, isContentBlock, isLooseBlock, type LooseBlock, textField } from '../messages/blocks.js';
import { cleanUserBlock } from '../messages/clean.js';
import type { ContentBlockParam, DocumentBlockParam, ImageBlockParam } from '../messages/types.js';
import { toWellFormed } from '../messages/wellFormed.js';
import { looseBlock } from '../model/shapes.js';
import { checkDocument, checkImage } from '../results/images.js';

/**
 * A prompt as it can be sent: in well-formed text, without blank parts. What the API would refuse is refused here, while whoever wrote it
 * can still mend it: once in the history it would spoil every later request.
 *
 * @throws TypeError when nothing is said, or a block cannot stand in a prompt; the message names the block.
 */
export function readPrompt(prompt: string | readonly ContentBlockParam[]): string | readonly ContentBlockParam[] {
  const given: unknown = prompt;
  if (typeof given === 'string') {
    if (given.trim() === '') throw new TypeError('A prompt needs a text.');
    return toWellFormed(given);
  }
  if (!Array.isArray(given)) throw new TypeError('A prompt is a text or an array of content blocks.');
  const blocks = blocksOf(given).flatMap((block, index) => {
    const refuse = (why: string): never => {
      throw new TypeError(`The prompt's block ${index} cannot be sent: ${why}.`);
    };
    if (block.type === 'tool_result') refuse('results of calls come from the session');
    if (block.type === 'search_result' && !isWholeSearchResult(block)) refuse('a search result needs a title, a source and a text');
    const checked = isImage(block) ? checkImage(block) : isDocument(block) ? checkDocument(block) : undefined;
    if (checked?.ok === false) refuse(checked.note.replace(/^\[|\]$/g, ''));
    const proven = checked?.ok === true ? looseBlock(checked.block) : block;
    const clean = cleanUserBlock(proven, ({ text }) => refuse(text.replace(/^Set aside: |\.$/g, '')));
    return isContentBlock(clean) ? [clean] : [];
  });
  if (blocks.length === 0) throw new TypeError('A prompt needs a text.');
  return blocks;
}

const isImage = (block: unknown): block is ImageBlockParam => isLooseBlock(block) && block.type === 'image';
const isDocument = (block: unknown): block is DocumentBlockParam => isLooseBlock(block) && block.type === 'document';

const isWholeSearchResult = ({ title, source, content }: LooseBlock): boolean =>
  typeof title === 'string' &&
  typeof source === 'string' &&
  blocksOf(content).length > 0 &&
  blocksOf(content).every((part) => part.type === 'text' && !isBlank(textField(part, 'text')));
