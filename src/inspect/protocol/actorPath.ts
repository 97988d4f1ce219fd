const SLASH = 47;

/** True for the actor of a path itself and for every one below it. Called for each event of a flow, so it makes no text. */
export const isBelow = (path: string, ancestor: string): boolean =>
  path === ancestor || (path.startsWith(ancestor) && path.charCodeAt(ancestor.length) === SLASH);
