/** A copy of the body of a response, unless that is too long to be kept. */
export class BodyCopy {
  /** Number of bytes that were written, kept or not. */
  bytes = 0;
  private chunks: Buffer[] | undefined = [];

  constructor(private readonly maxBytes: number) {}

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.bytes > this.maxBytes) this.chunks = undefined;
    this.chunks?.push(chunk);
  }

  /** The whole body; undefined if it was too long. */
  get content(): Buffer | undefined {
    return this.chunks && Buffer.concat(this.chunks);
  }
}
