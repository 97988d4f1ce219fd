import { Fragment } from 'react';

/**
 * Characters that move, hide or reorder text: controls but line break and tab, format characters (bidirectional, zero-width,
 * tags, soft hyphen), fillers, line separators and variation selectors. Whoever approves an input must see that they are there.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\u115f\u1160\u17b4\u17b5\u2028\u2029\u3164\uffa0]|\p{Variation_Selector}/gu;
const LAYOUT = new Set(['\n', '\t']);

export interface TextPiece {
  readonly text: string;
  readonly hidden: boolean;
}

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

export function visiblePieces(text: string): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (LAYOUT.has(match[0])) continue;
    if (match.index > from) pieces.push({ text: text.slice(from, match.index), hidden: false });
    pieces.push({ text: escapeOf(match[0]), hidden: true });
    from = match.index + match[0].length;
  }
  if (from < text.length || pieces.length === 0) pieces.push({ text: text.slice(from), hidden: false });
  return pieces;
}

/** Text of strangers: shown as it is, never as markup, with hidden characters written out. */
export function Visible({ text }: { readonly text: string }) {
  const pieces = visiblePieces(text);
  if (pieces.length === 1 && pieces[0]?.hidden === false) return <>{text}</>;
  return (
    <>
      {pieces.map((piece, index) =>
        piece.hidden ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text never move
          <mark className="hidden-char" key={index}>
            {piece.text}
          </mark>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text never move
          <Fragment key={index}>{piece.text}</Fragment>
        ),
      )}
    </>
  );
}
