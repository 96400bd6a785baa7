import { Problem } from '../../problems/problem';
import { isReadable } from './disposition';

/** The empty line that ends the head of a part, with the line break before it. */
export const HEAD_END = '\r\n\r\n';

/** Bytes of a head, at most; busboy refuses a longer one, too. The line breaks around it are not counted. */
const MOST_HEAD = 16_384;
/** Lines of a head, at most: busboy drops further fields, such as the name of the part, without a word. */
const MOST_LINES = 1_999;

/** Watches the heads of the parts of a form, each from the line break after its boundary. */
export class PartHead {
  /** The bytes of a head that has not ended yet. */
  private open: Buffer | undefined;
  private parts = 0;

  beginPart(): void {
    this.open = Buffer.alloc(0);
    this.parts++;
  }

  /**
   * @param bytes the next bytes of the part.
   * @throws a 400 problem for a head that ends in them, if busboy would skip the part or a part of the head; or for one
   * that is too long.
   */
  read(bytes: Buffer): void {
    if (!this.open) return;
    const seen = this.open.length === 0 ? bytes : Buffer.concat([this.open, bytes]);
    const end = seen.indexOf(HEAD_END);
    this.open = end < 0 ? seen : undefined;
    if ((end < 0 ? seen.length : end) > MOST_HEAD + HEAD_END.length)
      throw malformed(`the head of part ${this.parts} is longer than ${MOST_HEAD} bytes.`);
    if (end < 0) return;
    const head = seen.toString('latin1', 0, end);
    if (head.split('\r\n').length - 1 > MOST_LINES)
      throw malformed(`the head of part ${this.parts} has more than ${MOST_LINES} lines.`);
    if (!isReadable(head))
      throw malformed(
        `part ${this.parts} has no Content-Disposition that can be read. Send form-data; name="…" and, for a file, ` +
          'filename="…"; inside of the quotes, write \\" for a quotation mark and \\\\ for a backslash.',
      );
  }

  endPart(): void {
    if (this.open) throw malformed('a part has no body, or no empty line between its head and its body.');
  }
}

const malformed = (what: string): Problem => new Problem('body-malformed', `In the multipart form, ${what}`);
