/** A copy of the body of a response, as long as it is not too long to be kept. */
export class BodyCopy {
  /** Bytes that were written, kept or not. */
  bytes = 0;
  private chunks: Buffer[] | undefined = [];

  constructor(private readonly maxBytes: number) {}

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.bytes > this.maxBytes) this.chunks = undefined;
    this.chunks?.push(chunk);
  }

  /** All of it; undefined once it was too much. */
  get content(): Buffer | undefined {
    return this.chunks && Buffer.concat(this.chunks);
  }
}
