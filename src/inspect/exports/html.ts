import { createHash } from 'node:crypto';
import { EMBEDDED_RECORDING_ID, type FlowRecording } from '../protocol/flowEvents.js';
import { encodeRecording } from '../recording.js';
import type { StaticFile } from '../server/staticFiles.js';

/**
 * Page and recording in one file that opens from `file://` with a single request. Its policy admits exactly the inlined
 * script and styles, by hash, and no connection at all.
 */
export function singleFileHtml(recording: FlowRecording, page: ReadonlyMap<string, StaticFile>): string {
  const index = page.get('/index.html');
  if (!index) throw new Error('The inspector page is not built, so it cannot be exported with the recording. Run `npm run build`.');
  const html = index.bytes.toString('utf8');
  const scripts = assets(html, /<script\b[^>]*\bsrc="([^"]+)"[^>]*><\/script>/g, page).map((code) =>
    code.replace(/<\/script/gi, '<\\/script'),
  );
  const styles = assets(html, /<link\b[^>]*\brel="stylesheet"[^>]*\bhref="([^"]+)"[^>]*>/g, page).map((css) =>
    css.replace(/<\/style/gi, '<\\/style'),
  );
  const policy = `default-src 'none'; img-src data:; script-src ${sources(scripts)}; style-src ${sources(styles)}; base-uri 'none'; form-action 'none'`;
  const lang = /<html\b[^>]*>/.exec(html)?.[0] ?? '<html lang="en">';
  // What the body holds besides code, such as positions of charts, is the page's data and goes along.
  const body = (/<body\b[^>]*>([\s\S]*)<\/body>/.exec(html)?.[1] ?? '').replace(/<script\b[^>]*\bsrc=[^>]*><\/script>/g, '').trim();
  return [
    '<!doctype html>',
    lang,
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width">',
    '<link rel="icon" href="data:,">',
    `<title>${escapeHtml(recording.header.name)} – recorded flow</title>`,
    ...styles.map((css) => `<style>${css}</style>`),
    '</head>',
    '<body>',
    body,
    `<script type="text/plain" id="${EMBEDDED_RECORDING_ID}">${encodeRecording(recording).toString('base64')}</script>`,
    ...scripts.map((code) => `<script type="module">${code}</script>`),
    '</body></html>',
  ].join('\n');
}

function assets(html: string, tag: RegExp, page: ReadonlyMap<string, StaticFile>): string[] {
  return [...html.matchAll(tag)].flatMap((match) => {
    const file = page.get(new URL(match[1] ?? '', 'http://page/').pathname);
    return file ? [file.bytes.toString('utf8')] : [];
  });
}

function sources(texts: readonly string[]): string {
  return texts.length === 0 ? "'none'" : texts.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`).join(' ');
}

function escapeHtml(text: string): string {
  const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (char) => escapes[char] ?? char);
}
