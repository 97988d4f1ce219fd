interface Resolvers<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T | PromiseLike<T>) => void;
  readonly reject: (reason?: unknown) => void;
}

function withResolvers<T>(): Resolvers<T> {
  let resolve: Resolvers<T>['resolve'] = () => {};
  let reject: Resolvers<T>['reject'] = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** The Restate SDK calls `Promise.withResolvers`, which Node has from version 22 on. */
if (!('withResolvers' in Promise))
  Object.defineProperty(Promise, 'withResolvers', { value: withResolvers, configurable: true, writable: true });
