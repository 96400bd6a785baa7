/** The `next` of Express: goes on with the next middleware, or with the error handlers. */
export type Next = (error?: unknown) => void;
