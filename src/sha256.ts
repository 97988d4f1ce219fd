import * as crypto from 'node:crypto';

/** SHA-256 of a text, in hex. In one step where Node has it (since 20.12): setting up a hash costs more than hashing a small text. */
export const sha256: (text: string) => string =
  'hash' in crypto ? (text) => crypto.hash('sha256', text) : (text) => crypto.createHash('sha256').update(text).digest('hex');
