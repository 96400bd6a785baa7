import type { PartsTaken } from '../../body/parts';

/** How a dto uses the body. */
export interface BodyUse extends PartsTaken {
  readonly json: boolean;
  readonly form: boolean;
  readonly text: boolean;
  /** JSON numbers must keep all their digits, for a `long` or a `decimal`. */
  readonly needsExactNumbers: boolean;
}
