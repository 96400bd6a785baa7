/** Returns true for an application of Express 4: those of Express 5 have no `lazyrouter()`. */
export const isExpress4 = (app: unknown): boolean => typeof app === 'function' && 'lazyrouter' in app;
