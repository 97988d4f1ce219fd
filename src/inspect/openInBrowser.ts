import { spawn } from 'node:child_process';
import type { FlowLog } from './flowLog.js';

/** Opens the page where the person looks; a note in the flow says so when that cannot be. */
export function openInBrowser(url: string, log: FlowLog): void {
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open', url]
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler', url]
        : ['xdg-open', url];
  const child = spawn(command ?? 'xdg-open', args, { stdio: 'ignore', detached: true });
  child.on('error', (error) => log.put({ type: 'note', level: 'warning', text: `The browser could not be opened: ${error.message}` }));
  child.unref();
}
