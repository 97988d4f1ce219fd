import { errorCode } from '../tool/errors.js';

/** What to do where a transcript cannot be written, by what the system says. */
export function placeAdvice(error: unknown): string {
  const code = errorCode(error);
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  return isFull ? 'Free the disk, or keep sessions elsewhere (SIXGATES_DATA_DIR).' : 'Keep sessions elsewhere (SIXGATES_DATA_DIR).';
}
