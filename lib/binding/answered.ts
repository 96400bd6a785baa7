import { Problem } from '../problems/problem';
import type { BinderContext } from './input/binder-context';

/** Result of binding a request that the binder or the modifier has answered: no handler runs then. */
export const BINDER_ANSWERED: unique symbol = Symbol('answered');

/** The error that ends a binder which goes on to the built-in one after its answer. Node has discarded the body. */
export class AlreadyAnswered extends Error {
  override readonly name = 'AlreadyAnswered';

  constructor() {
    super(
      'bindRequest: the binder called super.bind() after it had answered the request. Return right after the answer.',
    );
  }
}

/**
 * Does the work of a binder and a modifier. If they have answered the request, that answer counts, whatever failures
 * they have left: a refusal would be a second answer.
 */
export async function unlessAnswered(context: BinderContext, work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    const isRefusal = error instanceof Problem || error instanceof AlreadyAnswered;
    if (context.isAnswered() && isRefusal) return BINDER_ANSWERED;
    throw error;
  }
}
