/** What is packed again on its way (uploads, archives) is packed once or twice more, not endlessly. */
export const MOST_LAYERS = 4;

/** Warns of a packed file whose end is missing. */
export const CUT_SHORT = 'The file was cut short; what could be read is shown.';

/** Whether bytes begin as those of gzip do. Source: RFC 1952. */
export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;
